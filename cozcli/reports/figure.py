"""The causal profile as a picture: one small panel per line and progress point, on shared axes.

Panels are sorted by slope, throughput before latency. Axes are shared by all panels of one kind, so
that heights can be compared. They are made for the results that can be relied on; what lies beyond them
is marked by a triangle at the edge. Results of few data are grey. Curves of lines that were companions only
are dotted and have no points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator, MultipleLocator, PercentFormatter

from cozcli.analysis.rank.ranking import by_slope
from cozcli.analysis.result import DOUBTS, LATENCY, THROUGHPUT, Analysis, CurvePoint, LineResult, Mark
from cozcli.errors import CozError
from cozcli.messages import printable
from cozcli.reports import messages
from cozcli.reports.base import (
    SIGNIFICANT,
    common_directory,
    describe_runs,
    short_point,
    signed,
)
from cozcli.reports.elide import elide, elide_end, elide_path, text_width
from cozcli.reports.extension import extensions_of
from cozcli.reports.reading import MODELLED, OF_A_PICTURE, Reading, reading_of
from cozcli.reports.tails import label_of
from cozcli.reports.targets import function_cell, target_name
from cozcli.reports.theme import LIGHT, Theme, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Panels on one page of a PDF; pictures of the other kinds have one page of any height.
PDF_PAGE = 12

Limits = tuple[float, float]

#: Intervals wider than this say so little that no room is made for them.
MAX_INTERVAL = 0.8
#: How far results of few data may extend the axes that others need.
MAX_EXTENSION = 1.25
#: Points of one line of small text above a panel.
TEXT_LINE = 11.5
#: Of a curve without points.
DOTTED = (0, (1.0, 1.3))
#: Of the curves of quantiles, the lowest first.
QUANTILE_DASHES = ((1.0, 1.5), (3.0, 1.5), (7.0, 2.0))

Y_LABELS = {THROUGHPUT: "Program speedup", LATENCY: "Latency reduction"}


def write_figure(analysis: Analysis, path: Path, left_out: int = 0, theme: Theme = LIGHT) -> None:
    """Draw the results into a file that ends in .png, .svg or .pdf.

    The heading says how many results were left out.

    Raises:
        CozError: there is no curve at all.
        OSError: the file cannot be written.
    """
    results = [r for r in by_slope(analysis.results) if r.kind == THROUGHPUT]
    results += [r for r in by_slope(analysis.results) if r.kind != THROUGHPUT]
    with matplotlib.rc_context(theme.style()):
        if not results:
            raise CozError(messages.nothing_to_draw())
        if path.suffix.lower() != ".pdf":
            save(draw_page(analysis, results, results, left_out, theme), path)
            return
        with PdfPages(path, metadata={"CreationDate": None}) as pages:
            for start in range(0, len(results), PDF_PAGE):
                shown = results[start : start + PDF_PAGE]
                pages.savefig(draw_page(analysis, shown, results, left_out, theme))


def write_extension(analysis: Analysis, path: Path, theme: Theme = LIGHT) -> bool:
    """Draw what an extension has to show instead, as of load; False if there is nothing."""
    with matplotlib.rc_context(theme.style()):
        for each in extensions_of(analysis):
            if (figure := each.draw(theme)) is not None:
                save(figure, path)
                return True
    return False


def draw_page(
    analysis: Analysis,
    shown: Sequence[LineResult],
    everything: Sequence[LineResult],
    left_out: int,
    theme: Theme,
) -> Figure:
    """One page of panels; the axes are those of `everything`, so that pages compare."""
    columns = columns_for(len(shown))
    rows = math.ceil(len(shown) / columns)
    several_points = len({(result.point, result.kind) for result in everything}) > 1
    panel = {1: (6.4, 3.7), 2: (4.4, 2.9)}.get(columns, (3.25, 2.35))
    panel = (panel[0], panel[1] + (TEXT_LINE / 72 if several_points else 0.0))
    # Inches kept free for the heading above and the axis label below.
    head, foot = 0.95 + 0.17 * len(explain_points(everything)), 0.42
    height = rows * panel[1] + head + foot
    layout = ConstrainedLayoutEngine(
        rect=(0.005, foot / height, 0.985, 1 - (head + foot) / height), h_pad=0.1, w_pad=0.08
    )
    figure = Figure(figsize=(columns * panel[0] + 0.4, height), layout=layout)
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False)
    kinds = {result.kind for result in everything}
    limits = {kind: y_limits([r for r in everything if r.kind == kind]) for kind in kinds}
    right = 1.03 * max(max((r.curve[-1].speedup, *r.fit.speedup)) for r in everything)
    prefix = common_directory([result.location for result in everything])
    # Points along the top of a panel's axes, next to which its tick labels stand.
    room = 72 * (panel[0] - 0.85)
    for index, axes in enumerate(grid.flat):
        if index >= len(shown):
            axes.set_axis_off()
            continue
        result = shown[index]
        draw_panel(axes, result, limits[result.kind], right, theme)
        draw_title(axes, result, prefix, room, several_points, theme)
        if index + columns < len(shown):
            axes.tick_params(labelbottom=False)
        if index % columns and len(kinds) == 1:
            axes.tick_params(labelleft=False)
        if index % columns == 0 or result.kind != shown[index - 1].kind:
            axes.set_ylabel(Y_LABELS[result.kind], fontsize=8.5)
    draw_frame(figure, analysis, everything, kinds, height, left_out, theme)
    return figure


def columns_for(panels: int) -> int:
    """How many panels stand side by side."""
    if panels == 1:
        return 1
    if panels <= 4:
        return 2
    return 3 if panels <= 15 else 4


def y_limits(results: Sequence[LineResult]) -> Limits:
    """Room for every effect, interval and band that can be relied on, and not much more for others.

    From −5 to +15 % at least, and between −100 and +100 % at most, and a margin: one very wide interval,
    or one line of few data, would flatten all other panels.
    """
    reliable = [result for result in results if not has_few_data(result)] or results
    low, high = extent(reliable)
    all_low, all_high = extent(results)
    low, high = max(all_low, MAX_EXTENSION * low, -1.0), min(all_high, MAX_EXTENSION * high, 1.0)
    margin = 0.05 * (high - low)
    return low - margin, high + margin


def extent(results: Sequence[LineResult]) -> Limits:
    """The least and the greatest value of points, intervals and bands, but for the widest of these."""
    ends = [-0.05, 0.15]
    for result in results:
        ends += [point.effect for point in result.curve]
        ends += [point.effect for quantile in result.quantiles for point in quantile.curve]
        intervals = [(point.low, point.high) for point in result.curve]
        intervals += zip(result.fit.low, result.fit.high, strict=True)
        ends += [
            end for interval in intervals if interval[1] - interval[0] <= MAX_INTERVAL for end in interval
        ]
    return min(ends), max(ends)


def has_few_data(result: LineResult) -> bool:
    """May this be no more than one unusual moment of the machine?"""
    return Mark.FEW_DATA in result.marks


def is_combined(results: Sequence[LineResult]) -> bool:
    """Does the picture need to say what combined windows mean?"""
    return any(result.is_combined for result in results)


def explain_points(results: Sequence[LineResult]) -> list[str]:
    """Lines that say what points are, where these were not measured by themselves."""
    modelled = any(reading_of(result) is Reading.MODELLED for result in results)
    return [*([OF_A_PICTURE] if is_combined(results) else []), *([MODELLED] if modelled else [])]


def draw_panel(axes: Axes, result: LineResult, limits: Limits, right: float, theme: Theme) -> None:
    """Band, curve, points with intervals, zero line, and what makes the result doubtful."""
    colour = theme.faint if has_few_data(result) else theme.harm if result.contention else theme.gain
    low, high = limits
    fit = result.fit
    axes.axhline(0, color=theme.grey, linewidth=0.9, zorder=1)
    axes.fill_between(
        fit.speedup, fit.low, fit.high, color=colour, alpha=theme.band_alpha, linewidth=0, zorder=2
    )
    line: Any = theme.harm_line if result.contention else "-"
    points = [point for point in result.curve if point.speedup > 0 and point.experiments > 0]
    if not points:
        line = DOTTED
    axes.plot(fit.speedup, fit.effect, color=colour, linewidth=1.7, linestyle=line, zorder=3)
    is_modelled = reading_of(result) is Reading.MODELLED
    is_open = is_modelled or (result.contention and theme.harm_points_open)
    inside = [point for point in points if low <= point.effect <= high]
    axes.errorbar(
        [point.speedup for point in inside],
        [point.effect for point in inside],
        yerr=[
            [max(point.effect - point.low, 0.0) for point in inside],
            [max(point.high - point.effect, 0.0) for point in inside],
        ],
        fmt="D" if is_modelled else "o",
        color=colour,
        markersize=4.2,
        markerfacecolor=theme.paper if is_open else colour,
        markeredgecolor=colour if is_open else theme.paper,
        markeredgewidth=1.0 if is_open else 0.6,
        elinewidth=0.9,
        ecolor=(*matplotlib.colors.to_rgb(colour), 0.55),
        capsize=0,
        zorder=4,
    )
    for point in points:
        draw_what_lies_beyond(axes, point, limits, colour)
    if doubted := [mark.value for mark in result.marks if mark in DOUBTS]:
        write_in_a_free_corner(axes, "\n".join(doubted), result, limits, right, theme)
    draw_quantiles(axes, result, limits, theme)
    axes.set_xlim(0, right)
    axes.set_ylim(low, high)
    axes.xaxis.set_major_locator(MultipleLocator(0.25) if right > 0.55 else MaxNLocator(4))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(color=theme.pale, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def draw_quantiles(axes: Axes, result: LineResult, limits: Limits, theme: Theme) -> None:
    """Measured effects on quantiles of the latency, joined by broken lines.

    An interval that is longer than the panel is left out: it would look like a line of the grid.
    """
    low, high = limits
    for quantile, dashes in zip(result.quantiles, QUANTILE_DASHES, strict=False):
        points = quantile.curve
        axes.plot(
            [point.speedup for point in points],
            [point.effect for point in points],
            color=theme.ink,
            linewidth=1.1,
            linestyle=(0, dashes),
            label=label_of(quantile),
            zorder=3.5,
        )
        inside = [point for point in points if point.high - point.low <= high - low]
        axes.vlines(
            [point.speedup for point in inside],
            [max(point.low, low) for point in inside],
            [min(point.high, high) for point in inside],
            color=(*matplotlib.colors.to_rgb(theme.ink), 0.55),
            linewidth=0.7,
            zorder=3.5,
        )
    if result.quantiles:
        legend = axes.legend(loc="lower right", fontsize=7.5, handlelength=2.6, labelspacing=0.2)
        legend.get_frame().set(facecolor=theme.paper, edgecolor="none", alpha=0.8)


def write_in_a_free_corner(
    axes: Axes, text: str, result: LineResult, limits: Limits, right: float, theme: Theme
) -> None:
    """What makes a result doubtful, where the fewest points and intervals are."""
    low, high = limits
    room = 0.1 * (text.count("\n") + 1)

    def crossed(is_right: bool, is_top: bool) -> int:
        bottom, top = (high - room * (high - low), high) if is_top else (low, low + room * (high - low))
        beside = [p for p in result.curve if (p.speedup > 0.5 * right) == is_right]
        return sum(p.low < top and p.high > bottom for p in beside)

    corners = [(False, True), (False, False), (True, False), (True, True)]
    is_right, is_top = min(corners, key=lambda corner: crossed(*corner))
    axes.text(
        0.98 if is_right else 0.02,
        0.97 if is_top else 0.03,
        text,
        ha="right" if is_right else "left",
        va="top" if is_top else "bottom",
        color=theme.warning,
        fontsize=8.0,
        transform=axes.transAxes,
        zorder=6,
    )


def draw_what_lies_beyond(axes: Axes, point: CurvePoint, limits: Limits, colour: str) -> None:
    """At the edge, a triangle for a point that is not on the panel, a small one for an interval's end."""
    low, high = limits
    markers = {}
    if point.low < low:
        markers["v"] = 3.0
    if point.high > high:
        markers["^"] = 3.0
    if not low <= point.effect <= high:
        markers = {"v" if point.effect < low else "^": 6.0}
    for marker, size in markers.items():
        axes.plot(
            [point.speedup],
            [low if marker == "v" else high],
            marker=marker,
            color=colour,
            markersize=size,
            clip_on=False,
            zorder=5,
        )


def draw_title(
    axes: Axes, result: LineResult, prefix: str, room: float, with_point: bool, theme: Theme
) -> None:
    """Location in bold, with what is special in words; below it function and slope, and the point."""
    marks = ["contention"] if result.contention else []
    marks += [Mark.FEW_DATA.value] if has_few_data(result) else []
    mark = ", ".join(marks)
    location = printable(target_name(result, prefix))
    location = elide_path(location, room - (text_width(mark, 8.0) + 8 if mark else 0), 9.5, "bold")
    slope = f"slope {signed(result.slope, 2 if abs(result.slope) < 100 else 0)}"
    slope += SIGNIFICANT if result.significant else ""
    slope = slope.replace("-", "\N{MINUS SIGN}")
    function = elide(printable(function_cell(result).strip("-")), room - text_width(slope, 8.0) - 8, 8.0)
    height = 4.0 + (TEXT_LINE if with_point else 0.0)
    title = height + 14
    small: Any = {"fontsize": 8.0, "xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
    axes.set_title(literal(location), loc="left", fontsize=9.5, fontweight="bold", color=theme.ink, pad=title)
    colour = theme.warning if result.contention else theme.grey
    axes.annotate(mark, (1.0, 1.0), (0.0, title - 1.5), color=colour, ha="right", **small)
    axes.annotate(literal(function), (0.0, 1.0), (0.0, height), color=theme.grey, ha="left", **small)
    axes.annotate(slope, (1.0, 1.0), (0.0, height), color=colour, ha="right", **small)
    if with_point:
        point = printable(result.point) + (" (latency)" if result.kind != THROUGHPUT else "")
        point = elide(f"→ {point}", room, 8.0)
        axes.annotate(literal(point), (0.0, 1.0), (0.0, 4.0), color=theme.grey, ha="left", **small)


def draw_frame(
    figure: Figure,
    analysis: Analysis,
    results: Sequence[LineResult],
    kinds: set[str],
    height: float,
    left_out: int,
    theme: Theme,
) -> None:
    """Heading, what the axes mean, and how to read the marks."""
    program, profile = (printable(line) for line in describe_runs(analysis))
    # The folder is long, and says more about the machine than about the program.
    folder = next((run.program for run in analysis.runs if run.program), "").rpartition("/")[0]
    program = program.removeprefix("Program: ").removeprefix(f"{printable(folder)}/")
    wide = 72 * figure.get_figwidth() - 26
    left = 0.18 / figure.get_figwidth()
    heading = elide_end(f"Causal profile of {program}", wide, 12, "bold")
    figure.text(left, 1 - 0.32 / height, literal(heading), fontsize=12, fontweight="bold", color=theme.ink)
    effect = "Effect on throughput" if kinds == {THROUGHPUT} else "Effect"
    points = list(dict.fromkeys((result.point, result.kind) for result in results))
    prefix = common_directory([result.location for result in results])
    of = f" at “{printable(short_point(analysis, points[0][0], prefix))}”" if len(points) == 1 else ""
    if kinds == {"latency"}:
        effect = "Effect on latency"
    what = f"{effect}{of} if a line were faster; above 0 is better."
    figure.text(left, 1 - 0.54 / height, literal(elide_path(what, wide, 9)), fontsize=9, color=theme.ink)
    curves = f"; {len(results)} of {len(results) + left_out} curves" if left_out else ""
    marks = (
        f" {SIGNIFICANT}: differs from 0, corrected for all lines."
        if any(r.significant for r in results)
        else ""
    )
    intervals = "" if is_combined(results) else " Points and band: 95 % intervals."
    quantiles = " Broken lines: quantiles of the latency." if any(r.quantiles for r in results) else ""
    details = [f"{profile.removeprefix('Profile: ')}{curves}.{intervals}{marks}{quantiles}"]
    details += explain_points(results)
    for number, detail in enumerate(details):
        text = literal(elide_end(detail, wide, 8))
        figure.text(left, 1 - (0.73 + 0.17 * number) / height, text, fontsize=8, color=theme.grey)
    figure.text(0.5, 0.16 / height, "Virtual speedup of the line", ha="center", fontsize=9.5, color=theme.ink)


def literal(text: str) -> str:
    """Keep matplotlib from reading `$` as mathematics."""
    return printable(text).replace("$", r"\$")
