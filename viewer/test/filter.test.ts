import assert from "node:assert/strict";
import { test } from "node:test";
import { applyFilter, change, choices, EVERYTHING, type Filter, sortEntries } from "../src/filter";
import { findByFragment, fragmentOf } from "../src/link";
import type { Entry } from "../src/model";
import { entries } from "./fixture";

const some = entries([
  { location: "/s/b.c:20", function: "parse(char)", slope: 0.5, effect: (s) => 0.5 * s },
  { location: "/s/b.c:3", function: "lock", slope: -0.3, effect: (s) => -0.3 * s, contention: true },
  {
    location: "/s/a.c:7",
    function: "parse(char)",
    slope: 0.1,
    effect: (s) => 0.1 * s,
    point: "commit",
    kind: "latency",
  },
  {
    location: "/s/a.c:9",
    function: "log",
    slope: 0.9,
    effect: (s) => s * (0.9 - s),
    marks: ["few data"],
    significant: false,
  },
]);
const names = (found: Entry[]) => found.map((entry) => entry.shown.short);
const filtered = (filter: Partial<Filter>) => names(applyFilter(some, { ...EVERYTHING, ...filter }));

test("every word of the search must be somewhere, in any case", () => {
  assert.deepEqual(filtered({ text: "PARSE a.c" }), ["a.c:7"]);
  assert.deepEqual(filtered({ text: "contention" }), ["b.c:3"]);
  assert.deepEqual(filtered({ text: "few" }), ["a.c:9"]);
  assert.deepEqual(filtered({ text: " " }), names(some));
  assert.deepEqual(filtered({ text: "(char" }), ["b.c:20", "a.c:7"]);
});

test("filters join", () => {
  assert.deepEqual(filtered({ file: "b.c" }), ["b.c:20", "b.c:3"]);
  assert.deepEqual(filtered({ function: "parse(char)", file: "b.c" }), ["b.c:20"]);
  assert.deepEqual(filtered({ point: "commit (latency)" }), ["a.c:7"]);
  assert.deepEqual(filtered({ mark: "contention" }), ["b.c:3"]);
  assert.deepEqual(filtered({ mark: "sure" }), ["b.c:20", "b.c:3", "a.c:7"]);
  assert.deepEqual(filtered({ mark: "certain" }), ["b.c:20", "b.c:3", "a.c:7"]);
  assert.deepEqual(filtered({ mark: "both" }), []);
});

test("load levels are a filter where there are any", () => {
  const loads = entries([{ load: "100" }, { load: "200/s" }]);
  assert.deepEqual(
    applyFilter(loads, { ...EVERYTHING, load: "200/s" }).map((entry) => entry.shown.load),
    ["200/s"],
  );
});

test("orders", () => {
  assert.deepEqual(names(sortEntries(some, "impact")), names(some));
  assert.deepEqual(names(sortEntries(some, "slope")), ["a.c:9", "b.c:20", "a.c:7", "b.c:3"]);
  assert.deepEqual(names(sortEntries(some, "maximum")), ["b.c:20", "a.c:9", "a.c:7", "b.c:3"]);
  assert.deepEqual(names(sortEntries(some, "contention"))[0], "b.c:3");
  assert.deepEqual(names(sortEntries(some, "place")), ["a.c:7", "a.c:9", "b.c:3", "b.c:20"]);
});

test("changes between two profiles, largest first", () => {
  const both = entries(
    [
      { location: "/s/x.c:1", slope: 0.1 },
      { location: "/s/x.c:2", slope: 0.5 },
    ],
    [
      { location: "/s/x.c:1", slope: 0.2 },
      { location: "/s/x.c:2", slope: 0.1 },
    ],
  );
  assert.deepEqual(names(sortEntries(both, "change")), ["x.c:2", "x.c:1"]);
  assert.ok(Math.abs(change(both[1] as Entry) + 0.4) < 1e-9);
});

test("choices are counted and sorted as people count", () => {
  const found = choices(
    entries([{ function: "f10" }, { function: "f9", location: "/s/z.c:1" }]),
    (r) => r.function,
  );
  assert.deepEqual(found, [
    ["f9", 1],
    ["f10", 1],
  ]);
});

test("a link leads back to its entry, whatever its names are", () => {
  const odd = entries([
    { location: '/s/"<&%#?=+ .c:1', point: "a&kind=b" },
    { location: "/s/b.c:20" },
    { location: "/s/b.c:20", kind: "latency" },
    { location: "/s/b.c:20", load: "7" },
  ]);
  for (const entry of odd) assert.equal(findByFragment(odd, fragmentOf(entry.shown)), entry);
});

test("a link may be written by hand", () => {
  assert.equal(findByFragment(some, "#b.c:3")?.shown.short, "b.c:3");
  assert.equal(findByFragment(some, "#/s/b.c:3")?.shown.short, "b.c:3");
  assert.equal(findByFragment(some, "#line=a.c:7")?.shown.short, "a.c:7");
  assert.equal(findByFragment(some, "#c:3"), null);
  assert.equal(findByFragment(some, "#100%"), null);
  assert.equal(findByFragment(some, ""), null);
});

test("a link names a whole location before one that ends like it", () => {
  const some = entries([
    { location: "wait /s/a.c:1", target: "wait" },
    { location: "/s/a.c:1" },
    { location: "/s/x/a.c:1" },
  ]);
  for (const entry of some) assert.equal(findByFragment(some, fragmentOf(entry.shown)), entry);
});
