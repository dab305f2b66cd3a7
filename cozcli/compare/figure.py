"""Comparisons as pictures, from the documents of `coz compare --json`.

- Two programs: their ratio with its interval; each pair's ratio in the order in which pairs ran; a QQ plot of
  the runs (the paper's Fig. 5).
- A suite: for each program and treatment the ratio to the baseline with its interval (Fig. 6 and 7), and the
  control.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from scipy import stats

from cozcli.messages import printable
from cozcli.reports.figure import literal
from cozcli.reports.theme import Theme, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Rows of a suite stand so far apart, in inches.
_ROW = 0.3
_BINS = 24
#: What panels of a page show.
_RATIOS = "How B differs from A, by each metric, with 95 % intervals. Filled: certainly faster or slower."
_DISTRIBUTION = "All runs. Lines are medians. Pairs tell more: what slows a pair's two runs alike is in both."
_PAIRS = "Each pair's ratio. The band is the interval of all. A trend would show that the machine changed."
_QUANTILES = "Runs on the line are distributed normally. The verdict does not need that; a t-test does."


def draw_into(draw: Callable[[], Figure], path: Path, theme: Theme) -> None:
    """Draw in the theme's style and write the file."""
    with matplotlib.rc_context(theme.style()):
        save(draw(), path)


def draw_comparison(document: dict[str, Any], theme: Theme) -> Figure:
    """Ratio, pairs in order, and QQ plot. Imported runs have the ratio only."""
    comparisons = document["comparisons"]
    blocks = document.get("blocks", [])
    figure = Figure(figsize=(10.5 if blocks else 4.5, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    if not blocks:
        _ratios(figure.subplots(), comparisons, theme)
        return figure
    axes = figure.subplots(1, 3, width_ratios=(1, 1.25, 1))
    _ratios(axes[0], comparisons, theme)
    name = comparisons[0]["metric"]
    a, b = (np.log([block[side][name] for block in blocks]) for side in (0, 1))
    _in_order(axes[1], b - a, comparisons[0], theme)
    _quantiles(axes[2], {"A": a, "B": b}, theme)
    names = [literal(printable(" ".join(side["command"]))[:60]) for side in document["sides"][:2]]
    figure.suptitle(f"A: {names[0]}    B: {names[1]}", fontsize=9)
    return figure


def panels(document: dict[str, Any]) -> list[tuple[str, str, Callable[[Theme], Figure]]]:
    """For a page: title, what it shows, and what draws it. Imported runs have the ratio only."""
    comparisons = document["comparisons"]
    blocks = document.get("blocks", [])
    found: list[tuple[str, str, Callable[[Axes, Theme], None]]] = [
        ("Ratio", _RATIOS, lambda axes, theme: _ratios(axes, comparisons, theme))
    ]
    if blocks:
        name = comparisons[0]["metric"]
        a, b = (np.log([block[side][name] for block in blocks]) for side in (0, 1))
        sides = {"A": a, "B": b}
        found += [
            ("Distribution", _DISTRIBUTION, lambda axes, theme: _distribution(axes, sides, theme)),
            ("Pairs", _PAIRS, lambda axes, theme: _in_order(axes, b - a, comparisons[0], theme)),
            ("QQ plot", _QUANTILES, lambda axes, theme: _quantiles(axes, sides, theme)),
        ]
    return [(title, caption, _alone(draw)) for title, caption, draw in found]


def _alone(draw: Callable[[Axes, Theme], None]) -> Callable[[Theme], Figure]:
    def figure(theme: Theme) -> Figure:
        made = Figure(figsize=(5.0, 3.3), layout="constrained")
        FigureCanvasAgg(made)
        draw(made.subplots(), theme)
        return made

    return figure


def _ratios(axes: Axes, comparisons: Sequence[dict[str, Any]], theme: Theme) -> None:
    axes.axhline(0, color=theme.grey, linewidth=0.9)
    for place, each in enumerate(comparisons):
        _interval(axes, place, each, theme, vertical=True)
    axes.set_xticks(range(len(comparisons)), [literal(each["metric"]) for each in comparisons])
    axes.set_xlim(-0.7, len(comparisons) - 0.3)
    rates = [each.get("more_is_better", False) for each in comparisons]
    better = " (more is better)" if all(rates) else "" if any(rates) else " (less is better)"
    axes.set_ylabel(f"B against A{better}")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.margins(y=0.2)
    axes.set_title("Ratio, 95 % interval", fontsize=9)
    _plain(axes, theme)


def _interval(
    axes: Axes, place: float, each: dict[str, Any], theme: Theme, vertical: bool, marker: str = "o"
) -> None:
    """A point with its interval, as a change; filled where it is shown to be faster or slower."""
    value, low, high = (each[key] - 1 for key in ("ratio", "low", "high"))
    colour = {"faster": theme.gain, "slower": theme.harm}.get(each["verdict"], theme.grey)
    reach = [[value - low], [high - value]]
    is_open = each["verdict"] not in ("faster", "slower")
    axes.errorbar(
        [place] if vertical else [value],
        [value] if vertical else [place],
        xerr=None if vertical else reach,
        yerr=reach if vertical else None,
        fmt=marker,
        color=colour,
        markersize=5,
        markerfacecolor=theme.paper if is_open else colour,
        elinewidth=1.2,
    )


def _in_order(axes: Axes, d: np.ndarray, comparison: dict[str, Any], theme: Theme) -> None:
    axes.axhspan(
        comparison["low"] - 1, comparison["high"] - 1, color=theme.gain, alpha=theme.band_alpha, lw=0
    )
    axes.axhline(0, color=theme.grey, linewidth=0.9)
    axes.plot(range(1, len(d) + 1), np.expm1(d), ".", color=theme.ink, markersize=5)
    axes.set_xlabel("pair, in the order of time")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_title(f"Pairs ({literal(comparison['metric'])})", fontsize=9)
    _plain(axes, theme)


def _distribution(axes: Axes, sides: dict[str, np.ndarray], theme: Theme) -> None:
    """Each side's runs against A's median, as a histogram; a line at each median."""
    middle = float(np.median(sides["A"]))
    runs = {name: np.expm1(values - middle) for name, values in sides.items()}
    every = np.concatenate(list(runs.values()))
    edges = np.histogram_bin_edges(every, bins=min(_BINS, max(8, len(every) // 3)))
    for (name, values), colour in zip(runs.items(), (theme.ink, theme.gain), strict=True):
        axes.hist(values, bins=list(edges), color=colour, alpha=0.35, label=name)
        axes.axvline(float(np.median(values)), color=colour, linewidth=1.4)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("run against the median of A")
    axes.set_ylabel("runs")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title("Distribution of the runs", fontsize=9)
    axes.legend(frameon=False, fontsize=8)
    _plain(axes, theme)


def _quantiles(axes: Axes, sides: dict[str, np.ndarray], theme: Theme) -> None:
    """Runs against the normal distribution, by standard deviations; a line of slope 1 is normal."""
    for (name, values), marker, colour in zip(sides.items(), "os", (theme.ink, theme.gain), strict=False):
        deviation = float(np.std(values, ddof=1))
        if not deviation > 0:
            continue
        expected = stats.norm.ppf((np.arange(1, len(values) + 1) - 0.5) / len(values))
        found = np.sort(values - np.mean(values)) / deviation
        p = float(stats.shapiro(values).pvalue)
        axes.plot(
            expected,
            found,
            marker,
            color=colour,
            markersize=4,
            fillstyle="none",
            label=f"{name}, p = {p:.2g}",
        )
    ends = [-2.2, 2.2]
    axes.plot(ends, ends, color=theme.grey, linewidth=0.9)
    axes.set_xlabel("normal quantile")
    axes.set_title("QQ plot of the runs (p: Shapiro–Wilk)", fontsize=9)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8)
    _plain(axes, theme)


def draw_suite(document: dict[str, Any], theme: Theme) -> Figure:
    """A panel for each treatment; a row for each program, and one for all."""
    first = document["comparisons"][0]["metric"]
    more_is_better = document["comparisons"][0].get("more_is_better", False)
    panels = {
        name: [
            each for each in document["comparisons"] if (each["treatment"], each["metric"]) == (name, first)
        ]
        for name in document["treatments"][1:]
    }
    controls = [each for each in document["controls"] if each["metric"] == first]
    panels[f"{document['baseline']} again (control)"] = controls
    means = {each["treatment"]: each for each in document["anova"] if each["low"] is not None}
    programs = [each["program"] for each in controls]
    figure = Figure(figsize=(2.0 + 2.6 * len(panels), 1.4 + _ROW * (len(programs) + 1)), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, (name, cells) in zip(grid, panels.items(), strict=True):
        axes.axvline(0, color=theme.grey, linewidth=0.9)
        for each in cells:
            _interval(axes, programs.index(each["program"]), each, theme, vertical=False)
        if name in means:
            mean = means[name]
            shown = mean["p"] < 0.05
            is_better = (mean["ratio"] < 1) != more_is_better
            verdict = "inconclusive" if not shown else "faster" if is_better else "slower"
            _interval(axes, len(programs), {**mean, "verdict": verdict}, theme, False, "D")
        axes.set_title(literal(name), fontsize=9)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        _plain(axes, theme)
    grid[0].set_yticks(range(len(programs) + 1), [*map(literal, programs), "all"])
    grid[0].invert_yaxis()
    _limit(grid, panels, programs)
    noun = {"cpu": "processor time", "wall": "wall time", "memory": "peak memory"}.get(first, first)
    figure.supxlabel(
        f"{literal(noun)} against {literal(document['baseline'])}, 95 % intervals; filled: faster or slower "
        "(Holm)",
        fontsize=8.5,
    )
    return figure


def _limit(grid: Sequence[Axes], panels: dict[str, list[dict[str, Any]]], programs: Sequence[str]) -> None:
    """The same scale everywhere, but for panels that need a larger one."""
    reach = [
        max((abs(each[key] - 1) for each in cells for key in ("low", "high")), default=0.01)
        for cells in panels.values()
    ]
    usual = sorted(reach)[len(reach) // 2]
    for axes, most in zip(grid, reach, strict=True):
        limit = 1.1 * max(usual, most)
        if math.isfinite(limit) and limit > 0:
            axes.set_xlim(-limit, limit)
        axes.set_ylim(len(programs) + 0.6, -0.6)


def _plain(axes: Axes, theme: Theme) -> None:
    axes.grid(color=theme.pale, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
