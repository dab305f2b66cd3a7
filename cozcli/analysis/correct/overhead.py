"""Takes what profiling itself costs out of effects.

A period p_0 measured under the profiler is longer than the program's own, P_0 = p_0/o: by the samples, and by
what the kernel does for them whenever it changes threads. The time that a virtual speedup saves, p_0 − p_s,
is longer as well, but only by the samples in the line, each of which takes c of its sampling period P. So

    effect  =  (p_0 − p_s)·(1 − c/P) / P_0  =  (1 − p_s/p_0) · k,      k = o·(1 − c/P).

o is the median over blocks of what their baselines took against their reference window, in which sampling
pauses. What companions saved in baselines is put back: by their shares, of which a target saves a part that
is taken to be the same for all. Windows with a partner are left out. The runtime measures c. k is 1 where a
program only computes, and above 1 where its threads change often. Where it mostly waits, k would be a little
below 1, by no more than the error of c; then it is taken to be 1. Without reference windows (other profilers,
`--end-to-end`, one event for each thread) k is 1. Windows beside moved queues do not count.

A thread that starts costs the kernel a copy of the event, in reference windows too. And where short threads
take turns, cores idle between them, and wake up the later, the longer they idled. So in programs that start
threads all the time effects were 6 % too small, up to 10 %: k may be off by as much.
docs/decisions/reference_windows.md has the evidence.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from types import MappingProxyType

import numpy as np

from cozcli.analysis import messages
from cozcli.analysis.correct.machine_speed import bring_to_full_speed
from cozcli.analysis.correct.protocol import Context
from cozcli.analysis.input.partners import records_without_partner
from cozcli.analysis.input.series import Factor, Series, make_series
from cozcli.analysis.input.slowness import NO_RESPONSE, Response, stolen_share
from cozcli.analysis.input.targets import shares_of_time
from cozcli.analysis.input.windows import Window
from cozcli.analysis.result import THROUGHPUT, Overhead, PointKey
from cozcli.analysis.statistics.arrays import Bools, Floats
from cozcli.analysis.statistics.weighted import weighted_median
from cozcli.errors import Problem
from cozcli.profile.profile import Run
from cozcli.profile.records import ExperimentRecord, ReferenceRecord

#: The "speedup" under which reference windows stand beside baselines.
REFERENCE = 1.0
#: Costs of changing threads are mentioned if they make a visit longer by this part.
COSTLY = 0.06
#: What o is taken to be before anything is measured: its logarithm is 0 ± this.
PRIOR_ERROR = 0.1
#: Of the logarithm: profiling that slows a program down by more than half is not merely overhead.
MAX_SLOWDOWN = 0.4
#: The standard error of what a single block says. Of several blocks the bootstrap tells.
ERROR_OF_ONE_BLOCK = 0.1
REPLICATES = 200
#: Of k, as a standard error, in programs that start more threads than so many in a second.
ERROR_OF_STARTS, MANY_STARTS = 0.05, 20.0
#: A speedup moves queues if it changes the period by this part; they lend if the pace changes by this part.
MOVED, LENT = 0.05, 0.1
#: Companions save no more than this part of a period; if shares say so, they are wrong.
MAX_SAVED = 0.5
#: Where nothing is measured.
NO_OVERHEAD = Overhead()
#: Where no target is known to save anything.
NOTHING_SAVED: Mapping[PointKey, float] = MappingProxyType({})


class OverheadOfSamples:
    """The correction; reads `Context.responses`, writes `Context.overheads`."""

    def adjust(self, all_series: Sequence[Series], context: Context) -> list[Series]:
        """The series with the factor k of their progress point."""
        saved = _parts_saved(all_series, context)
        moved = _records_of_moved_queues(all_series, context)
        found = measure_overheads(context.by_target, context.runs, context.responses, saved, moved)
        if moved:
            seen = make_series("", _references_and_baselines(context.by_target, context.runs, ()))
            unknown = {series.key for series in seen} - found.keys()
            found |= dict.fromkeys(sorted(unknown), Overhead(error=PRIOR_ERROR))
        context.overheads.update(found)
        if not context.of_windows_only and _starts_many_threads(context.runs):
            for key, overhead in context.overheads.items():
                error = math.hypot(overhead.error, ERROR_OF_STARTS)
                context.overheads[key] = replace(overhead, error=error)
        of_series = [context.overheads.get(series.key, NO_OVERHEAD) for series in all_series]
        return [
            series.multiplied(Factor(overhead.factor, overhead.error))
            for series, overhead in zip(all_series, of_series, strict=True)
        ]


def warn_of_costly_switches(overheads: Mapping[PointKey, Overhead], runs: Sequence[Run]) -> list[Problem]:
    """Of throughput points: a faster line may save what it costs to change threads, or not."""
    if not any(run.record.sampling.startswith("perf") for run in runs):
        return []
    return [
        messages.costly_switches(point, overhead.factor)
        for (point, kind), overhead in overheads.items()
        if kind == THROUGHPUT and overhead.factor - 1 >= max(COSTLY, 2 * overhead.error)
    ]


def measure_overheads(
    by_target: Mapping[str, Sequence[Window]],
    runs: Sequence[Run],
    responses: Mapping[PointKey, Response],
    saved: Mapping[PointKey, float] = NOTHING_SAVED,
    left_out: Collection[int] = (),
) -> dict[PointKey, Overhead]:
    """The overhead of each point that reference windows saw.

    Args:
        by_target: usable windows. responses: how the points' periods respond to the machine's speed.
        saved: what part of its share a target saves, on average. left_out: ids of records.
    """
    left = _share_left(runs)
    found = {}
    windows = _references_and_baselines(by_target, runs, left_out)
    doses = _doses(windows, runs)
    for series in make_series("", windows):
        response = responses.get(series.key, NO_RESPONSE)
        put_back = -np.log1p(-np.minimum(doses * saved.get(series.key, 0.0), MAX_SAVED))
        ratios, weights = _log_slowdowns(series, response, put_back)
        if len(ratios) == 0:
            continue
        rng = np.random.default_rng(len(ratios))
        drawn = rng.integers(0, len(ratios), size=(REPLICATES, len(ratios)))
        replicates = [weighted_median(ratios[rows], weights[rows]) for rows in drawn]
        # The bootstrap of a single block knows no error.
        error = math.hypot(float(np.std(replicates)), ERROR_OF_ONE_BLOCK / len(ratios))
        believed = PRIOR_ERROR**2 / (PRIOR_ERROR**2 + error**2)
        log_slowdown = weighted_median(ratios, weights) * believed
        slowdown = math.exp(min(max(log_slowdown, 0.0), MAX_SLOWDOWN))
        factor = max(slowdown * left, 1.0)
        found[series.key] = Overhead(slowdown, factor, error * math.sqrt(believed))
    return found


def _records_of_moved_queues(all_series: Sequence[Series], context: Context) -> set[int]:
    """The ids of windows in which queues may lend visits, and of those that follow them.

    A speedup fills or drains a queue, and what is measured next lives on it: a reference window has no flows
    by which that could be corrected.
    """
    moving: set[int] = set()
    for series in all_series:
        if series.lasting.any():
            windows = context.by_target[series.location]
            moves = series.transient | _has_effect(series, context) | _is_lent(series, windows, context)
            moving |= {id(window.record) for window, each in zip(windows, moves, strict=True) if each}
    if not moving:
        return moving
    alone = {id(record) for _, record in records_without_partner(context.runs)}
    usable = {id(window.record) for windows in context.by_target.values() for window in windows}
    found = set(moving)
    for run in context.runs:
        has_moved = False
        records: list[ExperimentRecord | ReferenceRecord] = [*run.experiments, *run.references]
        for record in sorted(records, key=lambda record: record.start):
            moved_before = has_moved
            if isinstance(record, ExperimentRecord):
                is_dropped = record.speedup > 0 and id(record) not in usable
                has_partner = id(record) not in alone
                has_moved = id(record) in moving or has_partner or record.is_transient or is_dropped
            if has_moved or moved_before:
                found.add(id(record))
    return found


def _has_effect(series: Series, context: Context) -> Bools:
    """At whose speedups is the period another one? (N,)"""
    ratios = context.period_ratios([series])
    changed = [
        speedup
        for speedup in np.unique(series.speedup[series.speedup > 0])
        if not abs(ratios.get((series.location, float(speedup)), 0.0) - 1) < MOVED
    ]
    return np.isin(series.speedup, changed)


def _is_lent(series: Series, windows: Sequence[Window], context: Context) -> Bools:
    """In which windows was the pace another than the one that lasts? (N,)"""
    (raw,) = (each for each in make_series(series.location, windows) if each.key == series.key)
    raw = bring_to_full_speed(raw, context.responses)
    with np.errstate(divide="ignore", invalid="ignore"):
        change = raw.numerator * series.denominator / (raw.denominator * series.numerator)
    return series.lasting & ~(np.abs(change - 1) < LENT)


def _parts_saved(all_series: Sequence[Series], context: Context) -> dict[PointKey, float]:
    """By throughput point: what targets save by themselves, as a part of what their shares allow; 0 to 1."""
    shares = shares_of_time(context.runs)
    parts = {}
    for key in {series.key for series in all_series if series.kind == THROUGHPUT}:
        ratios = context.period_ratios([series for series in all_series if series.key == key])
        known = [
            (shares[target][0] * speedup, 1 - ratio)
            for (target, speedup), ratio in ratios.items()
            if speedup > 0 and target in shares
        ]
        allowed = sum(each for each, _ in known)
        if allowed > 0:
            parts[key] = min(max(sum(saved for _, saved in known) / allowed, 0.0), 1.0)
    return parts


def _doses(windows: Sequence[Window], runs: Sequence[Run]) -> Floats:
    """Sums of speedup × share over the companions of each window; shape (windows,)."""
    shares = shares_of_time(runs)
    locations = [{number: target.location for number, target in run.targets.items()} for run in runs]
    return np.array(
        [
            sum(
                each.speedup * shares.get(locations[window.run].get(each.number, ""), (0.0, 0.0))[0]
                for each in window.record.companions
            )
            for window in windows
        ]
    )


def _references_and_baselines(
    by_target: Mapping[str, Sequence[Window]], runs: Sequence[Run], left_out: Collection[int]
) -> list[Window]:
    """Reference windows (at `REFERENCE`) and the baselines of their blocks; nothing without the former."""
    in_order = _in_order(by_target)
    alone = {id(record) for _, record in records_without_partner(runs)}
    windows = []
    for number, run in enumerate(runs):
        baselines = [
            window
            for window in in_order.get(number, [])
            if window.record.speedup == 0 and id(window.record) in alone and id(window.record) not in left_out
        ]
        strata = {window.record.block: window.stratum for window in baselines}
        for reference in run.references:
            if reference.block not in strata or id(reference) in left_out:
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
    return windows if any(window.record.speedup == REFERENCE for window in windows) else []


def _log_slowdowns(series: Series, response: Response, put_back: Floats) -> tuple[Floats, Floats]:
    """log(p_0/P_0) of each block, and how much it counts; both (blocks,). put_back: to each window's log p.

    All are brought to the machine's full speed. No probe runs in a reference window: its neighbours tell how
    slow the machine was. The slower, the less it counts. The median is robust against single windows.
    """
    ratios, weights = [], []
    usable = series.has_visits
    logs = np.log(np.where(usable, series.numerator, 1.0) / np.where(usable, series.denominator, 1.0))
    discount = response.weights(series.slowness, series.stolen)
    is_reference = series.speedup == REFERENCE
    logs = logs + put_back - response.stolen * series.stolen - response.slowness * series.slowness
    for stratum in np.unique(series.stratum[is_reference & usable]):
        own = is_reference & usable & (series.stratum == stratum)
        others = ~is_reference & usable & (series.stratum == stratum)
        if not others.any():
            continue
        baseline = float(np.average(logs[others], weights=discount[others]))
        ratios.append(baseline - float(logs[own].mean()))
        weights.append(float(discount[own].min() * discount[others].mean()))
    return np.array(ratios), np.array(weights)


def _starts_many_threads(runs: Sequence[Run]) -> bool:
    known = [run.samples for run in runs if run.samples is not None]
    seconds = sum(samples.duration for samples in known) / 1e9
    return sum(samples.threads for samples in known) > MANY_STARTS * seconds > 0


def _share_left(runs: Sequence[Run]) -> float:
    """1 − c/P: the part of a sampled thread's time that samples leave to it."""
    shares = [
        1 - reference.sample_cost / run.record.period
        for run in runs
        for reference in run.references
        if 0 < reference.sample_cost < run.record.period
    ]
    return float(np.median(shares)) if shares else 1.0


def _slowness_around(start: int, windows: Sequence[Window]) -> float:
    """The machine's slowness: the mean of the windows before and after."""
    after = bisect_left(windows, start, key=lambda window: window.record.start)
    neighbours = windows[max(after - 1, 0) : after + 1]
    return fmean(window.slowness for window in neighbours) if neighbours else 0.0


def _in_order(by_target: Mapping[str, Sequence[Window]]) -> dict[int, list[Window]]:
    """The windows of each run, in order of time."""
    by_run: defaultdict[int, list[Window]] = defaultdict(list)
    for windows in by_target.values():
        for window in windows:
            if not window.is_of_other_target:
                by_run[window.run].append(window)
    for windows in by_run.values():
        windows.sort(key=lambda window: window.record.start)
    return by_run
