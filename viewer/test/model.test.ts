import assert from "node:assert/strict";
import { test } from "node:test";
import { commonDirectory, shortFunction, splitLocation } from "../src/locations";
import { decodePage, valueAt, signOf } from "../src/model";
import { ownDomain, sharedDomain } from "../src/scales";
import { entries, page } from "./fixture";

test("another version of the data is refused", () => {
  assert.throws(() => decodePage('{"format":"coz-page","version":1}'), /another version/);
  assert.throws(() => decodePage('{"format":"coz-report","version":1}'), /another version/);
});

test("locations are shortened by what all have in common, callpaths in both parts", () => {
  const of = (...names: string[]) => commonDirectory(names);
  assert.equal(of("/a/b/x.c:1", "/a/b/c/y.c:2"), "/a/b/");
  assert.equal(of("/a/b/x.c:1 < /a/z.c:2"), "/a/");
  assert.equal(of("/a/bc/x.c:1", "/a/bd/x.c:1"), "/a/");
  assert.equal(of("/x.c:1", "/y.c:1"), "");
  assert.equal(of("x.c:1", "/y.c:1"), "");
  assert.equal(of("/a/b/x.c:1 < ?", "/a/b/y.c:1 < /a/b/z.c:2"), "/a/b/"); // the first caller is out of scope
  assert.equal(of("region parse", "/a/x.c:1"), "/a/");
  const [first] = page([{ location: "/a/b/x.c:1 < /a/z.c:2" }]).profiles[0]?.results ?? [];
  assert.ok(first);
  assert.equal(first.short, "b/x.c:1 < z.c:2");
  assert.deepEqual([first.file, first.line], ["b/x.c", 1]);
});

test("files and lines of locations of all kinds", () => {
  assert.deepEqual(splitLocation("src/a.cpp:12"), ["src/a.cpp", 12]);
  assert.deepEqual(splitLocation("src/a.cpp:ns::f(std::map<a::b>)"), ["src/a.cpp", 0]);
  assert.deepEqual(splitLocation("region parse"), ["", 0]);
  assert.deepEqual(splitLocation("odd"), ["odd", 0]);
});

test("functions lose their parameters and return types", () => {
  assert.equal(shortFunction("(anonymous namespace)::f(int)"), "f");
  assert.equal(shortFunction("main"), "main");
  assert.equal(shortFunction("void a::f<600>(int)"), "a::f<600>");
  assert.equal(shortFunction("std::ostream& operator<< <x>(x)"), "operator<< <x>");
  assert.equal(shortFunction(""), "");
});

test("an effect is measured, read from the curve, or unknown", () => {
  const [entry] = entries([{ speedups: [0, 0.1, 0.3, 0.5] }]);
  assert.ok(entry);
  assert.equal(valueAt(entry.shown, 0.3)?.effect, 0.15);
  const between = valueAt(entry.shown, 0.25);
  assert.ok(between);
  assert.ok(Math.abs(between.effect - 0.125) < 1e-9);
  assert.equal(valueAt(entry.shown, 0.75), null);
});

test("how a curve is to be read, and what sentences quote, comes with the data", () => {
  const [entry] = entries([{ speedups: [0, 0.1, 0.2], reading: "companion" }]);
  assert.ok(entry);
  assert.equal(entry.shown.reading, "companion");
  assert.equal(entry.shown.restsOn, "70 experiments");
  assert.equal(entry.shown.told?.speedup, 0.2);
  assert.equal(entry.shown.told.effect, 0.1);
});

test("two profiles are paired by line, point, kind and load, whatever folders they were built in", () => {
  const found = entries(
    [{ location: "/old/a.c:1" }, { location: "/old/a.c:2" }, { location: "/old/a.c:1", kind: "latency" }],
    [{ location: "/new/a.c:1" }, { location: "/new/a.c:3" }, { location: "/new/a.c:1", load: "5" }],
  );
  const sides = found.map(
    (e) => `${e.shown.short} ${e.shown.kind} ${e.shown.load} ${e.a ? "A" : ""}${e.b ? "B" : ""}`,
  );
  assert.deepEqual(sides, [
    "a.c:1 throughput  AB",
    "a.c:2 throughput  A",
    "a.c:1 latency  A",
    "a.c:3 throughput  B",
    "a.c:1 throughput 5 B",
  ]);
});

test("a source file may have any name", () => {
  const text = '{"format":"coz-page","version":5,"coz":"","profiles":[],"sources":{}}';
  assert.equal(decodePage(text).sources["constructor"], undefined);
});

test("one wild result of few data does not flatten all others", () => {
  const calm = { effect: (s: number) => 0.2 * s };
  const wild = { location: "/src/b.c:9", effect: (s: number) => -9 * s, marks: ["few data"] };
  const domain = sharedDomain(entries([calm, wild]));
  assert.ok(domain.low > -0.1 && domain.low < -0.05);
  assert.ok(domain.high > 0.2 && domain.high < 0.3);
  assert.equal(domain.right, 1);
  const [short] = entries([{ ...calm, reading: "companion", speedups: [0, 0.25, 0.5], fitTo: 1 }]);
  assert.ok(short);
  assert.equal(ownDomain(short).right, 1);
  const [, second] = entries([calm, wild]);
  assert.ok(second && ownDomain(second).low < -2);
});

test("an effect is orange where it is certainly a loss and there is contention", () => {
  const harmful = { contention: true, caveat: "" };
  assert.equal(signOf({ low: 0.1, high: 0.2 }, harmful), "gain");
  assert.equal(signOf({ low: -0.2, high: -0.1 }, harmful), "harm");
  assert.equal(signOf({ low: -0.2, high: -0.1 }, { ...harmful, contention: false }), "unclear");
  assert.equal(signOf({ low: -0.1, high: 0.1 }, harmful), "unclear");
  // A gain that only other lines suggest.
  assert.equal(signOf({ low: 0.1, high: 0.2 }, { ...harmful, caveat: "Perhaps." }), "unclear");
});

test("lines of two profiles pair though one of them has files in more folders", () => {
  const some = entries(
    [{ location: "/s/app/a.c:1" }],
    [{ location: "/s/app/a.c:1" }, { location: "/s/x.c:1" }],
  );
  assert.deepEqual(
    some.map(({ a, b }) => [a?.short ?? "", b?.short ?? ""]),
    [
      ["app/a.c:1", "app/a.c:1"],
      ["", "x.c:1"],
    ],
  );
  const moved = entries([{ location: "/old/a.c:1" }], [{ location: "/new/a.c:1" }]);
  assert.equal(moved.length, 1);
});
