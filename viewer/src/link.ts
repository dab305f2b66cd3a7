/** Links to one line by the fragment of the page's address. */

import type { Entry, Result } from "./model";

/** `#line=server.cpp:37&point=request`, with kind and load where they matter. */
export function fragmentOf(result: Result): string {
  const parts = new URLSearchParams({ line: result.short, point: result.point });
  if (result.kind !== "throughput") parts.set("kind", result.kind);
  if (result.load !== "") parts.set("load", result.load);
  // These need no escape in a fragment, and are nicer to read.
  return `#${parts.toString().replaceAll("%3A", ":").replaceAll("%2F", "/")}`;
}

/** The entry that a fragment names: what `fragmentOf` wrote, or `#FILE:LINE` written by hand. Null if none. */
export function findByFragment(entries: Entry[], fragment: string): Entry | null {
  const text = fragment.replace(/^#/, "");
  if (text === "") return null;
  const parts = new URLSearchParams(text);
  const line = parts.get("line") ?? unescape(text);
  const wanted = (result: Result, name: "point" | "kind" | "load") => {
    const value = parts.get(name);
    return value === null || value === result[name];
  };
  const at = (is: (result: Result) => boolean) =>
    entries.filter(({ shown }) => is(shown) && wanted(shown, "point"));
  const whole = at((shown) => shown.short === line || shown.location === line);
  const named = whole.length > 0 ? whole : at((shown) => `/${shown.location}`.endsWith(`/${line}`));
  const exact = named.filter(
    ({ shown }) => wanted(shown, "load") && (parts.get("kind") ?? "throughput") === shown.kind,
  );
  return exact[0] ?? named.find(({ shown }) => wanted(shown, "kind")) ?? named[0] ?? null;
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray per cent sign: not an escape, then.
    return text;
  }
}
