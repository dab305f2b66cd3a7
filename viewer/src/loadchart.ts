/** Curves of load: how the program scales, and one line's curves at several loads. */

import { scaleLinear } from "d3-scale";
import { area, line } from "d3-shape";
import { drawAxes, type Frame, fitPath, largeFrame, type Scale, scales, zeroLine } from "./chart";
import { svg } from "./dom";
import { extentOf, LATENCY, type Level, type Scaling, type ScalingPair } from "./loaddata";
import type { Result } from "./model";
import { sharedDomain } from "./scales";
import { percent, speedup } from "./words";

const CARD: Frame = { width: 150, height: 64, left: 2, right: 2, top: 3, bottom: 3 };
/** Classes of colours for load levels, from lowest to highest: `level-0` and so on. */
const SHADES = 5;
/** Labels at the ends of curves stand so far apart at least. */
const APART = 12;
/** Intervals wider than this are cut at the frame's edge. */
const FARTHEST = 10;

/** The colour of a level among so many. */
export function shade(index: number, levels: number): string {
  return `level-${Math.round(((SHADES - 1) * index) / Math.max(1, levels - 1))}`;
}

/** The whole curve with axes, band, and where it flattens. */
export function scalingChart(pair: ScalingPair, width: number): SVGSVGElement {
  // Latency may be a hundred times as long: room for four digits and a sign.
  const frame = { ...largeFrame(width), left: 60 };
  const { root, x, y } = begin(pair, frame, "large");
  const latency = pair.shown.kind === LATENCY;
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", "Speedup by load; the table below has the numbers");
  drawAxes(root, frame, x, y, {
    x: "load: time between two requests that is taken away",
    y: latency ? "↑ less time from begin to end" : "↑ less time per unit of work",
  });
  if (!latency) root.append(ideal(x, y));
  for (const [scaling, which] of sides(pair)) {
    root.append(saturation(scaling, which, frame, x, pair.a !== null && pair.b !== null));
  }
  drawSeries(root, pair, x, y, true);
  return root;
}

/** Small, without labels. */
export function scalingThumbnail(pair: ScalingPair): SVGSVGElement {
  const { root, x, y } = begin(pair, CARD, "small");
  root.setAttribute("aria-hidden", "true");
  root.append(zeroLine(CARD, y));
  if (pair.shown.kind !== LATENCY) root.append(ideal(x, y));
  drawSeries(root, pair, x, y, false);
  return root;
}

/** One line's curves at several loads, each with its name at its end. */
export function levelsChart(results: Result[], levels: string[], width: number): SVGSVGElement {
  const frame: Frame = { width, height: 210, left: 46, right: 44, top: 24, bottom: 38 };
  const domain = sharedDomain(
    results.map((result) => ({ key: "", a: result, b: null, shown: result, haystack: "" })),
  );
  const { x, y } = scales(frame, domain);
  const root = svg("svg", {
    class: "levels",
    viewBox: `0 0 ${frame.width} ${frame.height}`,
    role: "img",
    "aria-label": "Effect by speedup at each load",
  });
  const latency = results.some((result) => result.kind !== "throughput");
  drawAxes(root, frame, x, y, {
    x: "if this were faster by …",
    y: latency ? "↑ less time from begin to end" : "↑ less time per unit of work",
  });
  const labels: { at: number; text: string; colour: string }[] = [];
  for (const result of results) {
    const colour = shade(levels.indexOf(result.load), levels.length);
    const group = svg("g", { class: `series ${colour}` });
    group.append(fitPath(result, x, y, domain));
    for (const point of result.curve) {
      if (point.speedup === 0 || point.effect > domain.high || point.effect < domain.low) continue;
      group.append(
        svg(
          "circle",
          { cx: x(point.speedup), cy: y(point.effect), r: 2 },
          svg(
            "title",
            {},
            `load ${result.load}, ${speedup(point.speedup)} faster: ${percent(point.effect)} %`,
          ),
        ),
      );
    }
    root.append(group);
    const end = result.fit.at(-1);
    if (end) labels.push({ at: y(clamp(end.effect, domain.low, domain.high)), text: result.load, colour });
  }
  root.append(...endLabels(labels, frame));
  return root;
}

function endLabels(labels: { at: number; text: string; colour: string }[], frame: Frame): SVGTextElement[] {
  const sorted = labels.sort((one, other) => one.at - other.at);
  // From the lowest upwards, each at least so far above the one below it.
  let floor = frame.height - frame.bottom + APART;
  for (const label of [...sorted].reverse()) {
    label.at = Math.min(label.at, floor - APART);
    floor = label.at;
  }
  return sorted.map(({ at, text, colour }) =>
    svg("text", { class: `level-name ${colour}`, x: frame.width - frame.right + 5, y: at + 4 }, text),
  );
}

function begin(pair: ScalingPair, frame: Frame, name: string): { root: SVGSVGElement; x: Scale; y: Scale } {
  const { right, low, high } = extentOf(pair);
  return {
    root: svg("svg", { class: name, viewBox: `0 0 ${frame.width} ${frame.height}` }),
    x: scaleLinear([0, right], [frame.left, frame.width - frame.right]),
    y: scaleLinear([low, high], [frame.height - frame.bottom, frame.top]),
  };
}

/** The first profile's on top. */
function sides(pair: ScalingPair): [Scaling, "a" | "b"][] {
  const found: [Scaling, "a" | "b"][] = [];
  if (pair.b) found.push([pair.b, "b"]);
  if (pair.a) found.push([pair.a, "a"]);
  return found;
}

/** Where a program that keeps up with its requests would be. */
function ideal(x: Scale, y: Scale): SVGLineElement {
  const end = Math.min(x.domain()[1] ?? 1, y.domain()[1] ?? 1);
  return svg("line", { class: "ideal", x1: x(0), y1: y(0), x2: x(end), y2: y(end) });
}

function saturation(scaling: Scaling, which: "a" | "b", frame: Frame, x: Scale, both: boolean): SVGGElement {
  const group = svg("g", { class: `saturation ${which}` });
  const found = scaling.saturation;
  if (!found || found.at === 0) return group;
  const end = x.domain()[1] ?? 1;
  const [left, right] = [x(clamp(found.low, 0, end)), x(clamp(found.high, 0, end))];
  const floor = frame.height - frame.bottom;
  const text = `${both ? `${which.toUpperCase()}: ` : ""}saturated from ${speedup(Math.round(100 * found.at) / 100)}`;
  const late = right > frame.width * 0.7;
  group.append(
    svg("rect", {
      x: left,
      y: frame.top,
      width: Math.max(right - left, 1.5),
      height: floor - frame.top,
    }),
    svg(
      "text",
      {
        x: late ? left - 6 : right + 6,
        y: floor - (which === "a" ? 10 : 26),
        "text-anchor": late ? "end" : "start",
      },
      text,
    ),
  );
  return group;
}

function drawSeries(root: SVGSVGElement, pair: ScalingPair, x: Scale, y: Scale, marked: boolean): void {
  const [low = 0, high = 1] = y.domain();
  const at = (value: number) =>
    y(clamp(Number.isFinite(value) ? value : Math.sign(value) * FARTHEST, low, high));
  for (const [scaling, which] of sides(pair)) {
    const known = scaling.levels.filter((level) => Number.isFinite(level.speedup));
    const group = svg("g", { class: `series ${which === "b" ? "other" : "gain"}` });
    const band = area<Level>(
      (level) => x(level.load),
      (level) => at(level.speedupLow),
      (level) => at(level.speedupHigh),
    );
    const curve = line<Level>(
      (level) => x(level.load),
      (level) => at(level.speedup),
    );
    group.append(
      svg("path", { class: "band", d: band(known) ?? "" }),
      svg("path", { class: "fit", d: curve(known) ?? "" }),
    );
    if (marked) for (const level of known) group.append(levelMark(level, x, at));
    root.append(group);
  }
}

function levelMark(level: Level, x: Scale, at: (value: number) => number): SVGGElement {
  const px = x(level.load);
  const tip = `load ${level.name}: ${percent(level.speedup)} % [${percent(level.speedupLow)}, ${percent(level.speedupHigh)}]`;
  const [low, high] = [at(level.speedupLow), at(level.speedupHigh)];
  return svg(
    "g",
    { class: "point" },
    svg("title", {}, tip),
    svg("rect", { class: "catch", x: px - 6, width: 12, y: high - 6, height: Math.abs(low - high) + 12 }),
    svg("line", { class: "interval", x1: px, x2: px, y1: low, y2: high }),
    svg("circle", { cx: px, cy: at(level.speedup), r: 3.2 }),
  );
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
