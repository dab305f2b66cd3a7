/** One line's curve: small for the list, or with axes, points and intervals for the panel. */

import { type ScaleLinear, scaleLinear } from "d3-scale";
import { area, curveMonotoneX, line } from "d3-shape";
import { svg } from "./dom";
import { FEW_DATA } from "./filter";
import type { Band, Entry, Point, Quantile, Result } from "./model";
import { type Domain, spread } from "./scales";
import { interval, percent, speedup } from "./words";

/** The reading of points that were computed, not measured. */
const MODELLED = "modelled";

export type Scale = ScaleLinear<number, number>;

export interface Frame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Of the names of quantiles. */
const LABEL_HEIGHT = 12;

const SMALL: Frame = { width: 150, height: 64, left: 2, right: 2, top: 3, bottom: 3 };

/** A small curve without labels, on axes that all share. */
export function smallChart(entry: Entry, domain: Domain): SVGSVGElement {
  const { x, y } = scales(SMALL, domain);
  const root = svg("svg", {
    class: "small",
    viewBox: `0 0 ${SMALL.width} ${SMALL.height}`,
    "aria-hidden": "true",
  });
  root.append(zeroLine(SMALL, y));
  for (const [result, which] of series(entry)) {
    const group = svg("g", { class: styleOf(result, which, entry.b !== null) });
    group.append(bandPath(result, x, y, domain), fitPath(result, x, y, domain));
    const end = result.fit.at(-1);
    if (end && (end.effect > domain.high || end.effect < domain.low)) group.append(beyond(end, x, y, domain));
    root.append(group);
  }
  return root;
}

/** The panel's chart: both axes, every point with its interval and a tooltip. */
export function largeChart(entry: Entry, domain: Domain, width: number, label: string): SVGSVGElement {
  const frame = largeFrame(width);
  const { x, y } = scales(frame, domain);
  const root = svg("svg", {
    class: "large",
    viewBox: `0 0 ${frame.width} ${frame.height}`,
    role: "img",
    "aria-label": "Effect by speedup; the table below has the numbers",
  });
  drawAxes(root, frame, x, y, { x: "if this were faster by …", y: label });
  for (const [result, which] of series(entry)) {
    const group = svg("g", { class: styleOf(result, which, entry.b !== null) });
    group.append(bandPath(result, x, y, domain), fitPath(result, x, y, domain));
    // Others are read from the curve.
    const points = result.curve.filter((point) => point.speedup > 0 && point.experiments > 0);
    group.append(...points.map((point) => pointMark(point, result.reading, x, y, domain)));
    group.append(...quantileMarks(result.quantiles, frame, x, y, domain));
    root.append(group);
  }
  return root;
}

/** The room of a chart with axes. */
export function largeFrame(width: number): Frame {
  return {
    width,
    height: Math.round(Math.min(320, Math.max(220, 0.55 * width))),
    left: 52,
    right: 24,
    top: 26,
    bottom: 40,
  };
}

/** What is drawn, the first profile's on top. */
function series(entry: Entry): [Result, "a" | "b"][] {
  const found: [Result, "a" | "b"][] = [];
  if (entry.b) found.push([entry.b, "b"]);
  if (entry.a) found.push([entry.a, "a"]);
  return found;
}

/** The classes of a curve: orange (`harm`) for contention, unless compared. */
export function styleOf(result: Result, which: "a" | "b", compared: boolean): string {
  // Beside another, a curve has the colour of its profile.
  const direction = compared
    ? "gain"
    : result.contention
      ? "harm"
      : result.slopeLow > 0 && !result.caveat
        ? "gain"
        : "unclear";
  const few = result.marks.includes(FEW_DATA) ? " few" : "";
  const measured = result.curve.some((point) => point.speedup > 0 && point.experiments > 0);
  const companion = measured ? "" : " companion";
  return `series ${which === "b" ? "other" : direction}${few}${companion}`;
}

export function scales(frame: Frame, domain: Domain): { x: Scale; y: Scale } {
  return {
    x: scaleLinear([0, domain.right], [frame.left, frame.width - frame.right]),
    y: scaleLinear([domain.low, domain.high], [frame.height - frame.bottom, frame.top]),
  };
}

function within(domain: Domain, effect: number): number {
  return Math.min(Math.max(effect, domain.low), domain.high);
}

export function bandPath(result: Result, x: Scale, y: Scale, domain: Domain): SVGPathElement {
  const draw = area<Band>(
    (p) => x(p.speedup),
    (p) => y(within(domain, p.low)),
    (p) => y(within(domain, p.high)),
  ).curve(curveMonotoneX);
  return svg("path", { class: "band", d: draw(result.fit) ?? "" });
}

export function fitPath(result: Result, x: Scale, y: Scale, domain: Domain): SVGPathElement {
  const draw = line<Band>(
    (p) => x(p.speedup),
    (p) => y(within(domain, p.effect)),
  ).curve(curveMonotoneX);
  return svg("path", { class: "fit", d: draw(result.fit) ?? "" });
}

/** Broken lines through the measured effects on quantiles, and their names at the ends. */
function quantileMarks(all: Quantile[], frame: Frame, x: Scale, y: Scale, domain: Domain): SVGElement[] {
  const draw = line<Band>(
    (p) => x(p.speedup),
    (p) => y(within(domain, p.effect)),
  );
  const ends = all.flatMap((of) => of.points.at(-1) ?? []);
  const heights = spread(
    ends.map((end) => y(within(domain, end.effect)) - 5),
    LABEL_HEIGHT,
    frame.height - frame.bottom,
  );
  const label = (of: Quantile, end: Band, i: number) =>
    svg(
      "text",
      { class: "tick of-quantile", x: x(end.speedup) - 2, y: heights[i] ?? 0, "text-anchor": "end" },
      of.name,
    );
  const shown = all.filter((of) => of.points.length > 0);
  return [
    ...shown.map((of, i) => svg("path", { class: `quantile q-${i}`, d: draw(of.points) ?? "" })),
    ...shown.flatMap((of, i) => (ends[i] ? [label(of, ends[i], i)] : [])),
  ];
}

export function zeroLine(frame: Frame, y: Scale): SVGLineElement {
  return svg("line", { class: "zero", x1: frame.left, x2: frame.width - frame.right, y1: y(0), y2: y(0) });
}

/** A triangle at the edge, for a value that lies beyond it. */
function beyond(point: Band, x: Scale, y: Scale, domain: Domain): SVGPathElement {
  const up = point.effect > domain.high;
  const [px, py, d] = [x(point.speedup), y(up ? domain.high : domain.low), up ? 5 : -5];
  return svg("path", { class: "beyond", d: `M${px - 4},${py + d}L${px + 4},${py + d}L${px},${py}Z` });
}

function pointMark(point: Point, reading: string, x: Scale, y: Scale, domain: Domain): SVGGElement {
  const px = x(point.speedup);
  const low = y(within(domain, point.low));
  const high = y(within(domain, point.high));
  const outside = point.effect > domain.high || point.effect < domain.low;
  const tip = `${speedup(point.speedup)} faster: ${percent(point.effect)} ${interval(point)} %, ${reading === MODELLED ? "not measured: estimated from shares of processor time" : `experiments: ${point.experiments}`}`;
  return svg(
    "g",
    { class: "point" },
    svg("title", {}, tip),
    // Something to point at that is wider than the mark.
    svg("rect", {
      class: "catch",
      x: px - 6,
      width: 12,
      y: Math.min(high, low) - 6,
      height: Math.abs(low - high) + 12,
    }),
    svg("line", { class: "interval", x1: px, x2: px, y1: low, y2: high }),
    outside ? beyond(point, x, y, domain) : symbol(px, y(point.effect), reading),
  );
}

/** A dot; an open diamond for what was not measured. */
function symbol(x: number, y: number, reading: string): SVGElement {
  if (reading !== MODELLED) return svg("circle", { cx: x, cy: y, r: 3.2 });
  return svg("path", {
    class: "modelled",
    d: `M${x - 4.5},${y}L${x},${y - 4.5}L${x + 4.5},${y}L${x},${y + 4.5}Z`,
  });
}

/** Ticks, grid, and what the axes are called. */
export function drawAxes(
  root: SVGSVGElement,
  frame: Frame,
  x: Scale,
  y: Scale,
  labels: { x: string; y: string },
): void {
  const floor = frame.height - frame.bottom;
  for (const tick of y.ticks(6)) {
    const at = y(tick);
    root.append(
      svg("line", {
        class: tick === 0 ? "zero" : "grid",
        x1: frame.left,
        x2: frame.width - frame.right,
        y1: at,
        y2: at,
      }),
      svg(
        "text",
        { class: "tick", x: frame.left - 6, y: at + 3.5, "text-anchor": "end" },
        tickLabel(tick, y),
      ),
    );
  }
  for (const tick of x.ticks(frame.width < 480 ? 4 : 8)) {
    const at = x(tick);
    root.append(
      svg("line", { class: "grid", x1: at, x2: at, y1: frame.top, y2: floor }),
      svg("text", { class: "tick", x: at, y: floor + 15, "text-anchor": "middle" }, speedup(tick)),
    );
  }
  root.append(
    svg(
      "text",
      {
        class: "label",
        x: (frame.left + frame.width - frame.right) / 2,
        y: frame.height - 5,
        "text-anchor": "middle",
      },
      labels.x,
    ),
    svg(
      "text",
      {
        class: "label",
        x: 4,
        y: 14,
      },
      labels.y,
    ),
  );
}

function tickLabel(tick: number, y: Scale): string {
  const [low = 0, high = 1] = y.domain();
  return tick === 0 ? "0 %" : `${percent(tick, high - low < 0.06 ? 1 : 0)} %`;
}
