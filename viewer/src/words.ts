/** Numbers and results as people say them. */

import { pointName } from "./filter";
import { shortFunction } from "./locations";
import type { Band, Result } from "./model";

/** The speedup that the list speaks of. */
export const TYPICAL = 0.25;

/** `+12.3`, with a proper minus; large ones without decimals. */
export function percent(fraction: number, digits = 1): string {
  if (!Number.isFinite(fraction)) return fraction > 0 ? "+∞" : "−∞";
  const value = 100 * fraction;
  const shown =
    Math.abs(value) >= 1000
      ? Math.round(Math.abs(value)).toLocaleString("en")
      : Math.abs(value).toFixed(digits);
  return (Number(shown) === 0 ? "0" : (value < 0 ? "−" : "+") + shown).replace(/^0$/, digits ? "0.0" : "0");
}

/** `25 %`, `37.5 %`: a speedup. */
export function speedup(fraction: number): string {
  return `${Number((100 * fraction).toFixed(1))} %`;
}

export function slope(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "+∞" : "−∞";
  return (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
}

/** `±1.2`: half of an interval. */
export function plusMinus(band: Band): string {
  const half = 50 * (band.high - band.low);
  if (!Number.isFinite(half)) return "±∞";
  return `±${half < 100 ? half.toFixed(1) : Math.round(half).toLocaleString("en")}`;
}

export function share(fraction: number): string {
  return `${Math.round(100 * fraction)} %`;
}

export function duration(nanoseconds: number): string {
  const seconds = nanoseconds / 1e9;
  if (seconds < 0.001) return "less than 1 ms";
  if (seconds < 1) return `${Math.round(1000 * seconds)} ms`;
  return seconds < 120 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(1)} min`;
}

/** A time to three digits: `826 µs`. */
export function shortTime(nanoseconds: number): string {
  const [unit, size] =
    nanoseconds >= 1e9
      ? ["s", 1e9]
      : nanoseconds >= 1e6
        ? ["ms", 1e6]
        : nanoseconds >= 1e3
          ? ["µs", 1e3]
          : ["ns", 1];
  return `${precise(nanoseconds / size, 3)} ${unit}`;
}

/** A number to so many digits, with commas: `1,238`. */
export function precise(value: number, digits = 4): string {
  return Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** Characters that would not show, or would change the order of others, as escapes: names may hold anything. */
export function printable(text: string): string {
  // A tab is left: source lines have them.
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu, (character) => {
    if (character === "\t") return character;
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** How a location is called in a list. */
export function title(result: Result): string {
  return printable(
    result.target === "function" ? shortFunction(result.function) || result.short : result.short,
  );
}

/** The result in one or two sentences. */
export function summary(result: Result): string {
  const value = result.told;
  if (!value) return "";
  const condition = `If ${changed(result)} were ${speedup(value.speedup)} ${isWaiting(result) ? "shorter" : "faster"}, `;
  const point = `“${printable(pointName(result))}”`;
  const amount = `${Math.abs(100 * value.effect).toFixed(1)} % (${plusMinus(value)})`;
  if (value.low > 0) {
    return `${condition}${point} would take ${amount} less time.${continuation(result)}${caveat(result)}${doubts(result)}`;
  }
  if (value.high < 0)
    return `${condition}${point} would take ${amount} more time.${caveat(result)}${doubts(result)}`;
  return `${condition}no effect on ${point} has been shown (${percent(value.effect)} ${plusMinus(value)} %).`;
}

function isWaiting(result: Result): boolean {
  return result.target === "wait" || result.target === "lock";
}

/** What is sped up, as the subject of a sentence; `coz report` says it likewise. */
function changed(result: Result): string {
  if (result.target === "lock") return `waits for the ${title(result)}`;
  return isWaiting(result) ? `the ${title(result)}` : title(result);
}

/** The marks that may make it another effect, or none; `coz report` adds them to its sentence, too. */
function doubts(result: Result): string {
  const marks = result.marks.filter((mark) => mark !== "contention").map(printable);
  return marks.length > 0 ? ` But: ${marks.join(", ")}.` : "";
}

function caveat(result: Result): string {
  return result.caveat && ` ${result.caveat}`;
}

/** What becomes of a gain at larger speedups; `coz report` says the same. */
function continuation(result: Result): string {
  const { since, ending } = result.shape;
  return ending ? ` Beyond about ${speedup(round5(since))} ${ending}.` : "";
}

function round5(fraction: number): number {
  return Math.round(fraction * 20) / 20;
}
