"""Takes out of periods what queues give while they drain, and what they take while they fill.

Behind a long queue, a stage that becomes faster lives on the queue's items until it is empty. Its pace then
is not one that lasts: once the queue is empty, it is the pace of the stage before. Windows are often shorter
than that, and a queue of a thousand items can outlast the run.

Stage v passes the progress point. With

    F_i                                              items that pass stage i (stage_flows.py)
    C_i  =  F_i / (1 − share of time waited)         items that would, if it never waited

a steady state has F_i = F_v for every stage, and a pace of min C_i, but for what short queues cost. So
windows at one target and speedup count by that stage's C_i, if it lags behind v, unless it lags as much where
waits tie it to v: work that moved to another stage makes a stage lag for good. If baselines of a target count
by C_i, so do its other windows in which that stage is the slowest. If none lags, and many windows were not in
steady state, all count as they are: to leave some out by what queues did would be to choose.

Where a stage has waited in the run, but never again after its start, nobody knows how its queue will end:
such windows count as transient. Where no wait ever tied a stage to v, nothing is known of it, and nothing is
corrected.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cozcli.analysis.correct.protocol import Context
from cozcli.analysis.correct.stage_flows import StageFlow, stages_of
from cozcli.analysis.input.flows import Half, RunFlows, flows_by_run
from cozcli.analysis.input.series import Series
from cozcli.analysis.result import THROUGHPUT
from cozcli.analysis.statistics.arrays import Bools, Floats

MAX_WAIT = 0.2  # a stage that waits for more of its time may not be the one that sets the pace
MAX_WAIT_IN_WINDOW = 0.5  # a window in which it waited for more does not tell what it could pass
MIN_HALVES = 3  # fewer halves prove no lag
#: A stage lags if F_i is below F_v by this share at least; in windows that seem to be in steady state.
MIN_LAG, MIN_STEADY_LAG = 0.02, 0.01
#: Where waits tie it to v in more than this part of the halves, by more than so many standard errors, too.
NEARLY_ALL_TIED, LAG_ERRORS = 0.97, 3.0
#: In fewer halves a lag while tied may be chance, whatever its standard error.
MIN_TIED_HALVES = 8
#: A lag decays if first halves of windows have more of it than second halves, by this share at least.
MIN_DECAY = 0.2
#: Fewer items of stage v in a window say nothing of chance in its visits.
MIN_ITEMS = 2
#: The share of halves in which waits tie a stage to v that is enough to trust the pace.
MIN_TIED = 0.5
#: The share of windows at one target and speedup that may be transient or cut.
MAX_UNSETTLED = 0.2
#: With so many windows in steady state at a speedup, those that were not are left out.
MIN_STEADY = 4

#: Target and position of a window.
WindowKey = tuple[str, int]


class QueueFlow:
    """The correction."""

    def adjust(self, all_series: Sequence[Series], context: Context) -> list[Series]:
        """The series with the visits that their windows would have had in a steady state."""
        runs = flows_by_run(context.runs, context.by_target)
        points = {series.point for series in all_series if series.kind == THROUGHPUT}
        rates = {point: lasting_rates(runs, point) for point in points}
        return [
            _without_transient(_apply(series, rates[series.point]) if series.kind == THROUGHPUT else series)
            for series in all_series
        ]


def _apply(series: Series, rates: Mapping[WindowKey, float]) -> Series:
    lasting = np.array([rates.get((series.location, i), -1.0) for i in range(len(series.speedup))])
    corrected = lasting >= 0
    series = replace(series, transient=series.transient | np.isnan(lasting))
    if not corrected.any():
        return series
    # Over whole windows: between two visits, windows in which a queue became empty would count by their pace.
    elapsed = np.where(corrected, series.effective, series.numerator)
    visits = np.where(corrected, elapsed * lasting, series.denominator)
    lent = _largest_lent(series, corrected, elapsed, visits)
    return replace(series, numerator=elapsed, denominator=visits, lasting=corrected, lent=lent)


def _largest_lent(series: Series, corrected: Bools, elapsed: Floats, visits: Floats) -> float:
    """Which part of the visits queues lent, or took, at the speedup where it was most."""
    most = 0.0
    for speedup in np.unique(series.speedup[corrected]):
        at = corrected & (series.speedup == speedup)
        measured = series.denominator[at].sum() * elapsed[at].sum()
        if measured > 0:
            most = max(most, abs(visits[at].sum() * series.numerator[at].sum() / measured - 1))
    return float(most)


def _without_transient(series: Series) -> Series:
    """Windows that opened in a transient count nothing where enough others can stand for them.

    Nor do they where they are too few to judge, and other speedups of the target are known. They stay in
    their places, for series go with the windows of their target.
    """
    excluded = np.zeros(len(series.speedup), dtype=bool)
    unknown = series.transient & ~series.lasting
    for speedup in np.unique(series.speedup[unknown]):
        at = series.speedup == speedup
        is_few = speedup > 0 and 2 * np.count_nonzero(at) < MIN_HALVES
        if np.count_nonzero(at & ~unknown) >= MIN_STEADY or (is_few and series.lasting.any()):
            excluded |= at & unknown
    if not excluded.any():
        return series
    kept: dict[str, Any] = {
        name: np.where(excluded, 0.0, getattr(series, name))
        for name in ("numerator", "denominator", "time", "weight")
    }
    return replace(series, transient=series.transient & ~excluded, **kept)


def lasting_rates(runs: Iterable[RunFlows], point: str) -> dict[WindowKey, float]:
    """Visits in an effective ns that last, of all windows in which a queue lends or takes some.

    Not a number where nobody knows.
    """
    found: dict[WindowKey, float] = {}
    for run in runs:
        found.update(_of_run(run, point))
    return found


def _of_run(run: RunFlows, point: str) -> dict[WindowKey, float]:
    stretches = [stretch for stretch in run.stretches if point in stretch.flow.visits]
    halves = [half for half in run.halves if point in half.flow.visits]
    stages = stages_of(stretches, point)
    if stages is None:
        return {}
    flows, passing = stages.flows, stages.passing
    by_speedup: defaultdict[tuple[str, float], list[Half]] = defaultdict(list)
    for half in halves:
        by_speedup[half.target, half.window.record.speedup].append(half)
    found: dict[WindowKey, float] = {}
    few: list[Half] = []
    of_baselines: dict[str, int] = {}  # the stages that baselines of targets count by
    for (target, speedup), members in sorted(by_speedup.items()):  # a target's baselines first
        if any(_share_tied(members, stage, passing) < MIN_TIED for stage in stages.apart):
            found.update({(half.target, half.position): float("nan") for half in members})
            continue
        if len(members) < MIN_HALVES:
            few += members
            continue
        slowest = _slowest(members, flows)
        if slowest is None:
            continue
        is_unsettled = _is_unsettled(members)
        lag = _lag(members, flows[slowest], flows[passing])
        seems_steady = not is_unsettled and _share_tied(members, slowest, passing) > NEARLY_ALL_TIED
        chance = _standard_error_of_lag(members, flows[slowest], flows[passing]) if seems_steady else 0.0
        lags = lag > max(MIN_LAG if is_unsettled else MIN_STEADY_LAG, LAG_ERRORS * chance) and _passes(
            members, flows, slowest, passing, lag
        )
        if lags and speedup == 0:
            of_baselines[target] = slowest
        lags = lags or of_baselines.get(target) == slowest
        if lags or is_unsettled:
            found.update(_rates_of(members, flows, slowest if lags else None, passing, point))
    not_as_measured = {target for target, _ in found}
    unknown = [half for half in few if half.target in not_as_measured]
    return found | {(half.target, half.position): float("nan") for half in unknown}


def _is_unsettled(halves: Sequence[Half]) -> bool:
    records = [half.window.record for half in halves]
    return bool(np.mean([r.is_transient or r.is_cut or r.settling < 0 for r in records]) > MAX_UNSETTLED)


def _capacity(halves: Sequence[Half], flow: StageFlow, stage: int) -> float:
    """Items that the stage could pass if it never waited."""
    busy = 1 - _waited(halves, stage)
    return flow.sum(halves) / busy if busy > 0 else float("inf")


def _waited(halves: Sequence[Half], stage: int) -> float:
    return float(np.mean([half.waited(stage) for half in halves]))


def _share_tied(halves: Sequence[Half], stage: int, passing: int) -> float:
    return float(np.mean([stage in half.tied_to(passing) for half in halves]))


def _slowest(halves: Sequence[Half], flows: Mapping[int, StageFlow]) -> int | None:
    """The stage that can pass the fewest items, at one target and speedup."""
    candidates = [
        (_capacity(halves, flow, stage), stage)
        for stage, flow in flows.items()
        if _waited(halves, stage) <= MAX_WAIT
    ]
    return min(candidates)[1] if candidates else None


def _lag(halves: Sequence[Half], flow: StageFlow, passing: StageFlow) -> float:
    """By how much of F_v a stage falls behind."""
    passed = passing.sum(halves)
    return 1 - flow.sum(halves) / passed if passed > 0 else 0.0


def _passes(
    halves: Sequence[Half], flows: Mapping[int, StageFlow], stage: int, passing: int, lag: float
) -> bool:
    """Is the lag one of queues? Then there is less of it where waits have tied the stage to v for a while.

    Work that moved makes a stage lag for good, as much in second halves of windows as in first ones. A few
    items in tied windows do not show that.
    """
    firsts, seconds = _tied_throughout(halves, stage, passing)
    if len(seconds) < MIN_TIED_HALVES:
        return True
    own, passed = flows[stage], flows[passing]
    second, error = _lag(seconds, own, passed), _standard_error_of_lag(seconds, own, passed)
    decayed = _lag(firsts, own, passed) - second > max(error, MIN_DECAY * second)
    return decayed or second - 2 * error < lag / 2


def _standard_error_of_lag(halves: Sequence[Half], flow: StageFlow, passing: StageFlow) -> float:
    """That of a ratio of sums (Cochran 1977, section 6.4)."""
    own = np.array([flow.items(half) for half in halves])
    passed = np.array([passing.items(half) for half in halves])
    if passed.sum() <= 0:
        return 0.0
    residuals = own - own.sum() / passed.sum() * passed
    return float(np.sqrt(residuals @ residuals * len(halves) / (len(halves) - 1)) / passed.sum())


def _tied_throughout(halves: Sequence[Half], stage: int, passing: int) -> tuple[list[Half], list[Half]]:
    """First and second halves of windows both halves of which are tied."""
    tied = [half for half in halves if stage in half.tied_to(passing)]
    firsts = {(half.target, half.position): half for half in tied if half.first}
    seconds = [half for half in tied if not half.first and (half.target, half.position) in firsts]
    return [firsts[half.target, half.position] for half in seconds], seconds


def _rates_of(
    halves: Sequence[Half], flows: Mapping[int, StageFlow], slowest: int | None, passing: int, point: str
) -> dict[WindowKey, float]:
    """Rates by C_i of the slowest stage; None: as measured.

    If items of v are counted by its work, chance in that, for each visit, is taken out.
    """
    windows: defaultdict[WindowKey, list[Half]] = defaultdict(list)
    for half in halves:
        windows[half.target, half.position].append(half)
    found = {}
    for key, members in windows.items():
        effective = sum(half.effective for half in members)
        visits = sum(half.visits(point) for half in members)
        if effective <= 0:
            # At 100 %, while the queue lasts: all visits live on it, and no time counts in which others come.
            found[key] = 0.0
            continue
        if slowest is None:
            found[key] = visits / effective
            continue
        if _waited(members, slowest) > MAX_WAIT_IN_WINDOW:
            found[key] = float("nan")
            continue
        passed = flows[passing].sum(members)
        chance = visits / passed if passed > MIN_ITEMS else 1.0
        found[key] = _capacity(members, flows[slowest], slowest) * chance / effective
    return found
