"""The sweep over environment sizes with its pages folded, and the layouts among which the default stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from cozcli.bias.report import Report
from cozcli.bias.result import PAGE, slow_sizes
from cozcli.reports.theme import LIGHT, Theme, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Bytes that two labels are wide, which may lie towards each other.
_LABELS = 1300
_PERCENT = FuncFormatter(lambda value, _: f"{100 * value:+.3g} %" if abs(value) > 1e-9 else "0 %")


def write_figure(report: Report, path: Path, theme: Theme = LIGHT) -> None:
    """Draw into a file that ends in .png, .svg or .pdf.

    Raises:
        OSError: it cannot be written.
    """
    with matplotlib.rc_context(theme.style()):
        figure = Figure(figsize=(9.0, 3.3), layout="constrained")
        FigureCanvasAgg(figure)
        sweep, layouts = figure.subplots(1, 2, width_ratios=(1.7, 1.0))
        _draw_sweep(sweep, report, theme)
        _draw_layouts(layouts, report, theme)
        for axes in (sweep, layouts):
            axes.spines[["top", "right"]].set_visible(False)
        save(figure, path)


def _draw_sweep(axes: Axes, report: Report, theme: Theme) -> None:
    times = report.bias.sweep.times
    for page, color, marker in ((0, theme.gain, "o"), (PAGE, theme.harm, "x")):
        sizes = sorted(size for size in times if page <= size < page + PAGE)
        axes.plot(
            [size - page for size in sizes],
            [times[size] - 1 for size in sizes],
            marker,
            color=color,
            markersize=2.6,
            markeredgewidth=0.8,
            label="first page" if page == 0 else "second page",
        )
    for residues in _neighbours(slow_sizes(report.bias.aliasing)):
        top = max(times.get(residue + page, 1.0) for residue in residues for page in (0, PAGE)) - 1
        side = 1 if PAGE - residues[-1] > residues[0] else -1
        axes.annotate(
            f"{', '.join(map(str, residues))} bytes",
            (residues[0 if side < 0 else -1], top),
            (8 * side, -3),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            fontsize=8.0,
        )
    axes.set_xlim(-60, PAGE + 60)
    axes.xaxis.set_major_locator(MultipleLocator(1024))
    axes.yaxis.set_major_formatter(_PERCENT)
    axes.set_xlabel("Bytes added to the environment, modulo 4096")
    axes.set_ylabel("Time over the median")
    axes.legend(frameon=False, fontsize=8.0, loc="upper center", ncols=2, bbox_to_anchor=(0.5, 1.14))


def _neighbours(residues: Sequence[int]) -> list[list[int]]:
    """Those whose labels would overlap."""
    found: list[list[int]] = []
    for residue in sorted(residues):
        if found and residue - found[-1][-1] < _LABELS:
            found[-1].append(residue)
        else:
            found.append([residue])
    return found


def _draw_layouts(axes: Axes, report: Report, theme: Theme) -> None:
    layouts = [layout - 1 for layout in report.bias.layouts]
    axes.hist(layouts, bins=24, color=theme.faint)
    axes.axvline(0, color=theme.harm, linewidth=1.6)
    axes.annotate(
        "default",
        (0, 1),
        (4, -2),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        va="top",
        color=theme.warning,
    )
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(_PERCENT)
    axes.set_xlabel("Time over the default's")
    axes.set_ylabel("Random layouts")
