/** The axes of curves. Effects beyond an axis are drawn at its edge, with a mark. */

import { FEW_DATA } from "./filter";
import type { Band, Entry, Result } from "./model";

export interface Domain {
  low: number;
  high: number;
  right: number;
}

/** Intervals wider than this say so little that no room is made for them. */
const MAX_WIDTH = 0.8;
/** How far results of few data may extend the axes that others need. */
const MAX_EXTENSION = 1.25;
const FAR = 1;

/** One axis for all entries of a list, so that heights compare; made for those that can be relied on. */
export function sharedDomain(entries: Entry[]): Domain {
  const results = entries.flatMap((entry) => [entry.a, entry.b]).filter((r): r is Result => r !== null);
  const sure = results.filter((result) => !result.marks.includes(FEW_DATA));
  const all = extent(results);
  const [low, high] = extent(sure.length > 0 ? sure : results);
  return padded(
    Math.max(all[0], MAX_EXTENSION * low, -FAR),
    Math.min(all[1], MAX_EXTENSION * high, FAR),
    results,
  );
}

/** The axis of one entry's own chart. */
export function ownDomain(entry: Entry): Domain {
  const results = [entry.a, entry.b].filter((r): r is Result => r !== null);
  const [low, high] = extent(results);
  return padded(Math.max(low, -3), Math.min(high, FAR), results);
}

function padded(low: number, high: number, results: Result[]): Domain {
  const margin = 0.06 * (high - low);
  const ends = results.flatMap((result) => [
    result.curve.at(-1)?.speedup ?? 0,
    result.fit.at(-1)?.speedup ?? 0,
  ]);
  const right = Math.max(0.01, ...ends);
  return { low: low - margin, high: high + margin, right };
}

/** The least and the greatest value of points, intervals and bands, but for the widest of these. */
function extent(results: Result[]): [number, number] {
  let low = -0.05;
  let high = 0.15;
  const take = (value: number) => {
    low = Math.min(low, value);
    high = Math.max(high, value);
  };
  for (const result of results) {
    for (const point of result.curve) take(point.effect);
    for (const point of result.quantiles.flatMap((of) => of.points)) take(point.effect);
    for (const band of [...result.curve, ...result.fit].filter(isNarrow)) {
      take(band.low);
      take(band.high);
    }
  }
  return [low, high];
}

function isNarrow(band: Band): boolean {
  return band.high - band.low <= MAX_WIDTH;
}

/** Places at least `gap` apart, in the same order: moved on where they are too close, back from beyond `end`. */
export function spread(wanted: number[], gap: number, end: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const places = [...wanted];
  let least = -Infinity;
  for (const i of order) {
    places[i] = Math.max(places[i] ?? 0, least);
    least = places[i] + gap;
  }
  let most = end;
  for (const i of order.reverse()) {
    places[i] = Math.min(places[i] ?? 0, most);
    most = places[i] - gap;
  }
  return places;
}
