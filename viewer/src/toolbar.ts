/** Search, filters and order: keeps a `Filter` and tells when it has changed. */

import { byId, h, said } from "./dom";
import { choices, EVERYTHING, type Filter, type MarkFilter, type Order, pointName } from "./filter";
import { shortFunction } from "./locations";
import type { Entry, Result } from "./model";
import { printable } from "./words";

interface Choice {
  id: string;
  name: "file" | "function" | "point" | "load";
  all: string;
  property: (result: Result) => string;
  label: (value: string) => string;
}

const CHOICES: Choice[] = [
  { id: "file", name: "file", all: "All files", property: (r) => r.file, label: (v) => v },
  {
    id: "function",
    name: "function",
    all: "All functions",
    property: (r) => r.function,
    label: shortFunction,
  },
  { id: "point", name: "point", all: "All points", property: pointName, label: (v) => v },
  { id: "load", name: "load", all: "All loads", property: (r) => r.load, label: (v) => `load ${v}` },
];
/** Functions of C++ can be longer than any menu should be. */
const MAX_LABEL_LENGTH = 48;

export class Toolbar {
  readonly search = byId<HTMLInputElement>("search");
  private readonly order = byId<HTMLSelectElement>("order");
  private readonly mark = byId<HTMLSelectElement>("mark");

  constructor(
    entries: Entry[],
    compared: boolean,
    private readonly changed: () => void,
  ) {
    for (const choice of CHOICES) fillChoice(choice, entries);
    for (const option of [...this.order.options, ...this.mark.options]) {
      if (option.dataset.compare !== undefined && !compared) option.remove();
    }
    this.search.addEventListener("input", changed);
    for (const select of byId("toolbar").querySelectorAll("select"))
      select.addEventListener("change", changed);
    byId("clear").addEventListener("click", () => this.clear());
  }

  filter(): Filter {
    const filter: Filter = { ...EVERYTHING, text: this.search.value, mark: this.mark.value as MarkFilter };
    for (const { id, name } of CHOICES) filter[name] = byId<HTMLSelectElement>(id).value;
    return filter;
  }

  sorting(): Order {
    return this.order.value as Order;
  }

  /** Show everything again. */
  clear(): void {
    this.search.value = "";
    this.mark.value = "";
    for (const { id } of CHOICES) byId<HTMLSelectElement>(id).value = "";
    this.changed();
  }
}

function fillChoice(choice: Choice, entries: Entry[]): void {
  const select = byId<HTMLSelectElement>(choice.id);
  const found = choices(entries, choice.property);
  select.append(h("option", { value: "" }, choice.all));
  for (const [value, number] of found) {
    const label = printable(choice.label(value));
    const short = label.length > MAX_LABEL_LENGTH ? `${label.slice(0, MAX_LABEL_LENGTH - 1)}…` : label;
    const option = h("option", {}, said(`${short} (${number})`));
    option.value = value;
    select.append(option);
  }
  // One choice is none.
  select.hidden = found.length < 2;
}
