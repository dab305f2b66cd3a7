/** The page: reads its data, joins its parts, and has the keys. */

import { drawAbout, headline, programName } from "./about";
import { drawDetail } from "./detail";
import { byId, said } from "./dom";
import { applyFilter, EVERYTHING, sortEntries } from "./filter";
import { findByFragment, fragmentOf } from "./link";
import { List, type Opening } from "./list";
import { drawCard, drawLoad, LOAD_FRAGMENT, scalingPairs } from "./loadview";
import { decodePage, type Entry, makeEntries, type Page } from "./model";
import { setUpTheme } from "./theme";
import { Toolbar } from "./toolbar";
import { count, printable, title } from "./words";

const WIDE = matchMedia("(min-width: 900px)");

function start(page: Page): void {
  const entries = makeEntries(page);
  const compared = page.profiles.length > 1;
  const detail = byId("detail");
  const body = document.body;
  const pairs = scalingPairs(page);
  const card = byId("load-card");
  let selected: Entry | null = null;
  let loadShown = false;
  let drawnWidth = 0;

  const list = new List(byId("list"), entries, compared, (entry, opening) => choose(entry, opening));
  const toolbar = new Toolbar(entries, compared, () => refresh());
  const turnTheme = setUpTheme(byId<HTMLButtonElement>("theme"));

  function choose(entry: Entry, opening: Opening): void {
    // First of all: what is not shown has no width to draw charts in.
    if (opening !== "moved" && !WIDE.matches) body.classList.add("open");
    select(entry);
    if (body.classList.contains("open") || opening === "entered") detail.focus();
    // Not through location.hash: each step of an arrow key would be an entry of the history.
    history.replaceState(null, "", fragmentOf(entry.shown));
    document.title = `${title(entry.shown)} – ${names()}`;
  }

  function close(): void {
    body.classList.remove("open");
    list.focus();
  }

  function names(): string {
    return printable([...new Set(page.profiles.map(programName))].join(" and "));
  }

  function refresh(): void {
    const shown = sortEntries(applyFilter(entries, toolbar.filter()), toolbar.sorting());
    list.show(shown);
    const all = shown.length === entries.length;
    byId("count").textContent = all
      ? count(shown.length, "result")
      : `${shown.length} of ${count(entries.length, "result")}`;
    byId("nothing").hidden = shown.length > 0 || entries.length === 0;
    byId("clear").hidden = all && JSON.stringify(toolbar.filter()) === JSON.stringify(EVERYTHING);
    const first = shown[0];
    if (WIDE.matches && first && !loadShown && (!selected || !shown.includes(selected))) select(first);
  }

  /** As `choose`, but the address keeps what it says: this was not the user's choice. */
  function select(entry: Entry): void {
    mark(entry);
    draw();
  }

  function draw(): void {
    drawnWidth = detail.clientWidth;
    if (loadShown) drawLoad(detail, page, entries, { back: close, open });
    else if (selected) drawDetail(detail, selected, page, entries, close);
  }

  function redrawIfResized(): void {
    if (detail.clientWidth === 0 || detail.clientWidth === drawnWidth) return;
    const { scrollTop } = detail;
    draw();
    detail.scrollTop = scrollTop;
  }

  /** What is shown: a line, or, by null, the program under load. */
  function mark(entry: Entry | null): void {
    selected = entry;
    loadShown = entry === null;
    list.select(entry);
    card.setAttribute("aria-pressed", String(loadShown));
  }

  function showLoad(chosen: boolean): void {
    if (!pairs.length) return;
    if (chosen && !WIDE.matches) body.classList.add("open");
    mark(null);
    draw();
    if (!chosen) return;
    detail.focus();
    history.replaceState(null, "", LOAD_FRAGMENT);
    document.title = `Under load – ${names()}`;
  }

  /** Show a line that the panel names, even if the filter leaves it out. */
  function open(entry: Entry): void {
    if (!applyFilter([entry], toolbar.filter()).length) toolbar.clear();
    choose(entry, "clicked");
  }

  function follow(): void {
    if (location.hash === LOAD_FRAGMENT) {
      showLoad(true);
      return;
    }
    const entry = findByFragment(entries, location.hash);
    if (entry) open(entry);
  }

  byId("program").append(said(names()));
  byId("summary").append(
    said(
      compared
        ? page.profiles.map((p, i) => `${i === 0 ? "A" : "B"}: ${p.name}`).join(" · ")
        : page.profiles.map(headline).join(""),
    ),
  );
  document.title = `${names()} – causal profile`;
  setUpAbout(page);
  if (pairs.length) {
    drawCard(card, pairs);
    card.addEventListener("click", () => showLoad(true));
    body.classList.toggle("load-only", entries.length === 0);
  }
  // Where nothing is known of lines, load is what the profile is of.
  if (pairs.length && entries.length === 0) showLoad(false);
  refresh();
  follow();
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => list.drawForPrint());
  addEventListener("afterprint", () => list.redraw());
  WIDE.addEventListener("change", () => {
    if (WIDE.matches) body.classList.remove("open");
    refresh();
  });
  new ResizeObserver(redrawIfResized).observe(detail);
  document.addEventListener("keydown", (event) => onKey(event, toolbar, list, turnTheme, close, showLoad));
}

function setUpAbout(page: Page): void {
  const warnings = page.profiles.reduce((sum, profile) => sum + profile.warnings.length, 0);
  const button = byId("about-button");
  if (warnings > 0) {
    button.textContent = `Profile (${count(warnings, "warning")})`;
    button.classList.add("warned");
  }
  drawAbout(byId("about-text"), page);
  openBy(button, "about");
  openBy(byId("help-button"), "help");
}

function openBy(button: HTMLElement, id: string): void {
  button.addEventListener("click", () => byId<HTMLDialogElement>(id).showModal());
}

function onKey(
  event: KeyboardEvent,
  toolbar: Toolbar,
  list: List,
  turnTheme: () => void,
  close: () => void,
  showLoad: (chosen: boolean) => void,
): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  // A dialog has its own keys: Escape closes it.
  if (document.querySelector("dialog[open]")) return;
  const inSearch = event.target === toolbar.search;
  const typing = inSearch || event.target instanceof HTMLSelectElement;
  if (event.key === "Escape") {
    const inDetail = event.target instanceof Node && byId("detail").contains(event.target);
    if (document.body.classList.contains("open") || inDetail) close();
    else if (inSearch && toolbar.search.value === "") list.focus();
    else toolbar.clear();
  } else if (inSearch && (event.key === "ArrowDown" || event.key === "Enter")) {
    list.focus();
    list.move(0);
  } else if (typing) {
    return;
  } else if (event.key === "/") {
    toolbar.search.focus();
    toolbar.search.select();
  } else if (event.key === "?") {
    byId<HTMLDialogElement>("help").showModal();
  } else if (event.key === "t") {
    turnTheme();
  } else if (event.key === "l") {
    showLoad(true);
  } else if (event.target === document.body && list.takes(event)) {
    if (document.activeElement === document.body) list.focus();
  } else {
    return;
  }
  event.preventDefault();
}

try {
  start(decodePage(byId("data").textContent));
} catch (error) {
  const box = byId("failure");
  box.textContent = `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}. Write it again with coz view.`;
  box.hidden = false;
  throw error;
}
