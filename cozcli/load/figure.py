"""Load as a picture: how a program scales (dissertation, figure 6.3), and lines at several loads (6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import PercentFormatter

from cozcli.analysis.load_result import Scalability
from cozcli.analysis.result import COMPLETED, LATENCY, Analysis, LineResult
from cozcli.load.shifts import selected_shifts
from cozcli.load.words import load_name
from cozcli.reports.base import common_directory, describe_runs, short_point
from cozcli.reports.elide import elide, elide_end, elide_path
from cozcli.reports.figure import literal
from cozcli.reports.targets import target_name
from cozcli.reports.theme import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Lines of which curves at several loads are drawn, at most.
MAX_LINES = 6
COLUMNS = 3
#: Sizes of text, in points.
HEADING, TITLE = 8, 9
MARK: Any = {"marker": "o", "markersize": 3.5, "linewidth": 1.4, "capsize": 2}


def has_levels(analysis: Analysis) -> bool:
    """Is there a load to draw, beside base load?"""
    return any(len(result.points) > 1 and result.has_base for result in analysis.shown_scalability)


def draw_load(analysis: Analysis, theme: Theme = LIGHT) -> Figure:
    """One panel for each progress point, then one for each line that changes most between loads."""
    points = [result for result in analysis.shown_scalability if len(result.points) > 1 and result.has_base]
    shifts = selected_shifts(analysis)[:MAX_LINES]
    number = len(points) + len(shifts)
    columns = min(COLUMNS, number)
    rows = -(-number // columns)
    size = (6.4, 4.2) if number == 1 else (3.9 * columns, 3.3 * rows + 0.7)
    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(h_pad=0.1, w_pad=0.1))
    heading = [literal(elide_end(line, 70 * size[0], HEADING)) for line in describe_runs(analysis)]
    figure.suptitle("\n".join(heading), x=0.02, ha="left", fontsize=HEADING, color=theme.grey)
    room = 72 * size[0] / columns - 50  # what the axes' labels leave
    prefix = common_directory([result.location for result in analysis.results])
    panels = figure.subplots(rows, columns, squeeze=False).flat
    # Panels come second: zip takes no further one when the first has ended.
    for result, axes in zip(points, panels, strict=False):
        name = elide(short_point(analysis, result.point, prefix), 0.8 * room, TITLE, "bold")
        _draw_scalability(axes, result, literal(name), theme)
    for shift, axes in zip(shifts, panels, strict=False):
        same = [result for result in analysis.results if result.key == shift.base.key]
        _draw_line(
            axes,
            analysis,
            same,
            literal(elide_path(target_name(shift.base, prefix), room, TITLE, "bold")),
            theme,
        )
    for axes in panels:
        axes.set_axis_off()
    return figure


def _draw_scalability(axes: Axes, result: Scalability, name: str, theme: Theme) -> None:
    loads = [point.load for point in result.points]
    speedups = [point.speedup for point in result.points]
    errors = [
        [max(0.0, point.speedup - point.speedup_low) for point in result.points],
        [max(0.0, point.speedup_high - point.speedup) for point in result.points],
    ]
    if result.kind != LATENCY:
        axes.plot([0, 1], [0, 1], color=theme.faint, linewidth=1, linestyle="--", zorder=1)
        axes.text(
            0.02,
            0.94,
            "dashed: keeps up with requests",
            color=theme.grey,
            fontsize=7,
            transform=axes.transAxes,
        )
    axes.errorbar(loads, speedups, yerr=errors, color=theme.gain, **MARK)
    limited = [point for point in result.points if point.is_limited]
    if limited and result.limit is not None:
        axes.plot(
            [point.load for point in limited],
            [point.speedup for point in limited],
            color=theme.paper,
            marker="o",
            markersize=2.5,
            linestyle="none",
            zorder=5,
        )
        axes.axvline(result.limit, color=theme.grey, linewidth=0.8, linestyle=":")
        axes.text(
            0.02,
            0.87,
            f"hollow: the receiving thread waits no more\n"
            f"(beyond {result.limit:.0%}); false if it serves them",
            color=theme.grey,
            fontsize=7,
            va="top",
            transform=axes.transAxes,
        )
    if result.saturation:
        axes.axvspan(result.saturation_low, result.saturation_high, color=theme.band, linewidth=0, zorder=0)
        axes.annotate(
            f"saturated from {result.saturation:.0%}",
            (result.saturation_high, 0.1),
            xycoords=("data", "axes fraction"),
            xytext=(4, 2),
            textcoords="offset points",
            fontsize=7.5,
            color=theme.ink,
        )
    kinds = {LATENCY: ", latency", COMPLETED: ", completed"}
    _frame(axes, f"{name}{kinds.get(result.kind, '')}", "Load: time between requests taken away", theme)
    axes.set_ylabel("Latency reduction" if result.kind == LATENCY else "Program speedup")
    axes.set_xlim(0, min(1.0, max(loads) * 1.08) or 1.0)
    # One window tells nothing of its interval, which is then endless.
    low = min(0.0, *(min(point.speedup, max(point.speedup_low, -1.0)) for point in result.points))
    high = max(0.05, *(max(point.speedup, min(point.speedup_high, 1.0)) for point in result.points))
    axes.set_ylim(low - 0.04 * (high - low), high + 0.1 * (high - low))


def _draw_line(
    axes: Axes, analysis: Analysis, results: Sequence[LineResult], name: str, theme: Theme
) -> None:
    ordered = sorted(results, key=lambda result: result.arrival_speedup)
    colours = matplotlib.colormaps[theme.loads]
    first, last = theme.loads_range
    for number, result in enumerate(ordered):
        colour = colours(first + (last - first) * number / max(1, len(ordered) - 1))
        errors = [
            [max(0.0, point.effect - point.low) for point in result.curve],
            [max(0.0, point.high - point.effect) for point in result.curve],
        ]
        axes.errorbar(
            [point.speedup for point in result.curve],
            [point.effect for point in result.curve],
            yerr=errors,
            color=colour,
            label=f"load {load_name(analysis, result.arrival_speedup)}",
            **MARK,
        )
    _frame(axes, name, "Line speedup", theme)
    axes.set_ylabel("Latency reduction" if results[0].kind == LATENCY else "Program speedup")
    axes.legend(fontsize=7, frameon=False, loc="upper left")


def _frame(axes: Axes, title: str, label: str, theme: Theme) -> None:
    axes.set_title(title, loc="left", fontsize=TITLE, fontweight="bold")
    axes.set_xlabel(label, fontsize=8)
    axes.axhline(0, color=theme.grey, linewidth=0.6)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
