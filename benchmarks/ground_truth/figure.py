"""The comparison as a picture: a small panel for each program, and one of all predictions together."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator

from ground_truth.compare import Measured, Results, score

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 4
#: Okabe and Ito's palette, which readers of any colour vision can tell apart, one for each line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
INK, GREY, PALE = "#222222", "#666666", "#DDDDDD"
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9.0,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "axes.labelcolor": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
}


def write_figure(results: Results, path: Path) -> None:
    """Draw all tools: one picture, with a row of panels after the other for each tool."""
    with matplotlib.rc_context(STYLE):
        tools = results.tools
        rows = math.ceil((len(results.programs) + 1) / COLUMNS)
        height = 2.35 * rows * len(tools) + 0.9 * len(tools) + 0.3
        figure = Figure(figsize=(13.2, height), layout="constrained")
        FigureCanvasAgg(figure)
        parts = figure.subfigures(len(tools), 1, squeeze=False, hspace=0.03)[:, 0]
        for part, tool in zip(parts, tools, strict=True):
            grid = part.subplots(rows, COLUMNS, squeeze=False)
            draw_tool(list(grid.flat), results, tool)
            total = score(c for program in results.programs for c in program.comparisons(tool))
            part.suptitle(
                f"{tool}: predicted (points with 95 % intervals) and true (lines) effects of a faster line, "
                f"in per cent.\nMean error {total.mean:.2f}, largest {total.largest:.1f} points, "
                f"{100 * total.coverage:.0f} % of intervals hold the truth.",
                fontsize=10.5,
                fontweight="bold",
                color=INK,
                x=0.01,
                ha="left",
            )
        figure.savefig(path, dpi=130)


def draw_tool(panels: list[Axes], results: Results, tool: str) -> None:
    """The programs' panels, then the one of all together; what is left stays empty."""
    for axes, program in zip(panels, results.programs, strict=False):
        draw_program(axes, program, tool)
    draw_all(panels[len(results.programs)], results, tool)
    for axes in panels[len(results.programs) + 1 :]:
        axes.set_axis_off()


def draw_program(axes: Axes, program: Measured, tool: str) -> None:
    """A curve through the true effects of each line, and the predictions beside it."""
    comparisons = program.comparisons(tool)
    lines = list(dict.fromkeys(truth.line for truth in program.true.truths))
    axes.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    shown = [0.0]
    for index, line in enumerate(lines):
        colour = COLOURS[index % len(COLOURS)]
        truths = [truth for truth in program.true.truths if truth.line == line]
        axes.plot(
            [0, *(truth.speedup for truth in truths)],
            [0, *(truth.effect for truth in truths)],
            color=colour,
            linewidth=1.6,
            label=line,
            zorder=3,
        )
        made = [c.predicted for c in comparisons if c.true.line == line and c.predicted is not None]
        # Beside each other, so that intervals of different lines can be told apart.
        shift = 1.6 * (index - (len(lines) - 1) / 2)
        axes.errorbar(
            [p.speedup + shift for p in made],
            [p.effect for p in made],
            yerr=[[max(p.effect - p.low, 0) for p in made], [max(p.high - p.effect, 0) for p in made]],
            fmt="o",
            color=colour,
            markersize=4,
            markeredgecolor="white",
            markeredgewidth=0.6,
            elinewidth=0.9,
            zorder=4,
        )
        shown += [truth.effect for truth in truths] + [p.effect for p in made]
    # Wild intervals must not flatten the curves.
    margin = max(0.15 * (max(shown) - min(shown)), 4.0)
    axes.set_ylim(max(min(shown), -100) - margin, min(max(shown), 100) + margin)
    axes.set_xlim(0, 82)
    axes.xaxis.set_major_locator(MultipleLocator(25))
    axes.set_title(program.name, loc="left", fontsize=9.5, fontweight="bold", color=INK)
    axes.legend(fontsize=7.5, frameon=False, loc="upper left", handlelength=1.2, borderaxespad=0.1)
    axes.set_xlabel("speedup of the line", fontsize=8)
    _finish(axes)


def draw_all(axes: Axes, results: Results, tool: str) -> None:
    """Every prediction against its truth: on the diagonal if right."""
    made = [
        (c.true.effect, c.predicted.effect)
        for program in results.programs
        for c in program.comparisons(tool)
        if c.predicted is not None
    ]
    ends = [min((min(pair) for pair in made), default=0.0), max((max(pair) for pair in made), default=1.0)]
    axes.plot(ends, ends, color=GREY, linewidth=0.9, zorder=1)
    axes.plot(
        [true for true, _ in made],
        [predicted for _, predicted in made],
        "o",
        color=INK,
        markersize=3.5,
        alpha=0.6,
        markeredgewidth=0,
    )
    axes.set_title("all", loc="left", fontsize=9.5, fontweight="bold", color=INK)
    axes.set_xlabel("true effect", fontsize=8)
    axes.set_ylabel("predicted", fontsize=8)
    _finish(axes)


def _finish(axes: Axes) -> None:
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.grid(color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
