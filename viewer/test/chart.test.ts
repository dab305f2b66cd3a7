import assert from "node:assert/strict";
import { test } from "node:test";
import { styleOf } from "../src/chart";
import { spread } from "../src/scales";
import { entries, type Given } from "./fixture";

const style = (given: Given, which: "a" | "b" = "a", compared = false) => {
  const [entry] = entries([given]);
  assert.ok(entry);
  return styleOf(entry.shown, which, compared);
};

test("a curve is orange where there is contention, and nowhere else", () => {
  assert.equal(style({ slope: -0.3 }), "series unclear");
  assert.equal(style({ slope: -0.3, contention: true }), "series harm");
  // The slope may gain while large speedups do harm.
  assert.equal(style({ slope: 0.3, contention: true }), "series harm");
  assert.equal(style({ slope: 0.3 }), "series gain");
  assert.equal(style({ slope: 0.001 }), "series unclear");
  assert.equal(style({ slope: 0.3, caveat: "Perhaps." }), "series unclear");
});

test("the curve of a line that was never the main target is drawn in another way", () => {
  assert.equal(style({ slope: 0.3, unmeasured: true }), "series gain companion");
  assert.equal(style({ slope: 0.3, unmeasured: true, reading: "modelled" }), "series gain companion");
  assert.equal(style({ slope: 0.3, unmeasured: true }, "b", true), "series other companion");
  assert.equal(style({ slope: 0.3, reading: "combined" }), "series gain");
});

test("beside another, a curve has the colour of its profile", () => {
  assert.equal(style({ contention: true }, "a", true), "series gain");
  assert.equal(style({ contention: true, marks: ["few data"] }, "b", true), "series other few");
});

test("names that would lie on each other are moved apart, in their order", () => {
  assert.deepEqual(spread([100, 20, 60], 12, 300), [100, 20, 60]);
  assert.deepEqual(spread([100, 98, 101], 12, 300), [110, 98, 122]);
  assert.deepEqual(spread([100, 98, 101], 12, 110), [98, 86, 110]);
  assert.deepEqual(spread([], 12, 110), []);
});
