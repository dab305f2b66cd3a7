/** The panel: everything that is known about one entry. */

import { largeChart } from "./chart";
import { type Child, h, said } from "./dom";
import { fragmentOf } from "./link";
import { type Caller, type Entry, type Page, type Quantile, type Result, signOf, type Source } from "./model";
import { otherLoads } from "./loadview";
import { shortFunction, splitLocation } from "./locations";
import { ownDomain } from "./scales";
import {
  endsInFunction,
  percent,
  printable,
  share,
  shortTime,
  slope,
  speedup,
  summary,
  title,
} from "./words";

export function drawDetail(
  box: HTMLElement,
  entry: Entry,
  page: Page,
  entries: Entry[],
  back: () => void,
): void {
  const { shown } = entry;
  const results = [entry.a, entry.b].filter((result): result is Result => result !== null);
  const compared = page.profiles.length > 1;
  const width = Math.min(Math.max(box.clientWidth - 40, 300), 720);
  const axis = shown.kind === "throughput" ? "↑ less time per unit of work" : "↑ less time from begin to end";
  box.replaceChildren(
    h(
      "header",
      {},
      h("button", { class: "back", type: "button", click: back }, "‹ All lines"),
      h("h2", {}, title(shown)),
      h("p", { class: "full" }, ...fullName(shown)),
      h("p", { class: "summary" }, ...results.flatMap((result, i) => summaryOf(result, i, entry, compared))),
    ),
    largeChart(entry, ownDomain(entry), width, axis),
    legend(entry, page),
    ...results.flatMap((result) => explained(result, page, compared ? which(result, entry) : "")),
    ...sourceExcerpt(shown, page, shown === entry.a ? 0 : 1),
    ...surroundings(shown),
    ...otherLoads(entry, page, entries, width),
    h("h3", {}, "All points"),
    numbersTable(entry),
    ...results.flatMap((result) => quantiles(result, compared ? `, ${which(result, entry)}` : "")),
  );
  box.scrollTop = 0;
}

function fullName(result: Result): Child[] {
  return [
    h("code", {}, said(result.location)),
    result.function && !endsInFunction(result)
      ? h("span", {}, " in ", h("code", {}, said(result.function)))
      : null,
    " ",
    h("a", { href: fragmentOf(result), class: "link" }, "link to this line"),
  ];
}

function which(result: Result, entry: Entry): string {
  return result === entry.a ? "A" : "B";
}

function summaryOf(result: Result, index: number, entry: Entry, compared: boolean): Child[] {
  const label = compared
    ? h("b", { class: `key ${result === entry.a ? "a" : "b"}` }, `${which(result, entry)}: `)
    : null;
  return [index > 0 ? h("br") : null, label, summary(result)];
}

function legend(entry: Entry, page: Page): HTMLElement {
  const compared = page.profiles.length > 1;
  const parts: Child[] = [];
  if (compared) {
    if (entry.a) parts.push(h("span", { class: "key a" }, "A"), " the first profile. ");
    if (entry.b) parts.push(h("span", { class: "key b" }, "B"), " the profile compared with it (dashed). ");
    if (!entry.a || !entry.b) parts.push(`This line is only in ${entry.a ? "A" : "B"}. `);
  }
  const readings = [entry.a, entry.b].flatMap((result) => (result ? [result.reading] : []));
  for (const reading of new Set(readings)) parts.push(`${page.readings[reading] ?? ""} `);
  for (const result of [entry.a, entry.b]) {
    if (!result) continue;
    parts.push(
      compared
        ? h("b", { class: `key ${which(result, entry).toLowerCase()}` }, `${which(result, entry)}: `)
        : null,
    );
    parts.push(
      `Slope ${slope(result.slope)} [${slope(result.slopeLow)}, ${slope(result.slopeHigh)}], which `,
      result.significant ? "differs from 0 even" : "may as well be 0",
      ` when corrected for the number of lines; ${result.restsOn}. `,
    );
  }
  const { shown } = entry;
  parts.push(
    shown.kind === "throughput"
      ? "Throughput of "
      : said(`${shown.kind[0]?.toUpperCase() ?? ""}${shown.kind.slice(1)} of `),
    h("b", {}, said(shown.point)),
    shown.load ? said(`, at load ${shown.load}.`) : ".",
  );
  return h("p", { class: "legend" }, ...parts);
}

/** The marks of a result with what they mean. `which`: of the two profiles. */
function explained(result: Result, page: Page, which: string): HTMLElement[] {
  return result.marks.map((mark) => {
    const factor = mark === "runs in phases" ? ` (×${result.phaseFactor.toFixed(2)})` : "";
    const name = `${which ? `${which}: ` : ""}${printable(mark)}${factor}`;
    return h(
      "p",
      { class: `note ${mark === "contention" ? "harm" : ""}` },
      h("b", {}, name),
      `: ${page.marks[mark] ?? ""}`,
    );
  });
}

/** `profile`: the number of the one that the result is of. */
function sourceExcerpt(result: Result, page: Page, profile: number): HTMLElement[] {
  const source = page.sources[splitLocation(result.location)[0]];
  const part = source && result.line > 0 ? partWith(source, result.line) : null;
  if (!source || !part) return [];
  const [first, lines] = part;
  const from = Math.max(first, result.line - 7);
  const shown = lines.slice(from - first, result.line - first + 8);
  const rows = shown.map((text, i) => {
    const number = from + i;
    const marked = number === result.line;
    return h(
      "div",
      { class: marked ? "code marked" : "code", ...(marked ? { "aria-current": "true" } : {}) },
      h("span", { class: "number" }, String(number)),
      h("span", { class: "text" }, said(text) /* an empty line keeps its height by CSS */),
    );
  });
  const changed = source.changed[profile]
    ? [h("p", { class: "note" }, "The file is newer than the profile; its lines may have moved since.")]
    : [];
  return [h("h3", {}, "Source"), h("div", { class: "source", tabindex: 0 }, ...rows), ...changed];
}

function partWith(source: Source, line: number): [number, string[]] | null {
  for (const [first, lines] of Object.entries(source.parts)) {
    if (line >= Number(first) && line < Number(first) + lines.length) return [Number(first), lines];
  }
  return null;
}

function surroundings(result: Result): HTMLElement[] {
  const callers = result.callers.map((caller) => callerRow(caller, "out of scope"));
  const locks = result.locks.flatMap((lock) => [
    h(
      "tr",
      {},
      h("td", { class: "figure" }, share(lock.share)),
      h("td", {}, h("code", {}, said(lock.name))),
      h("td", {}, lock.waits),
    ),
    ...lock.holders.map((holder) => callerRow(holder, "a line that is not known", "taken at ")),
  ]);
  const instances = result.instances.map((instance) =>
    h(
      "tr",
      {},
      h("td", { class: "figure" }, share(instance.share)),
      h("td", {}, h("code", {}, said(instance.function || "?"))),
    ),
  );
  return [
    ...(callers.length
      ? [h("h3", {}, "Called from"), scrolling(h("table", { class: "wraps" }, ...callers))]
      : []),
    ...(locks.length ? [h("h3", {}, "Waits for"), scrolling(h("table", { class: "wraps" }, ...locks))] : []),
    ...(instances.length
      ? [h("h3", {}, "Run as part of"), scrolling(h("table", { class: "wraps" }, ...instances))]
      : []),
  ];
}

function callerRow(caller: Caller, unknown: string, before = ""): HTMLElement {
  return h(
    "tr",
    {},
    h("td", { class: "figure" }, share(caller.share)),
    h("td", {}, before, caller.location ? h("code", {}, said(caller.location)) : unknown),
    h("td", {}, said(shortFunction(caller.function))),
  );
}

function scrolling(table: HTMLElement): HTMLElement {
  return h("div", { class: "scrolling" }, table);
}

function numbersTable(entry: Entry): HTMLElement {
  const sides = [entry.a, entry.b].filter((result): result is Result => result !== null);
  const both = sides.length > 1;
  const speedups = [...new Set(sides.flatMap((side) => side.curve.map((point) => point.speedup)))].sort(
    (x, y) => x - y,
  );
  const head = h(
    "tr",
    {},
    h("th", {}, "Faster by"),
    ...sides.flatMap((side) => {
      const suffix = both ? ` ${which(side, entry)}` : "";
      return [h("th", {}, `Effect${suffix}`), h("th", {}, "95 % interval"), h("th", {}, "Exp.")];
    }),
  );
  const rows = speedups.map((at) =>
    h("tr", {}, h("td", {}, speedup(at)), ...sides.flatMap((side) => cells(side, at))),
  );
  return scrolling(h("table", { class: "points" }, h("thead", {}, head), h("tbody", {}, ...rows)));
}

/** Effects on quantiles of the latency. `of`: which of two profiles. */
function quantiles(result: Result, of: string): HTMLElement[] {
  const first = result.quantiles[0];
  if (!first) return [];
  const head = h(
    "tr",
    {},
    h("th", {}, "Faster by"),
    ...result.quantiles.flatMap((each) => [
      h("th", {}, `${each.name} (${shortTime(each.baseline)})`),
      h("th", {}, "95 % interval"),
    ]),
  );
  const speedups = [...new Set(result.quantiles.flatMap((each) => each.points.map((p) => p.speedup)))];
  const rows = speedups
    .filter((at) => at > 0)
    .sort((x, y) => x - y)
    .map((at) =>
      h("tr", {}, h("td", {}, speedup(at)), ...result.quantiles.flatMap((each) => quantileCells(each, at))),
    );
  return [
    h("h3", {}, `Quantiles of the latency${of}`),
    scrolling(h("table", { class: "points" }, h("thead", {}, head), h("tbody", {}, ...rows))),
  ];
}

function quantileCells(of: Quantile, at: number): HTMLElement[] {
  const point = of.points.find((p) => p.speedup === at);
  if (!point) return [h("td", {}, "–"), h("td")];
  return [
    h("td", {}, `${percent(point.effect)} %`),
    h("td", {}, `[${percent(point.low)}, ${percent(point.high)}]`),
  ];
}

function cells(result: Result, at: number): HTMLElement[] {
  const point = result.curve.find((p) => p.speedup === at);
  if (!point) return [h("td", {}, "–"), h("td"), h("td")];
  if (at === 0) return [h("td", {}, "baseline"), h("td"), h("td", {}, String(point.experiments))];
  return [
    h("td", { class: signOf(point, result) }, `${percent(point.effect)} %`),
    h("td", {}, `[${percent(point.low)}, ${percent(point.high)}]`),
    h("td", {}, point.experiments > 0 ? String(point.experiments) : "–"),
  ];
}
