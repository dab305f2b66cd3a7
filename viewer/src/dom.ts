/** Elements from plain values. Text is only ever set as text: nothing in a profile can become markup. */

import { printable } from "./words";

export type Child = Node | string | null;
type Properties = Record<string, string | number | boolean | ((event: Event) => void)>;

const SVG = "http://www.w3.org/2000/svg";

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), properties, children);
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/** Text from the profile, with what would not show made visible. */
export function said(text: string): Text {
  return document.createTextNode(printable(text));
}

function fill<E extends Element>(element: E, properties: Properties, children: Child[]): E {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/** The element of the template with this id; the caller says of which kind it is there. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element ${id}`);
  return element as E;
}
