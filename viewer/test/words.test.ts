import assert from "node:assert/strict";
import { test } from "node:test";
import { duration, percent, plusMinus, printable, slope, speedup, summary } from "../src/words";
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
  assert.equal(plusMinus({ speedup: 0, effect: 0, low: -0.01, high: 0.03 }), "±2.0");
  assert.equal(speedup(0.375), "37.5 %");
  assert.equal(slope(-0.5), "−0.50");
  assert.equal(duration(90e9), "90.0 s");
  assert.equal(duration(180e9), "3.0 min");
});

test("what would not show, or would reorder text, is shown", () => {
  assert.equal(printable("a\u0000b\u202ec\u2028d\ud800"), "a\\u{0}b\\u{202e}c\\u{2028}d\\u{d800}");
  assert.equal(printable("\tä<b>&"), "\tä<b>&");
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
