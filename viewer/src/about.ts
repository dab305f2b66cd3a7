/** What the page says about the profiles themselves: programs, runs, warnings. */

import { type Child, h, said } from "./dom";
import type { Page, Profile, Run } from "./model";
import { count, duration, percent } from "./words";

/** Profiling that slows a program down by less is not mentioned. */
const MENTIONED_SLOWDOWN = 0.1;
const SHOWN_RUNS = 50;

const COUNTED: Record<string, string> = {
  hardware: "hardware breakpoints",
  breakpoint: "breakpoint instructions",
  samples: "samples, not visits",
};

export function programName(profile: Profile): string {
  const names = [...new Set(profile.runs.map((run) => run.program).filter(Boolean))];
  return names.map((name) => name.slice(name.lastIndexOf("/") + 1)).join(", ") || profile.name;
}

/** One line for the head of the page. */
export function headline(profile: Profile): string {
  const time = profile.runs.reduce((sum, run) => sum + run.duration, 0);
  return `${count(profile.experiments, "experiment")} in ${count(profile.runs.length, "run")}, ${duration(time)}`;
}

export function drawAbout(box: HTMLElement, page: Page): void {
  const several = page.profiles.length > 1;
  box.replaceChildren(
    ...page.profiles.flatMap((profile, index) =>
      about(profile, several ? (index === 0 ? "A: " : "B: ") : ""),
    ),
    h("p", { class: "legend" }, `Written by coz ${page.coz}.`),
  );
}

function about(profile: Profile, label: string): HTMLElement[] {
  return [
    h("h3", {}, label, said(profile.name)),
    h(
      "p",
      {},
      `${headline(profile)}; ${count(profile.results.length, "result")}`,
      profile.leftOut ? `, and ${profile.leftOut} that --top left out.` : ".",
    ),
    ...profile.warnings.map((warning) =>
      h(
        "p",
        { class: "note harm" },
        h("b", {}, "Warning: "),
        said(warning.text),
        warning.hint ? said(` ${warning.hint}`) : null,
      ),
    ),
    ...overheads(profile),
    ...counted(profile.runs),
    runsTable(profile.runs),
  ];
}

function overheads(profile: Profile): HTMLElement[] {
  const costs = profile.overheads.filter((cost) => (cost.slowdown ?? 1) - 1 >= MENTIONED_SLOWDOWN);
  return costs.map((cost) =>
    h(
      "p",
      { class: "note" },
      "Effects are of the program by itself: profiling makes ",
      h("b", {}, said(cost.point)),
      ` ${percent((cost.slowdown ?? 1) - 1, 0).slice(1)} % slower.`,
    ),
  );
}

function counted(runs: Run[]): HTMLElement[] {
  const points = new Map(runs.flatMap((run) => (run.points ?? []).map((point) => [point.name, point.by])));
  return [...points].map(([name, by]) =>
    h(
      "p",
      {},
      "Visits to ",
      h("b", {}, said(name)),
      said(` are counted by ${(Object.hasOwn(COUNTED, by) && COUNTED[by]) || by}.`),
    ),
  );
}

function runsTable(runs: Run[]): HTMLElement {
  const head = ["Started", "Program", "Experiments", "Time", "Sampling"].map((name) => h("th", {}, name));
  const rows = runs
    .slice(0, SHOWN_RUNS)
    .map((run) => h("tr", {}, ...cells(run).map((cell) => h("td", {}, cell))));
  const more = runs.length - rows.length;
  return h(
    "div",
    { class: "scrolling" },
    h("table", { class: "runs wraps" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)),
    more > 0 ? h("p", {}, `and ${count(more, "run")} more`) : null,
  );
}

function cells(run: Run): Child[] {
  const started = run.time > 0 ? new Date(run.time / 1e6).toLocaleString() : "–";
  const program = [run.program || "–", ...run.arguments].join(" ");
  return [started, said(program), String(run.experiments), duration(run.duration), said(run.sampling || "–")];
}
