import assert from "node:assert/strict";
import { test } from "node:test";
import {
  duration,
  interval,
  percent,
  printable,
  slope,
  speedup,
  subtitle,
  summary,
  title,
} from "../src/words";
import { entries, type Given } from "./fixture";

const said = (given: Given) => {
  const [entry] = entries([given]);
  assert.ok(entry);
  return summary(entry.shown);
};

test("numbers", () => {
  assert.equal(percent(0.1234), "+12.3");
  assert.equal(percent(-0.05), "−5.0");
  assert.equal(percent(0.0001), "0.0");
  assert.equal(percent(-0.0001, 0), "0");
  assert.equal(percent(-300), "−30,000");
  assert.equal(percent(Number.NEGATIVE_INFINITY), "−∞");
  assert.equal(speedup(0.375), "37.5 %");
  assert.equal(slope(-0.5), "−0.50");
  assert.equal(slope(-0.001), "0.00");
  assert.equal(duration(90e9), "90.0 s");
  assert.equal(duration(180e9), "3.0 min");
});

test("an interval is written by its ends where ± would misstate them", () => {
  const shown = (effect: number, low: number, high: number) => interval({ speedup: 0, effect, low, high });
  assert.equal(shown(0.1, 0.048, 0.15), "±5.1");
  assert.equal(shown(0.1, 0.04, 0.15), "[+4.0, +15.0]");
  assert.equal(shown(0.1, -0.31, 0.49), "[−31, +49]");
  assert.equal(shown(0.076, -0.003, 0.152), "±7.8");
  assert.equal(shown(0.076, -0.001, 0.132), "[−0.1, +13.2]");
  assert.equal(shown(0.2, 0.002, 0.5), "[+0.2, +50.0]");
  assert.equal(shown(0.0509, 0.001, 0.103), "[+0.1, +10.3]");
  assert.equal(shown(-20, -90, -3), "[<−1000, −300]");
  assert.equal(shown(0, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY), "[<−1000, >1000]");
});

test("what would not show, or would reorder text, is shown", () => {
  assert.equal(printable("a\u0000b\u202ec\u2028d\ud800"), "a\\u{0}b\\u{202e}c\\u{2028}d\\u{d800}");
  assert.equal(printable("\tä<b>&"), "\tä<b>&");
});

test("a function has its name once, and its file below", () => {
  const [of, line, wait] = entries([
    { target: "function", location: "/src/lib/x.so:std::f(int)", function: "std::f(int)" },
    { location: "/src/a.c:12", function: "void g(int)" },
    { target: "wait", location: "wait /src/a.c:g", function: "g" },
  ]);
  assert.ok(of && line && wait);
  assert.equal(title(wait.shown), "wait a.c:g");
  assert.deepEqual([title(of.shown), subtitle(of.shown)], ["std::f", "lib/x.so"]);
  assert.deepEqual([title(line.shown), subtitle(line.shown)], ["a.c:12", "g"]);
});

test("a gain, a loss, and nothing shown", () => {
  assert.equal(said({}), "If a.cpp:1 were 25 % faster, “request” would take 12.5 % (±1.0) less time.");
  assert.match(
    said({ target: "lock", location: "lock /src/a.cpp:1" }),
    /^If waits for the lock a.cpp:1 were 25 % shorter,/,
  );
  assert.match(
    said({ target: "wait", location: "wait /src/a.cpp:1" }),
    /^If the wait a.cpp:1 were 25 % shorter,/,
  );
  assert.match(said({ effect: (s) => -s / 5 }), /would take 5\.0 % \(±1\.0\) more time\.$/);
  assert.match(said({ effect: () => 0.001 }), /no effect on “request” has been shown \(\+0\.1 ±1\.0 %\)/);
});

test("where only bounds are known, sentences give these, and doubts", () => {
  const bounds = (half: number, effect?: (s: number) => number) =>
    said({ boundsOnly: true, half, above: 0.01, marks: ["too few cores"], ...(effect ? { effect } : {}) });
  assert.match(bounds(0.1), /would take between 2\.5 and 13\.5 % less time\. But: too few cores\.$/);
  assert.match(bounds(0.2), /between 7\.5 % more and 13\.5 % less time\./);
  assert.match(
    bounds(0.1, () => -0.05),
    /between 4\.0 and 15\.0 % more time\./,
  );
});

test("sentences give the ends of a skewed interval", () => {
  assert.match(said({ half: 0.01, above: 0.03 }), /would take 12\.5 % \(11\.5 to 15\.5\) less time\.$/);
  assert.match(
    said({ half: 0.03, above: 0.01, effect: (s) => -s / 5 }),
    /would take 5\.0 % \(4\.0 to 8\.0\) more time\.$/,
  );
  assert.match(said({ half: 0.13, above: 0.05 }), /shown \(\+12\.5 \[−0\.5, \+17\.5\] %\)/);
});

test("what becomes of a gain at larger speedups is what the report says of it", () => {
  // The points alone would say otherwise: the shape decides.
  const falling = (s: number) => (s < 0.5 ? s / 2 : 0.25 - (s - 0.5));
  assert.match(said({ effect: falling }), /less time\.$/);
  assert.match(
    said({ shape: { since: 0.2, ending: "little is gained" } }),
    /less time\. Beyond about 20 % little is gained\.$/,
  );
  const bends: Given = { effect: falling, shape: { since: 0.5, ending: "it gets slower: contention" } };
  assert.match(said(bends), /Beyond about 50 % it gets slower: contention\.$/);
});

test("a gain that only other lines suggest is said with that", () => {
  const text = said({ effect: (s) => 0.4 * s, caveat: "Others say so." });
  assert.match(text, /would take 10.0 % \(±1.0\) less time. Others say so.$/);
});

test("a gain or a loss is not said without what makes it doubtful", () => {
  const marks = ["not settled", "limited by load"];
  assert.match(said({ marks }), /less time\. But: not settled, limited by load\.$/);
  assert.match(said({ marks, effect: (s) => -s / 5 }), /more time\. But: not settled, limited by load\.$/);
  assert.match(said({ contention: true, effect: (s) => -s / 5 }), /more time\.$/);
});
