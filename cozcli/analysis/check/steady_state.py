"""Had the program reached a steady state when a window was measured?

A speedup moves queues to another level, and while they fill or drain the pace is not the lasting one. The
first half of a window is compared with the second: log p_first − log p_second, less the same of the block's
baselines, which cancels what the machine does to both. In a steady state the mean is 0.

Where the runtime saw that a queue did not settle, and the pace that lasts is not known, the effect that lasts
lies between none and the one of the transient: the queue lends only a part of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from cozcli.analysis.input.series import Series
from cozcli.analysis.input.windows import POOL, Window
from cozcli.analysis.result import LineResult
from cozcli.analysis.statistics.clustered_regression import Coefficient, fit_through_origin
from cozcli.analysis.statistics.false_discovery import discoveries
from cozcli.profile.records import ExperimentRecord, ThroughputPoint

#: Rate of false marks.
MAX_FALSE_MARKS = 0.01
#: Halves that differ by less than this, per unit of speedup, do not matter.
MIN_DIFFERENCE = 0.1
#: With more transient windows than this share at a speedup, only bounds of its effect are known.
MAX_TRANSIENT = 0.5


def unsteady_results(by_target: Mapping[str, Sequence[Window]]) -> set[tuple[str, str]]:
    """(location, point) of all throughput results whose halves differ under speedups."""
    pairs = sorted(
        {
            (target, point.name)
            for target, windows in by_target.items()
            for window in windows
            for point in window.record.points
            if isinstance(point, ThroughputPoint) and point.half_visits > 0
        }
    )
    found = [_difference(by_target[target], name) for target, name in pairs]
    p_values = [
        1.0 if slope is None or abs(slope.estimate) < MIN_DIFFERENCE else slope.p_not_zero for slope in found
    ]
    marks = discoveries(p_values, MAX_FALSE_MARKS)
    return {pair for pair, mark in zip(pairs, marks, strict=True) if mark}


def transient_speedups(series: Series) -> frozenset[float]:
    """The speedups whose windows are mostly transient, with a lasting pace that is not known."""
    unknown = series.transient & ~series.lasting
    levels = np.unique(series.speedup[series.speedup > 0])
    return frozenset(float(s) for s in levels if unknown[series.speedup == s].mean() > MAX_TRANSIENT)


def is_only_bounded(series: Series) -> bool:
    """Is the effect that lasts unknown at every speedup?"""
    levels = {float(speedup) for speedup in series.speedup if speedup > 0}
    return bool(levels) and levels == transient_speedups(series)


def bounded(result: LineResult, series: Series) -> LineResult:
    """The result; where queues did not settle, intervals reach from none to the effect. If they did at no
    speedup, those of the slope and of the fit do, too.
    """
    transient = transient_speedups(series)
    curve = tuple(
        replace(point, low=min(point.low, 0.0), high=max(point.high, 0.0))
        if point.speedup in transient
        else point
        for point in result.curve
    )
    if not is_only_bounded(series):
        return replace(result, curve=curve)
    fit = replace(
        result.fit,
        low=tuple(min(low, 0.0) for low in result.fit.low),
        high=tuple(max(high, 0.0) for high in result.fit.high),
    )
    low, high = min(result.slope_low, 0.0), max(result.slope_high, 0.0)
    return replace(result, curve=curve, fit=fit, slope_low=low, slope_high=high)


def _difference(windows: Sequence[Window], name: str) -> Coefficient | None:
    """How much more the first half's log period is than the second's, per unit of speedup."""
    blocks: dict[int, list[tuple[float, float]]] = {}
    for window in windows:
        between = _between_halves(window.record, name)
        if window.stratum != POOL and between is not None and not window.record.is_transient:
            blocks.setdefault(window.stratum, []).append((window.record.speedup, between))
    x, y, block = [], [], []
    for number, members in blocks.items():
        base = [between for speedup, between in members if speedup == 0]
        for speedup, between in members:
            if base and speedup > 0:
                x.append(speedup)
                y.append(between - sum(base) / len(base))
                block.append(number)
    return fit_through_origin(np.array(x), np.array(y), np.ones(len(x)), np.array(block, dtype=np.int64))


def _between_halves(record: ExperimentRecord, name: str) -> float | None:
    for point in record.points:
        if isinstance(point, ThroughputPoint) and point.name == name and point.half_visits > 0:
            first = point.half_elapsed / point.half_visits
            second = (point.elapsed - point.half_elapsed) / (point.visits - point.half_visits)
            return math.log(first / second)
    return None
