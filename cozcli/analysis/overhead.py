"""What profiling itself costs, taken out of the effects.

A period p_0 measured under the profiler is longer than the program's own, P_0 = p_0/o: by the samples, and by
what the kernel does for them whenever it changes threads. The time that a virtual speedup saves, p_0 − p_s,
is longer as well, but only by the samples in the line, each of which takes c of its period P. So

    effect  =  (p_0 − p_s)·(1 − c/P) / P_0  =  (1 − p_s/p_0) · k,      k = o·(1 − c/P).

o is the median over blocks of what their baselines took against their reference window, in which sampling
pauses. c is measured by the runtime. k is 1 where a program only computes, and above 1 where its threads
change often. Where it mostly waits it would be a little below 1, by no more than c is known to: then it is
taken to be 1. Without reference windows (other profilers, `--end-to-end`, one event for each thread) k is 1.
docs/decisions/reference_windows.md has the evidence.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from cozcli.analysis.grouping import Floats, Series, Window, make_series, stolen_share
from cozcli.analysis.result import Overhead
from cozcli.analysis.speed import NO_RESPONSE, Response
from cozcli.profile.profile import Run
from cozcli.profile.records import ExperimentRecord

#: The "speedup" under which reference windows stand beside baselines.
REFERENCE = 1.0
#: What o is taken to be before anything is measured: its logarithm is 0 ± this.
PRIOR_ERROR = 0.1
#: Of the logarithm: profiling that slows a program down by more than half is not merely overhead.
MOST_SLOWDOWN = 0.4
#: The standard error of what a single block says; of more, bootstrap tells.
FREAK_ERROR = 0.1
REPLICATES = 200
#: A point and its kind.
PointKey = tuple[str, str]
#: Where nothing tells.
NO_OVERHEAD = Overhead()


def overheads(
    by_line: Mapping[str, Sequence[Window]],
    runs: Sequence[Run],
    responses: Mapping[PointKey, Response],
) -> dict[PointKey, Overhead]:
    """k of each point that reference windows saw.

    Args:
        responses: how the points' periods respond to the machine's speed (speed.py).
    """
    left = _share_left(runs)
    found = {}
    for series in _reference_series(by_line, runs):
        response = responses.get((series.point, series.kind), NO_RESPONSE)
        ratios, weights = _log_slowdowns(series, response)
        if len(ratios) == 0:
            continue
        rng = np.random.default_rng(len(ratios))
        drawn = rng.integers(0, len(ratios), size=(REPLICATES, len(ratios)))
        replicates = [weighted_median(ratios[rows], weights[rows]) for rows in drawn]
        # A single block says nothing about its own error.
        error = math.hypot(float(np.std(replicates)), FREAK_ERROR / len(ratios))
        believed = PRIOR_ERROR**2 / (PRIOR_ERROR**2 + error**2)
        log_slowdown = weighted_median(ratios, weights) * believed
        slowdown = math.exp(min(max(log_slowdown, 0.0), MOST_SLOWDOWN))
        factor = max(slowdown * left, 1.0)
        found[series.point, series.kind] = Overhead(slowdown, factor, error * math.sqrt(believed))
    return found


def weighted_median(values: Floats, weights: Floats) -> float:
    """The value below which half of the weight lies; values and weights are (N,), N > 0."""
    order = np.argsort(values)
    below = np.cumsum(weights[order]) - weights[order] / 2
    return float(np.interp(weights.sum() / 2, below, values[order]))


def _reference_series(by_line: Mapping[str, Sequence[Window]], runs: Sequence[Run]) -> list[Series]:
    """Reference windows (at `REFERENCE`) and the baselines of their blocks, a series for each point."""
    in_order = _in_order(by_line)
    windows = []
    for number, run in enumerate(runs):
        baselines = [window for window in in_order.get(number, []) if window.record.speedup == 0]
        strata = {window.record.block: window.stratum for window in baselines}
        for reference in run.references:
            if reference.block not in strata:
                continue
            record = ExperimentRecord(
                location="",
                speedup=REFERENCE,
                effective_duration=reference.effective_duration,
                block=reference.block,
                start=reference.start,
                points=reference.points,
            )
            slowness = _slowness_around(reference.start, in_order[number])
            stolen = stolen_share(reference)
            windows.append(Window(number, strata[reference.block], record, slowness, stolen))
        windows += baselines
    if not any(window.record.speedup == REFERENCE for window in windows):
        return []
    return make_series("", windows)


def _log_slowdowns(series: Series, response: Response) -> tuple[Floats, Floats]:
    """log(p_0/P_0) of each block, and how much it counts; both (blocks,).

    Baselines are brought to the machine's full speed. No probe tells of it in a reference window, which
    counts the less the slower the machine was around it; and the median minds no single ones.
    """
    ratios, weights = [], []
    usable = (series.numerator > 0) & (series.denominator > 0)
    logs = np.log(np.where(usable, series.numerator, 1.0) / np.where(usable, series.denominator, 1.0))
    discounts = response.weights(series.slowness, series.stolen)
    is_reference = series.speedup == REFERENCE
    logs = logs - response.stolen * series.stolen
    logs = np.where(is_reference, logs, logs - response.slowness * series.slowness)
    for stratum in np.unique(series.stratum[is_reference & usable]):
        own = is_reference & usable & (series.stratum == stratum)
        others = ~is_reference & usable & (series.stratum == stratum)
        if not others.any():
            continue
        baseline = float(np.average(logs[others], weights=discounts[others]))
        ratios.append(baseline - float(logs[own].mean()))
        weights.append(float(discounts[own].min() * discounts[others].mean()))
    return np.array(ratios), np.array(weights)


def _share_left(runs: Sequence[Run]) -> float:
    """1 − c/P: how much of a sampled thread's time samples leave to it."""
    shares = [
        1 - reference.sample_cost / run.record.period
        for run in runs
        for reference in run.references
        if 0 < reference.sample_cost < run.record.period
    ]
    return float(np.median(shares)) if shares else 1.0


def _slowness_around(start: int, windows: Sequence[Window]) -> float:
    """The machine's slowness in the worse of the windows before and after."""
    after = bisect_left(windows, start, key=lambda window: window.record.start)
    neighbours = windows[max(after - 1, 0) : after + 1]
    return max((abs(window.slowness) for window in neighbours), default=0.0)


def _in_order(by_line: Mapping[str, Sequence[Window]]) -> dict[int, list[Window]]:
    """The windows of each run, as they followed each other."""
    by_run: defaultdict[int, list[Window]] = defaultdict(list)
    for windows in by_line.values():
        for window in windows:
            if not window.borrowed:
                by_run[window.run].append(window)
    for windows in by_run.values():
        windows.sort(key=lambda window: window.record.start)
    return by_run
