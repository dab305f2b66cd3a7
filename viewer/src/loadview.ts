/** The panel of load: how the program scales, and which lines matter more, or less, under load. */

import { type Child, h, said } from "./dom";
import {
  hasCurve,
  LATENCY,
  type Level,
  pairScalings,
  type Scaling,
  type ScalingPair,
  type Shift,
} from "./loaddata";
import { levelsChart, scalingChart, scalingThumbnail } from "./loadchart";
import { shortFunction } from "./locations";
import { type Band, type Entry, entryKey, type Page, type Profile, type Result, signOf } from "./model";
import { interval, percent, precise, printable, shortTime, slope } from "./words";

export const LOAD_FRAGMENT = "#view=load";
/** Lines of which curves are drawn, and lines that are named, at most. */
const DRAWN = 6;
const NAMED = 12;

const KINDS: Record<string, string> = { latency: ", latency", completed: ", completed" };

/** What follows from a choice in the panel. */
export interface Ways {
  back: () => void;
  open: (entry: Entry) => void;
}

/** The points to be shown; empty where load was not amplified. */
export function scalingPairs(page: Page): ScalingPair[] {
  return pairScalings(page.profiles.map((profile) => profile.scaling));
}

/** The names of a profile's levels, from the lowest load to the highest. */
export function levelNames(profile: Profile): string[] {
  const loads = new Map(profile.scaling.flatMap((s) => s.levels.map((level) => [level.name, level.load])));
  return [...loads].sort(([, one], [, other]) => one - other).map(([name]) => name);
}

/** What stands above the list, to open the panel by. */
export function drawCard(card: HTMLElement, pairs: ScalingPair[]): void {
  const pair = pairs.find(({ shown }) => hasCurve(shown)) ?? pairs[0];
  if (!pair) return;
  const found = pair.shown.saturation;
  const last = pair.shown.levels.at(-1);
  const flat = found
    ? found.at > 0
      ? `saturated from ${percentOf(found.at)}`
      : "saturated at base load"
    : `up to a load of ${last?.name ?? "0%"}`;
  card.replaceChildren(
    hasCurve(pair.shown) ? scalingThumbnail(pair) : "",
    h(
      "span",
      { class: "names" },
      h("b", {}, "Under load"),
      h("span", {}, said(`${name(pair.shown)}: ${flat}`)),
    ),
  );
  card.hidden = false;
}

export function drawLoad(box: HTMLElement, page: Page, entries: Entry[], ways: Ways): void {
  const compared = page.profiles.length > 1;
  const width = Math.min(Math.max(box.clientWidth - 40, 300), 720);
  box.replaceChildren(
    h(
      "header",
      {},
      h("button", { class: "back", type: "button", click: ways.back }, "‹ All lines"),
      h("h2", {}, "Under load"),
      h(
        "p",
        { class: "full" },
        "What happens when more requests come than in the test. A load of 50 % takes half of the time between two requests away: twice as many come.",
      ),
    ),
    ...scalingPairs(page).flatMap((pair) => point(pair, compared, width)),
    ...page.profiles.flatMap((profile, i) =>
      shifts(profile, compared ? (i === 0 ? "A" : "B") : "", entries, i, ways, width),
    ),
  );
  box.scrollTop = 0;
}

/** One line's curves at all loads, for its own panel; nothing if it was measured at one only. */
export function otherLoads(entry: Entry, page: Page, entries: Entry[], width: number): HTMLElement[] {
  const side = entry.a ? 0 : 1;
  const profile = page.profiles[side];
  if (!profile || entry.shown.load === "") return [];
  const levels = levelNames(profile);
  const same = sameLine(entry.shown, levels, entries, side);
  if (same.length < 2) return [];
  return [
    h("h3", {}, "Under other loads"),
    figure(levelsChart(same, levels, width)),
    h(
      "p",
      { class: "legend" },
      "Slopes: ",
      same.map((result) => `${slope(result.slope)} at load ${result.load}`).join(", "),
      ".",
    ),
  ];
}

function point(pair: ScalingPair, compared: boolean, width: number): HTMLElement[] {
  const both = [pair.a, pair.b].filter((scaling): scaling is Scaling => scaling !== null);
  const words = both.map((scaling) =>
    h(
      "p",
      { class: "summary" },
      compared ? key(scaling === pair.a ? "A" : "B") : null,
      said(scaling.summary),
    ),
  );
  return [
    h("h3", {}, said(name(pair.shown))),
    ...words,
    ...(both.some(hasCurve) ? [scalingFigure(pair, compared, width)] : []),
    ...both.flatMap((scaling) => {
      const which = compared ? (scaling === pair.a ? "A" : "B") : "";
      return [levelTable(scaling, which), ...quantileTable(scaling, which)];
    }),
  ];
}

function scalingFigure(pair: ScalingPair, compared: boolean, width: number): HTMLElement {
  const parts: Child[] = compared ? [key("A"), "solid, ", key("B"), "dashed. "] : [];
  return h(
    "figure",
    {},
    figure(scalingChart(pair, width)),
    h(
      "figcaption",
      { class: "legend" },
      ...parts,
      "Points are levels that were measured; bars and the band are 95 % intervals. The upright band is the interval of where the curve flattens. ",
      pair.shown.kind === LATENCY ? "" : "The thin dashed line: a program that keeps up with its requests.",
    ),
  );
}

function figure(chart: SVGSVGElement): HTMLElement {
  return h("div", { class: "chart" }, chart);
}

function key(which: "A" | "B"): HTMLElement {
  return h("b", { class: `key ${which.toLowerCase()}` }, `${which}: `);
}

function levelTable(scaling: Scaling, which: string): HTMLElement {
  const latency = scaling.kind === LATENCY;
  const names = [
    "Load",
    "Each earlier by",
    "Arrivals/s",
    latency ? "Latency" : "Per second",
    "Speedup",
    "95 % interval",
    "Exp.",
  ];
  const head = h(
    "tr",
    {},
    ...names.map((text, i) => h("th", {}, i === 0 && which ? `${which}: ${text}` : text)),
  );
  const rows = scaling.levels.map((level) => h("tr", {}, ...levelCells(level, latency)));
  return scrollingTable(head, rows);
}

function scrollingTable(head: HTMLElement, rows: HTMLElement[]): HTMLElement {
  return h(
    "div",
    { class: "scrolling" },
    h("table", { class: "points" }, h("thead", {}, head), h("tbody", {}, ...rows)),
  );
}

/** The ends of the interval of a latency, or of a rate, against it. */
function relative({ period, low, high }: Level, latency: boolean): Band {
  const [first, last] = latency
    ? [low / period - 1, high / period - 1]
    : [period / high - 1, period / low - 1];
  return { speedup: 0, effect: 0, low: first, high: last };
}

/** Quantiles of the latency, where operations have identities. */
function quantileTable(scaling: Scaling, which: string): HTMLElement[] {
  const quantiles = [...new Set(scaling.levels.flatMap((level) => level.quantiles.map(({ q }) => q)))].sort(
    (a, b) => a - b,
  );
  if (quantiles.length === 0) return [];
  const names = [which ? `${which}: Load` : "Load", ...quantiles.map(quantileName)];
  const head = h("tr", {}, ...names.map((text) => h("th", {}, text)));
  const rows = scaling.levels.map((level) =>
    h("tr", {}, h("td", {}, said(starred(level))), ...quantiles.map((q) => quantileCell(level, q))),
  );
  return [h("p", { class: "legend" }, "Quantiles of the latency:"), scrollingTable(head, rows)];
}

function quantileName(q: number): string {
  return `p${Number((100 * q).toPrecision(6))} (95 % interval)`;
}

function quantileCell(level: Level, q: number): HTMLElement {
  const known = level.quantiles.find((quantile) => quantile.q === q);
  if (!known) return h("td", {}, "–");
  const { value, low, high } = known;
  const margin = interval({ speedup: 0, effect: 0, low: low / value - 1, high: high / value - 1 });
  return h("td", {}, `${shortTime(value)} ${margin} %`);
}

/** As in `coz report`. */
function starred(level: Level): string {
  return `${level.limited ? "*" : ""}${level.name}`;
}

function levelCells(level: Level, latency: boolean): HTMLElement[] {
  const base = level.earlier === 0;
  const known = Number.isFinite(level.speedup) && !base;
  const sign = signOf({ low: level.speedupLow, high: level.speedupHigh }, { contention: true, caveat: "" });
  const margin = Number.isFinite(level.high) ? ` ${interval(relative(level, latency))} %` : "";
  return [
    h("td", {}, said(starred(level))),
    h("td", {}, base ? "–" : shortTime(level.earlier)),
    h("td", {}, precise(level.arrivalRate)),
    h("td", {}, `${latency ? shortTime(level.period) : precise(1e9 / level.period)}${margin}`),
    h("td", { class: known ? sign : "" }, known ? `${percent(level.speedup)} %` : base ? "baseline" : "–"),
    h("td", {}, known ? `[${percent(level.speedupLow)}, ${percent(level.speedupHigh)}]` : ""),
    h("td", {}, String(level.experiments)),
  ];
}

function shifts(
  profile: Profile,
  which: string,
  entries: Entry[],
  side: number,
  ways: Ways,
  width: number,
): HTMLElement[] {
  const [first] = profile.shifts;
  if (!first) return [];
  const levels = levelNames(profile);
  const named = profile.shifts.slice(0, NAMED);
  const heading = `${which ? `${which}: ` : ""}Lines that change most, from load ${first.from.load} to ${first.to.load}`;
  const narrow = Math.min(width, width >= 620 ? (width - 16) / 2 : 460);
  const charts = named.slice(0, DRAWN).flatMap((shift) => {
    const results = sameLine(shift, levels, entries, side);
    return results.length > 1
      ? [
          h(
            "figure",
            { class: "panel" },
            h("figcaption", {}, opener(shift, entries, ways), " ", said(shift.point)),
            figure(levelsChart(results, levels, narrow)),
          ),
        ]
      : [];
  });
  const none = profile.shiftNote ? [h("p", { class: "note" }, said(profile.shiftNote))] : [];
  return [
    h("h3", {}, said(heading)),
    ...none,
    shiftTable(named, entries, ways),
    h("div", { class: "panels" }, ...charts),
  ];
}

function shiftTable(found: Shift[], entries: Entry[], ways: Ways): HTMLElement {
  const head = ["Line", "Point", "Slope", "Change", "95 % interval"].map((text) => h("th", {}, text));
  const rows = found.map((shift) =>
    h(
      "tr",
      { class: shift.certain ? "" : "uncertain" },
      h("td", {}, opener(shift, entries, ways), " ", said(shortFunction(shift.function))),
      h("td", {}, said(name(shift))),
      h("td", { class: "figure" }, `${slope(shift.from.slope)} → ${slope(shift.to.slope)}`),
      h(
        "td",
        { class: `figure ${shift.certain ? (shift.change > 0 ? "gain" : "harm") : "unclear"}` },
        slope(shift.change),
      ),
      h("td", { class: "figure" }, `[${slope(shift.low)}, ${slope(shift.high)}]`),
    ),
  );
  return h(
    "div",
    { class: "scrolling" },
    h("table", { class: "wraps shifts" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)),
  );
}

/** The line's name, which opens it at the highest load. */
function opener(shift: Shift, entries: Entry[], ways: Ways): HTMLElement {
  const text = printable(shift.target === "function" ? shortFunction(shift.function) : shift.short);
  const wanted = entryKey(shift, shift.to.load);
  const entry = entries.find((candidate) => candidate.key === wanted);
  return entry
    ? h("button", { type: "button", class: "opener", click: () => ways.open(entry) }, text)
    : h("code", {}, text);
}

/** The results of a line and point at each level where it was measured. */
function sameLine(
  of: Pick<Result, "target" | "short" | "point" | "kind">,
  levels: string[],
  entries: Entry[],
  side: number,
): Result[] {
  return levels.flatMap((level) => {
    const wanted = entryKey(of, level);
    const entry = entries.find((candidate) => candidate.key === wanted);
    const result = side === 0 ? entry?.a : entry?.b;
    return result ? [result] : [];
  });
}

function name(of: { point: string; kind: string }): string {
  return `${of.point}${KINDS[of.kind] ?? ""}`;
}

function percentOf(fraction: number): string {
  return `${Math.round(100 * fraction)} %`;
}
