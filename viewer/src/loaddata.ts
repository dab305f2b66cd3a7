/** How the program does under more load (`coz amp`), decoded. Loads and speedups are fractions, times nanoseconds. */

import { shorten } from "./locations";

/** One load level: `speedup` is against base load; NaN where there is none to compare with. */
export interface Level {
  /** The level as tables and filters name it. */
  name: string;
  load: number;
  /** By how much each arrival comes earlier. */
  earlier: number;
  arrivalRate: number;
  /** Time for a unit of work, or the latency, with its interval. */
  period: number;
  low: number;
  high: number;
  speedup: number;
  speedupLow: number;
  speedupHigh: number;
  experiments: number;
  /** Of the latency, where operations have identities. */
  quantiles: LevelQuantile[];
  /** Whether the program can take no more than that, if the thread that requests arrive in serves them. */
  limited: boolean;
}

/** A quantile of the latency at one load, with its 95 % interval. */
export interface LevelQuantile {
  q: number;
  value: number;
  low: number;
  high: number;
}

/** A progress point over all levels, by load. */
export interface Scaling {
  point: string;
  kind: string;
  levels: Level[];
  /** Where it flattens, with an interval; null: it does not, or that is not known. */
  saturation: { at: number; low: number; high: number } | null;
  /** The same in words. */
  summary: string;
}

/** How a line's slope changes from the lowest load to the highest. */
export interface Shift {
  target: string;
  short: string;
  function: string;
  point: string;
  kind: string;
  from: { load: string; slope: number };
  to: { load: string; slope: number };
  change: number;
  low: number;
  high: number;
  certain: boolean;
}

/** One point at its levels, of the first profile, of the second, or of both. */
export interface ScalingPair {
  a: Scaling | null;
  b: Scaling | null;
  shown: Scaling;
}

interface RawLevel {
  name: string;
  load: number;
  arrival_speedup: number;
  arrival_rate: number | null;
  period: number;
  low: number | null;
  high: number | null;
  speedup: number | null;
  speedup_low: number | null;
  speedup_high: number | null;
  experiments: number;
  quantiles: LevelQuantile[];
  is_limited: boolean;
}

export interface RawScaling {
  point: string;
  kind: string;
  saturation: number | null;
  saturation_low: number | null;
  saturation_high: number | null;
  summary: string;
  levels: RawLevel[];
}

export interface RawShift {
  target: string;
  location: string;
  function: string;
  point: string;
  kind: string;
  from: { load: string; slope: number | null };
  to: { load: string; slope: number | null };
  change: number | null;
  low: number | null;
  high: number | null;
  certain: boolean;
}

export const LATENCY = "latency";

export function decodeScaling(raw: RawScaling): Scaling {
  const { saturation: at, saturation_low: low, saturation_high: high } = raw;
  return {
    point: raw.point,
    kind: raw.kind,
    summary: raw.summary,
    saturation: at === null ? null : { at, low: low ?? 0, high: high ?? 1 },
    levels: raw.levels.map((level) => ({
      name: level.name,
      load: level.load,
      earlier: level.arrival_speedup,
      arrivalRate: level.arrival_rate ?? 0,
      period: level.period,
      low: level.low ?? 0,
      high: level.high ?? Number.POSITIVE_INFINITY,
      speedup: level.speedup ?? Number.NaN,
      speedupLow: level.speedup_low ?? Number.NEGATIVE_INFINITY,
      speedupHigh: level.speedup_high ?? Number.POSITIVE_INFINITY,
      experiments: level.experiments,
      quantiles: level.quantiles,
      limited: level.is_limited,
    })),
  };
}

export function decodeShift(raw: RawShift, prefix: string): Shift {
  return {
    target: raw.target,
    short: shorten(raw.location, prefix),
    function: raw.function,
    point: raw.point,
    kind: raw.kind,
    from: { load: raw.from.load, slope: raw.from.slope ?? 0 },
    to: { load: raw.to.load, slope: raw.to.slope ?? 0 },
    change: raw.change ?? 0,
    low: raw.low ?? Number.NEGATIVE_INFINITY,
    high: raw.high ?? Number.POSITIVE_INFINITY,
    certain: raw.certain,
  };
}

/** Can a curve be drawn: are there two levels, and one of them base load? */
export function hasCurve(scaling: Scaling): boolean {
  return scaling.levels.length > 1 && scaling.levels.some((level) => level.earlier === 0);
}

/** The points of one or two profiles, those of the same name and kind together, in the first one's order. */
export function pairScalings(profiles: Scaling[][]): ScalingPair[] {
  const found = new Map<string, { a: Scaling | null; b: Scaling | null }>();
  profiles.forEach((scalings, index) => {
    for (const scaling of scalings) {
      const key = JSON.stringify([scaling.point, scaling.kind]);
      const pair = found.get(key) ?? { a: null, b: null };
      if (index === 0) pair.a = scaling;
      else pair.b = scaling;
      found.set(key, pair);
    }
  });
  return [...found.values()].flatMap(({ a, b }) => {
    const shown = a ?? b;
    return shown ? [{ a, b, shown }] : [];
  });
}

/** What the axes of a chart must hold. */
export function extentOf(pair: ScalingPair): { right: number; low: number; high: number } {
  const levels = [pair.a, pair.b].flatMap((scaling) => scaling?.levels ?? []);
  const finite = (values: number[]) => values.filter(Number.isFinite);
  const lows = finite(levels.flatMap((level) => [level.speedup, Math.max(level.speedupLow, -1)]));
  const highs = finite(levels.flatMap((level) => [level.speedup, Math.min(level.speedupHigh, 1)]));
  const right = Math.min(1, 1.08 * Math.max(0.01, ...levels.map((level) => level.load)));
  const [low, high] = [Math.min(0, ...lows), Math.max(0.05, ...highs)];
  const room = high - low;
  return { right, low: low < 0 ? low - 0.06 * room : 0, high: high + 0.12 * room };
}
