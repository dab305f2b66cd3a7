/** Which entries are shown, and in which order. Nothing here touches the document. */

import type { Entry, Result } from "./model";

export interface Filter {
  text: string;
  file: string;
  function: string;
  /** Progress point and kind, as `pointName` writes them. */
  point: string;
  load: string;
  mark: MarkFilter;
}

export type MarkFilter = "" | "certain" | "contention" | "sure" | "both";
export type Order = "impact" | "slope" | "maximum" | "contention" | "place" | "change";

export const EVERYTHING: Filter = { text: "", file: "", function: "", point: "", load: "", mark: "" };
export const FEW_DATA = "few data";

export function pointName(result: Result): string {
  return result.kind === "throughput" ? result.point : `${result.point} (${result.kind})`;
}

/** The entries that a filter leaves, in their order. All words of the text must be somewhere in an entry. */
export function applyFilter(entries: Entry[], filter: Filter): Entry[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    const result = entry.shown;
    return (
      (filter.file === "" || result.file === filter.file) &&
      (filter.function === "" || result.function === filter.function) &&
      (filter.point === "" || pointName(result) === filter.point) &&
      (filter.load === "" || result.load === filter.load) &&
      hasMark(entry, filter.mark) &&
      words.every((word) => entry.haystack.includes(word))
    );
  });
}

function hasMark(entry: Entry, mark: MarkFilter): boolean {
  const results = [entry.a, entry.b].filter((result): result is Result => result !== null);
  switch (mark) {
    case "":
      return true;
    case "certain":
      return results.some((result) => result.significant);
    case "contention":
      return results.some((result) => result.contention);
    case "sure":
      return results.some((result) => !result.marks.includes(FEW_DATA));
    case "both":
      return results.length === 2;
  }
}

/** How far the slopes of two profiles lie apart; 0 if there is only one. */
export function change(entry: Entry): number {
  return entry.a && entry.b ? entry.b.slope - entry.a.slope : 0;
}

/** A sorted copy. Entries that are equal keep the report's order, which is that of their impact. */
export function sortEntries(entries: Entry[], order: Order): Entry[] {
  const key: Record<Order, (entry: Entry) => number> = {
    impact: (entry) => entry.shown.rank + (entry.a ? 0 : 0.5),
    slope: (entry) => -entry.shown.slope,
    maximum: (entry) => -entry.shown.best.effect,
    // A slow-down that is certain comes before one that is only steep.
    contention: (entry) => (entry.shown.contention ? -1e6 : 0) + entry.shown.slope,
    place: () => 0,
    change: (entry) => -Math.abs(change(entry)),
  };
  const keys = new Map(entries.map((entry) => [entry, key[order](entry)]));
  const value = (entry: Entry) => keys.get(entry) ?? 0;
  return [...entries].sort(
    (x, y) =>
      value(x) - value(y) ||
      (order === "place" ? byPlace(x.shown, y.shown) : 0) ||
      key.impact(x) - key.impact(y),
  );
}

function byPlace(x: Result, y: Result): number {
  if (x.file !== y.file) return x.file < y.file ? -1 : 1;
  return x.line - y.line;
}

/** The different values of a property with how many entries have each, in alphabetical order. */
export function choices(entries: Entry[], property: (result: Result) => string): [string, number][] {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const value = property(entry.shown);
    if (value !== "") counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort(([x], [y]) => x.localeCompare(y, "en", { numeric: true }));
}
