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
  const shown = Math.abs(value).toFixed(2);
  return Number(shown) === 0 ? shown : (value < 0 ? "−" : "+") + shown;
}

/** How far the middle of an interval may be from the effect: `cozcli/reports/intervals.py` has the same rule. */
const [MAX_OFF_PART, MAX_OFF, LAST_DIGIT] = [0.1, 0.005, 0.0005];
/** Intervals less wide than this on either side, and ends nearer to 0, are shown with a decimal. */
const [NARROW, NEAR_NONE] = [0.1, 0.005];
/** From here on, all that an end says is that nothing is known. */
const UNKNOWN = 10;

/** Does `effect ± half` say where the interval ends, and whether it includes 0? */
function isEven({ effect, low, high }: Band): boolean {
  const half = (high - low) / 2;
  const off = Math.abs(effect - (low + high) / 2);
  if (!(off <= Math.min(Math.max(MAX_OFF_PART * half, LAST_DIGIT), MAX_OFF))) return false;
  return low > 0 === effect - half > 0 && high < 0 === effect + half < 0;
}

/** `±1.2` or `[−0.3, +12.5]`. */
export function interval(band: Band): string {
  const { low, high } = band;
  const half = (high - low) / 2;
  if (isEven(band)) {
    return `±${half < 1 ? (100 * half).toFixed(1) : Math.round(100 * half).toLocaleString("en")}`;
  }
  const digits = half < NARROW || Math.min(Math.abs(low), Math.abs(high)) < NEAR_NONE ? 1 : 0;
  const end = (value: number) =>
    Math.abs(value) < UNKNOWN ? percent(value, digits) : value > 0 ? ">1000" : "<−1000";
  return `[${end(low)}, ${end(high)}]`;
}

/** The size of an effect that is certain, whatever its sign: `12.5 % (±1.0)` or `12.5 % (11.0 to 18.2)`. */
function size(band: Band): string {
  const sizes = [Math.abs(band.low), Math.abs(band.high)].sort((x, y) => x - y);
  const ends = sizes.map((end) => (end < UNKNOWN ? (100 * end).toFixed(1) : "more than 1000"));
  const amount = isEven(band) ? interval(band) : ends.join(" to ");
  return `${(100 * Math.abs(band.effect)).toFixed(1)} % (${amount})`;
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
  const isFunction = endsInFunction(result) && !isWaiting(result); // not a wait in it
  return printable(isFunction ? shortFunction(result.function) : result.short);
}

/** What stands below the title: the function, or, where that is the title, the file. */
export function subtitle(result: Result): string {
  return endsInFunction(result) ? result.file : shortFunction(result.function);
}

/** Has the location the function in it? */
export function endsInFunction(result: Result): boolean {
  return result.function !== "" && result.location.endsWith(`:${result.function}`);
}

/** The result in one or two sentences. */
export function summary(result: Result): string {
  const value = result.told;
  if (!value) return "";
  const condition = `If ${changed(result)} were ${speedup(value.speedup)} ${isWaiting(result) ? "shorter" : "faster"}, `;
  const point = `“${printable(pointName(result))}”`;
  const amount = size(value);
  if (result.boundsOnly) {
    const further = value.low > 0 ? continuation(result) : "";
    return `${condition}${point} would take ${bounds(value)}.${further}${caveat(result)}${doubts(result)}`;
  }
  if (value.low > 0) {
    return `${condition}${point} would take ${amount} less time.${continuation(result)}${caveat(result)}${doubts(result)}`;
  }
  if (value.high < 0)
    return `${condition}${point} would take ${amount} more time.${caveat(result)}${doubts(result)}`;
  return `${condition}no effect on ${point} has been shown (${percent(value.effect)} ${interval(value)} %).${doubts(result)}`;
}

/** `between 12.0 and 45.0 % less time`, or `between 4.0 % more and 12.0 % less time`; as in `coz report`. */
function bounds(band: Band): string {
  const [low, high] = [band.low, band.high].map((end) => (100 * Math.abs(end)).toFixed(1));
  if (band.low >= 0) return `between ${low} and ${high} % less time`;
  if (band.high <= 0) return `between ${high} and ${low} % more time`;
  return `between ${low} % more and ${high} % less time`;
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
  return ending ? ` Beyond about ${speedup(since)} ${ending}.` : "";
}
