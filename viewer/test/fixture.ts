/** Page data as `coz view` writes it, for tests. */

import { decodePage, type Entry, makeEntries, type Page, type Shape } from "../src/model";

export interface Given {
  target?: string;
  location?: string;
  function?: string;
  point?: string;
  kind?: string;
  load?: string;
  effect?: (speedup: number) => number;
  half?: number;
  /** How far the interval reaches above the effect; by default as far as below. */
  above?: number;
  marks?: string[];
  contention?: boolean;
  shape?: Shape;
  significant?: boolean;
  slope?: number;
  speedups?: number[];
  reading?: string;
  /** Was it never the main target? */
  unmeasured?: boolean;
  caveat?: string;
  boundsOnly?: boolean;
  /** Where the fitted curve ends; by default with the points. */
  fitTo?: number;
}

const SPEEDUPS = [0, 0.1, 0.25, 0.4, 0.5, 0.75, 1];

export function rawResult(given: Given = {}): object {
  const effect = given.effect ?? ((s: number) => s / 2);
  const half = given.half ?? 0.01;
  const above = given.above ?? half;
  const s = given.speedups ?? SPEEDUPS;
  const to = given.fitTo ?? s.at(-1) ?? 1;
  const grid = Array.from({ length: 11 }, (_, i) => (to * i) / 10);
  const told = Math.min(0.25, to);
  const columns = (at: number[]) => ({
    e: at.map(effect),
    l: at.map((x) => effect(x) - (x > 0 ? half : 0)),
    h: at.map((x) => effect(x) + (x > 0 ? above : 0)),
  });
  return {
    target: given.target ?? "line",
    location: given.location ?? "/src/a.cpp:1",
    function: given.function ?? "f(int)",
    point: given.point ?? "request",
    kind: given.kind ?? "throughput",
    ...(given.load === undefined ? {} : { load: given.load }),
    slope: given.slope ?? effect(1),
    slope_low: (given.slope ?? effect(1)) - half,
    slope_high: (given.slope ?? effect(1)) + half,
    significant: given.significant ?? true,
    contention: given.contention ?? false,
    shape: { since: given.shape?.since ?? null },
    ending: given.shape?.ending ?? "",
    phase_factor: 1,
    marks: [...(given.contention ? ["contention"] : []), ...(given.marks ?? [])],
    reading: given.reading ?? "measured",
    caveat: given.caveat ?? "",
    rests_on: "70 experiments",
    bounds_only: given.boundsOnly ?? false,
    told: [told, effect(told), effect(told) - half, effect(told) + above],
    callers: [],
    locks: [],
    instances: [],
    curve: { s, n: s.map(() => (given.unmeasured ? 0 : 10)), ...columns(s) },
    fit: { to, ...columns(grid) },
  };
}

export function page(...profiles: Given[][]): Page {
  const document = {
    format: "coz-page",
    version: 5,
    coz: "0.1.0",
    profiles: profiles.map((results, i) => ({
      name: `${String(i)}.coz`,
      left_out: 0,
      experiments: 70,
      runs: [],
      warnings: [],
      overheads: [],
      results: results.map(rawResult),
      scaling: [],
      shifts: [],
      shift_note: "",
    })),
    marks: {},
    readings: { measured: "Points are what was measured." },
    sources: {},
  };
  return decodePage(JSON.stringify(document));
}

export function entries(...profiles: Given[][]): Entry[] {
  return makeEntries(page(...profiles));
}
