/**
 * The list of entries. Only the rows in view are in the document: a list of any length is as fast as a short one.
 *
 * The keyboard's focus stays on the list; the row it is at is the selected one.
 */

import { smallChart } from "./chart";
import { h, said } from "./dom";
import { FEW_DATA, pointName } from "./filter";
import { type Entry, type Result, signOf, valueAt } from "./model";
import { type Domain, sharedDomain } from "./scales";
import { interval, percent, slope, speedup, subtitle, TYPICAL, title } from "./words";

/** Rows that are drawn above and below what is in view. */
const SPARE = 4;
/** The most rows that are printed. */
export const PRINTED = 200;

/** By moving to it; by a click, which opens it where there is room for one thing only; by Enter, which goes into it. */
export type Opening = "moved" | "clicked" | "entered";

export class List {
  private entries: Entry[] = [];
  private selected: Entry | null = null;
  private drawn = "";
  private rowHeight = 0;
  private readonly domains: Map<string, Domain>;
  private readonly rows = h("div", { class: "rows" });

  /** `choose` is told which entry was selected, and how. */
  constructor(
    private readonly box: HTMLElement,
    all: Entry[],
    private readonly compared: boolean,
    private readonly choose: (entry: Entry, opening: Opening) => void,
  ) {
    const kinds = new Set(all.map((entry) => entry.shown.kind));
    this.domains = new Map(
      [...kinds].map((kind) => [kind, sharedDomain(all.filter((e) => e.shown.kind === kind))]),
    );
    box.append(this.rows);
    box.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.redraw()).observe(box);
    box.addEventListener("keydown", (event) => {
      if (this.takes(event)) event.preventDefault();
    });
  }

  show(entries: Entry[]): void {
    const before = this.entries;
    this.entries = entries;
    if (entries.some((entry, i) => entry !== before[i])) this.box.scrollTop = 0;
    this.redraw();
  }

  /** Select an entry and bring it into view; null selects none. */
  select(entry: Entry | null): void {
    this.selected = entry;
    const index = entry ? this.entries.indexOf(entry) : -1;
    if (index >= 0) {
      const top = index * this.rowHeight;
      const bottom = top + this.rowHeight - this.box.clientHeight;
      if (this.box.scrollTop > top) this.box.scrollTop = top;
      else if (this.box.scrollTop < bottom) this.box.scrollTop = bottom;
    }
    this.redraw();
  }

  /** The neighbour of the selected entry, so many rows further. */
  move(by: number): void {
    const at = this.selected ? this.entries.indexOf(this.selected) : -1;
    const to = Math.min(Math.max(at < 0 ? 0 : at + by, 0), this.entries.length - 1);
    const entry = this.entries[to];
    if (entry) this.choose(entry, "moved");
  }

  focus(): void {
    this.box.focus();
  }

  /** For the printer: the first rows, all of them in the document. */
  drawForPrint(): void {
    this.rows.style.height = "auto";
    const left = this.entries.length - PRINTED;
    this.rows.replaceChildren(
      ...this.entries.slice(0, PRINTED).map((entry, i) => this.row(entry, i)),
      ...(left > 0 ? [h("div", { class: "minor" }, `and ${String(left)} more that are not printed`)] : []),
    );
    this.drawn = "";
  }

  redraw(): void {
    this.drawn = "";
    this.draw();
  }

  private draw(): void {
    if (!this.rowHeight || this.drawn === "") this.rowHeight = measureRow(this.box);
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.rowHeight) - SPARE);
    const visible = Math.ceil(this.box.clientHeight / this.rowHeight);
    const end = Math.min(this.entries.length, first + visible + 2 * SPARE);
    const state = `${first} ${end}`;
    if (state === this.drawn) return;
    this.drawn = state;
    this.rows.style.height = `${this.entries.length * this.rowHeight}px`;
    const rows = this.entries.slice(first, end).map((entry, i) => {
      const row = this.row(entry, first + i);
      row.style.transform = `translateY(${(first + i) * this.rowHeight}px)`;
      return row;
    });
    this.rows.replaceChildren(...rows);
    const at = this.selected ? this.entries.indexOf(this.selected) : -1;
    if (at >= first && at < end) this.box.setAttribute("aria-activedescendant", `row-${at}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  private row(entry: Entry, index: number): HTMLElement {
    const result = entry.shown;
    const chosen = entry === this.selected;
    const domain = this.domains.get(result.kind) ?? sharedDomain(this.entries);
    return h(
      "div",
      {
        class: `row${result.marks.includes(FEW_DATA) ? " few" : ""}`,
        id: `row-${index}`,
        role: "option",
        "aria-selected": String(chosen),
        "aria-setsize": this.entries.length,
        "aria-posinset": index + 1,
        click: () => this.choose(entry, "clicked"),
      },
      smallChart(entry, domain),
      h(
        "div",
        { class: "names" },
        h("div", { class: "line", title: title(result) }, h("bdi", {}, title(result))),
        h("div", { class: "function" }, said(subtitle(result) || "–")),
        h(
          "div",
          { class: "tags" },
          h("span", { class: "tag point" }, said(pointName(result))),
          result.load ? h("span", { class: "tag" }, said(`load ${result.load}`)) : null,
          ...result.marks.map((mark) =>
            h("span", { class: `tag mark ${mark.replaceAll(" ", "-")}` }, said(mark)),
          ),
        ),
      ),
      numbers(entry, this.compared),
    );
  }

  /** Does what a key stands for in the list; false if it has no meaning there. */
  takes(event: KeyboardEvent): boolean {
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.rowHeight) - 1);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      j: 1,
      k: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.entries.length,
      End: this.entries.length,
    };
    const step = steps[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || this.entries.length === 0) return false;
    if (step !== undefined) this.move(step);
    else if (event.key === "Enter" && this.selected) this.choose(this.selected, "entered");
    else return false;
    return true;
  }
}

function measureRow(box: HTMLElement): number {
  return Number.parseFloat(getComputedStyle(box).getPropertyValue("--row")) || 84;
}

function numbers(entry: Entry, compared: boolean): HTMLElement {
  const { a, b, shown } = entry;
  if (a && b) {
    return h(
      "div",
      { class: "numbers" },
      number("A", a, "a", ` at ${speedup(TYPICAL)}`),
      number("B", b, "b", ` at ${speedup(TYPICAL)}`),
      h("div", { class: "minor" }, `slope ${slope(a.slope)} → ${slope(b.slope)}`),
    );
  }
  return h(
    "div",
    { class: "numbers single" },
    number(`at ${speedup(TYPICAL)}`, shown, ""),
    shown.best.effect > 0
      ? h(
          "div",
          { class: "minor" },
          `most ${percent(shown.best.effect)} %`,
          h("span", { class: "roomy" }, ` at ${speedup(shown.best.speedup)}`),
        )
      : h("div", { class: "minor" }, "no gain"),
    h(
      "div",
      { class: "minor" },
      compared ? `only in ${b ? "B" : "A"}` : `slope ${slope(shown.slope)}${shown.significant ? "*" : ""}`,
    ),
  );
}

function number(label: string, of: Result, which: string, more = ""): HTMLElement {
  const value = valueAt(of, TYPICAL);
  if (!value) return h("div", { class: "number" }, h("span", { class: "of" }, `${label} `), "–");
  return h(
    "div",
    { class: `number ${signOf(value, of)} ${which}` },
    h("span", { class: "of" }, label, h("span", { class: "roomy" }, more), " "),
    h("b", {}, percent(value.effect)),
    h("span", { class: "interval" }, ` ${interval(value)} %`),
  );
}
