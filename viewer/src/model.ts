/**
 * What the page shows: the report's results, decoded from the page's data, and paired for a comparison.
 *
 * Speedups, effects and slopes are fractions. All strings are hostile: they go into the document as text only.
 */

import {
  decodeScaling,
  decodeShift,
  type RawScaling,
  type RawShift,
  type Scaling,
  type Shift,
} from "./loaddata";
import { commonDirectory, shorten, splitLocation } from "./locations";

export interface Band {
  speedup: number;
  effect: number;
  low: number;
  high: number;
}

export interface Point extends Band {
  experiments: number;
}

/** Measured effects on a quantile of the latency; `baseline` in nanoseconds, `name` as in p99. */
export interface Quantile {
  name: string;
  baseline: number;
  points: Band[];
}

/** Who runs a line: `location` is short; empty where that is out of scope. */
export interface Caller {
  location: string;
  function: string;
  share: number;
}

/** A lock that threads wait for in the target. `waits`: how often and how long, in words. */
export interface Lock {
  name: string;
  share: number;
  waits: string;
  /** The lines that had taken it meanwhile; of an unknown one the location is empty. */
  holders: Caller[];
}

export interface Instance {
  function: string;
  share: number;
}

/** Where the measured points turn beyond chance, as `coz report` decides it: 0 if they do not. */
export interface Shape {
  since: number;
  /** What follows from there on, in words; empty if nothing does. */
  ending: string;
}

export interface Result {
  target: string;
  location: string;
  /** The location without the directory that all of the profile share. */
  short: string;
  /** The file's short name; empty for regions. */
  file: string;
  line: number;
  function: string;
  point: string;
  kind: string;
  /** The load level, where the profile has several; else empty. */
  load: string;
  slope: number;
  slopeLow: number;
  slopeHigh: number;
  significant: boolean;
  contention: boolean;
  shape: Shape;
  phaseFactor: number;
  /** In the report's order; `Page.marks` says what they mean. */
  marks: string[];
  /** What the curve rests on; `Page.readings` says how to read it. */
  reading: string;
  /** The number of experiments, in words. */
  restsOn: string;
  /** What a sentence must not leave out; empty if its own experiments prove what its interval says. */
  caveat: string;
  /** What sentences quote: at the speedup that they speak of. */
  told: Band | null;
  /** Of that, only the ends of the interval are known. */
  boundsOnly: boolean;
  curve: Point[];
  fit: Band[];
  /** Of the latency, where operations have identities; the lowest first. */
  quantiles: Quantile[];
  callers: Caller[];
  instances: Instance[];
  locks: Lock[];
  /** Where the effect is largest: on the fitted curve, or where the curve turns, of the measured points. */
  best: Band;
  /** The place in the report's order, from 0. */
  rank: number;
}

export interface Run {
  program: string;
  arguments: string[];
  time: number;
  duration: number;
  experiments: number;
  sampling: string;
  period: number;
  source: string;
  points?: { name: string; by: string }[];
}

export interface Profile {
  name: string;
  experiments: number;
  runs: Run[];
  warnings: { text: string; hint: string }[];
  overheads: { point: string; kind: string; slowdown: number | null }[];
  results: Result[];
  /** Results that --top left out. */
  leftOut: number;
  /** Where load was amplified: points at each level, and how the lines' slopes change, the surest first. */
  scaling: Scaling[];
  shifts: Shift[];
  /** Said where no shift is certain; else empty. */
  shiftNote: string;
}

/** Lines of a source file: runs of consecutive lines by the number of the first. */
export interface Source {
  /** Was the file written after the runs of each profile? */
  changed: boolean[];
  parts: Record<string, string[]>;
}

export interface Page {
  coz: string;
  profiles: Profile[];
  /** What each mark means, in a sentence that follows its name. */
  marks: Record<string, string>;
  /** How curves are to be read, in a sentence, by `Result.reading`. */
  readings: Record<string, string>;
  sources: Record<string, Source>;
}

/** One entry of the list: a result of the first profile, of the second, or of both. */
export interface Entry {
  key: string;
  a: Result | null;
  b: Result | null;
  /** Whichever there is, the first profile's before the second's. */
  shown: Result;
  /** What the search looks through, in lower case. */
  haystack: string;
}

/** Columns of numbers as the page's data has them. */
interface Columns {
  s?: number[];
  to?: number;
  e: (number | null)[];
  l: (number | null)[];
  h: (number | null)[];
  n?: number[];
}

interface RawResult {
  target: string;
  location: string;
  function: string;
  point: string;
  kind: string;
  load?: string | null;
  slope: number | null;
  slope_low: number | null;
  slope_high: number | null;
  significant: boolean;
  contention: boolean;
  shape: { since: number | null };
  ending: string;
  phase_factor: number | null;
  marks: string[];
  reading: string;
  rests_on: string;
  caveat: string;
  told: (number | null)[] | null;
  bounds_only: boolean;
  callers: Caller[];
  instances: Instance[];
  locks?: Lock[];
  curve: Columns;
  fit: Columns;
  quantiles?: (Columns & { name: string; baseline: number })[];
}

interface RawProfile extends Omit<Profile, "results" | "leftOut" | "scaling" | "shifts" | "shiftNote"> {
  left_out: number;
  results: RawResult[];
  scaling: RawScaling[];
  shifts: RawShift[];
  shift_note: string;
}

interface RawPage {
  format: string;
  version: number;
  coz: string;
  profiles: RawProfile[];
  marks: Record<string, string>;
  readings: Record<string, string>;
  sources: Record<string, Source>;
}

/** The page's data and this decoder change together. */
const VERSION = 5;

/** The page's data as `coz view` writes it. Throws if it is of another version. */
export function decodePage(text: string): Page {
  const raw = JSON.parse(text) as RawPage;
  if (raw.format !== "coz-page" || raw.version !== VERSION) {
    throw new Error("its data is of another version");
  }
  return {
    coz: raw.coz,
    profiles: decodeProfiles(raw.profiles),
    marks: raw.marks,
    readings: raw.readings,
    // Without a prototype: a file may be called "constructor".
    sources: Object.assign(Object.create(null), raw.sources) as Page["sources"],
  };
}

/** Lines of two profiles pair by their shortened names: of the same checkout, or of two with nothing in common. */
function decodeProfiles(raw: RawProfile[]): Profile[] {
  const locations = raw.map(({ results }) => results.map((result) => result.location));
  const files = locations.map((all) => new Set(all.map((location) => splitLocation(location)[0])));
  const shared = [...(files[0] ?? [])].some((file) => file && files.slice(1).every((of) => of.has(file)));
  return raw.map((profile, index) =>
    decodeProfile(profile, commonDirectory(shared ? locations.flat() : (locations[index] ?? []))),
  );
}

function decodeProfile(raw: RawProfile, prefix: string): Profile {
  return {
    ...raw,
    leftOut: raw.left_out,
    results: raw.results.map((result, rank) => decodeResult(result, rank, prefix)),
    scaling: raw.scaling.map(decodeScaling),
    shifts: raw.shifts.map((shift) => decodeShift(shift, prefix)),
    shiftNote: raw.shift_note,
  };
}

function decodeResult(raw: RawResult, rank: number, prefix: string): Result {
  const curve = decodeCurve(raw.curve);
  const fit = decodeFit(raw.fit);
  const short = shorten(raw.location, prefix);
  const [file, line] = splitLocation(short);
  return {
    target: raw.target,
    location: raw.location,
    short,
    file,
    line,
    function: raw.function,
    point: raw.point,
    kind: raw.kind,
    load: raw.load ?? "",
    slope: raw.slope ?? 0,
    slopeLow: raw.slope_low ?? Number.NEGATIVE_INFINITY,
    slopeHigh: raw.slope_high ?? Number.POSITIVE_INFINITY,
    significant: raw.significant,
    contention: raw.contention,
    shape: { since: raw.shape.since ?? 0, ending: raw.ending },
    phaseFactor: raw.phase_factor ?? 1,
    marks: raw.marks,
    reading: raw.reading,
    restsOn: raw.rests_on,
    caveat: raw.caveat,
    told: raw.told && decodeTold(raw.told),
    boundsOnly: raw.bounds_only,
    curve,
    fit,
    quantiles: (raw.quantiles ?? []).map((of) => ({
      name: of.name,
      baseline: of.baseline,
      points: (of.s ?? []).map((speedup, i) => band(of, i, speedup)),
    })),
    callers: shortened(raw.callers, prefix),
    instances: raw.instances,
    locks: (raw.locks ?? []).map((lock) => ({ ...lock, holders: shortened(lock.holders, prefix) })),
    // A parabola has no knee.
    best: highest(raw.ending ? curve : fit),
    rank,
  };
}

function shortened(callers: Caller[], prefix: string): Caller[] {
  return callers.map((caller) => ({ ...caller, location: shorten(caller.location, prefix) }));
}

function decodeCurve(raw: Columns): Point[] {
  return (raw.s ?? []).map((speedup, i) => ({ ...band(raw, i, speedup), experiments: raw.n?.[i] ?? 0 }));
}

function decodeTold([speedup, effect, low, high]: (number | null)[]): Band {
  return band({ e: [effect ?? null], l: [low ?? null], h: [high ?? null] }, 0, speedup ?? 0);
}

function decodeFit(raw: Columns): Band[] {
  const last = Math.max(raw.e.length - 1, 1);
  return raw.e.map((_, i) => band(raw, i, ((raw.to ?? 1) * i) / last));
}

/** An end that is not finite is not written; nothing is known in that direction. */
function band(raw: Columns, i: number, speedup: number): Band {
  return {
    speedup,
    effect: raw.e[i] ?? 0,
    low: raw.l[i] ?? Number.NEGATIVE_INFINITY,
    high: raw.h[i] ?? Number.POSITIVE_INFINITY,
  };
}

function highest(curve: readonly Band[]): Band {
  const origin = { speedup: 0, effect: 0, low: 0, high: 0 };
  return curve.reduce<Band>((best, point) => (point.effect > best.effect ? point : best), origin);
}

/** What the fitted curve says at a speedup, or the measured point if there is one; null beyond the last. */
export function valueAt(result: Result, speedup: number): Band | null {
  const point = result.curve.find((p) => Math.abs(p.speedup - speedup) < 1e-9);
  if (point) return point;
  for (let i = 1; i < result.fit.length; i++) {
    const left = result.fit[i - 1];
    const right = result.fit[i];
    if (!left || !right || speedup > right.speedup + 1e-9) continue;
    const t = (speedup - left.speedup) / (right.speedup - left.speedup || 1);
    const mix = (a: number, b: number) => a + t * (b - a);
    return {
      speedup,
      effect: mix(left.effect, right.effect),
      low: mix(left.low, right.low),
      high: mix(left.high, right.high),
    };
  }
  return null;
}

export type Sign = "gain" | "harm" | "unclear";

/** The colour of an effect: orange (`harm`) where a result with contention has an interval below 0. */
export function signOf(
  interval: Pick<Band, "low" | "high">,
  of: Pick<Result, "contention" | "caveat">,
): Sign {
  if (interval.low > 0 && !of.caveat) return "gain";
  return interval.high < 0 && of.contention ? "harm" : "unclear";
}

/** What an entry is found by: the line, the point, and the load level. */
export function entryKey(of: Pick<Result, "target" | "short" | "point" | "kind">, load: string): string {
  return JSON.stringify([of.target, of.short, of.point, of.kind, load]);
}

/** The list's entries: each result, or the results of two profiles that have line, point, kind and load in common. */
export function makeEntries(page: Page): Entry[] {
  const found = new Map<string, { a: Result | null; b: Result | null }>();
  page.profiles.forEach((profile, index) => {
    for (const result of profile.results) {
      const key = entryKey(result, result.load);
      const pair = found.get(key) ?? { a: null, b: null };
      if (index === 0) pair.a = result;
      else pair.b = result;
      found.set(key, pair);
    }
  });
  const entries: Entry[] = [];
  for (const [key, { a, b }] of found) {
    const shown = a ?? b;
    if (shown) entries.push({ key, a, b, shown, haystack: [a, b].map(haystackOf).join("\n") });
  }
  return entries;
}

function haystackOf(result: Result | null): string {
  if (!result) return "";
  const callers = result.callers.flatMap((caller) => [caller.location, caller.function]);
  const words = [result.location, result.function, result.point, result.kind, ...result.marks, ...callers];
  return words.join("\n").toLowerCase();
}
