"""Takes out of periods what queues give while they drain, and what they take while they fill.

Behind a long queue, a stage that becomes faster lives on the queue's items until it is empty. Its pace then
is not one that lasts: once the queue is empty, it is the pace of the stage before. Windows are often shorter
than that, and a queue of a thousand items can outlast the run.

Each stage needs the same work for an item, whatever is sped up: processor time, and releases of locks. With
w_i the work of stage i for each unit of what passes the progress point, in stage v, a steady state has

    F_i  =  (work of stage i) / w_i  =  F_v,      for every stage.

While a queue drains, the stages before it have F_i < F_v. Nobody waits at that queue, so they work as fast as
they can, as they will when it is empty, and F_i/F_v times the measured rate is the rate that lasts. While a
queue fills, the stages behind it are the slower ones, and the same holds.

The windows of a target at one speedup are corrected by the least F_i/F_v, of stages that

* are tied to v by chains of waits in other halves of windows, from which w_i is known, the same for baselines
  and speedups;
* do not wait, and lag: F_i < F_v beyond chance, over all windows;
* lag more in those halves in which no chain of waits ties them to v. Work that moved to another stage of the
  same queue goes on for good, and leaves the ties.

Where no wait ties a stage to v in any window, nothing is known of it, and nothing is corrected.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cozcli.analysis.correct.protocol import Context
from cozcli.analysis.input.flows import Half, halves_by_run
from cozcli.analysis.input.series import Series
from cozcli.analysis.result import THROUGHPUT
from cozcli.analysis.statistics.arrays import Floats

#: A stage that waits for more than this share of its time does not work as fast as it can.
MAX_WAIT = 0.1
#: Stages that need less than this share of the program's processor time are not looked at.
MIN_WORK = 0.01
#: w_i may differ so much between baselines and speedups: the logarithm.
MAX_CHANGE = 0.15
#: Fewer halves than this prove no lag.
MIN_HALVES = 3
#: A stage lags if F_i is below F_v by this share at least, and by so many standard errors.
MIN_LAG, LAG_ERRORS = 0.02, 2.5
#: w_i is known from at least so many halves.
MIN_TIED = 4

#: Target and position of a window.
WindowKey = tuple[str, int]
Measure = Callable[[Half], float]


class QueueFlow:
    """The correction."""

    def adjust(self, all_series: Sequence[Series], context: Context) -> list[Series]:
        """The series with the visits that their windows would have had in a steady state."""
        runs = list(halves_by_run(context.by_target).values())
        points = {series.point for series in all_series if series.kind == THROUGHPUT}
        factors = {point: lasting_rates(runs, point) for point in points}
        return [
            _apply(series, factors[series.point]) if series.kind == THROUGHPUT else series
            for series in all_series
        ]


def _apply(series: Series, factors: Mapping[WindowKey, float]) -> Series:
    by_window = np.array([factors.get((series.location, i), 1.0) for i in range(len(series.speedup))])
    if (by_window == 1.0).all():
        return series
    return replace(series, denominator=series.denominator * by_window, is_lasting=True)


def lasting_rates(runs: Iterable[Sequence[Half]], point: str) -> dict[WindowKey, float]:
    """Rate that lasts over measured rate of visits to a throughput point, of all windows where they differ."""
    found: dict[WindowKey, float] = {}
    for halves in runs:
        found.update(_of_run([half for half in halves if half.rate(point) > 0], point))
    return found


@dataclass(frozen=True)
class Flow:
    """How the items that pass a stage are counted: in each half, `own` for every unit of `passing`.

    own: by half, what the stage did. passing: what passed the point, as visits or as work of stage v.
    work: w_i, Σown/Σpassing in halves in which the stage is tied to v.
    """

    own: Measure
    passing: Measure
    work: float

    def ratio(self, halves: Iterable[Half]) -> float:
        """F_i/F_v of some halves together; 0 if unknown."""
        own, passing = self.sums(halves)
        return own.sum() / passing.sum() if passing.sum() > 0 else 0.0

    def sums(self, halves: Iterable[Half]) -> tuple[Floats, Floats]:
        """F_i and F_v of each half, (H,)."""
        pairs = [(self.own(half) / self.work, self.passing(half)) for half in halves]
        return np.array([own for own, _ in pairs]), np.array([passing for _, passing in pairs])


def _of_run(halves: Sequence[Half], point: str) -> dict[WindowKey, float]:
    stages = _stages_at_work(halves)
    passing = _passing_stage(halves, stages, point)
    if passing is None:
        return {}
    flows = _flows_of_stages(halves, stages, passing, point)
    by_speedup: defaultdict[tuple[str, float], list[Half]] = defaultdict(list)
    for half in halves:
        by_speedup[half.target, half.window.record.speedup].append(half)
    found: dict[WindowKey, float] = {}
    for members in by_speedup.values():
        if slowest := _slowest_that_lags(members, flows, passing):
            found.update(_lasting_parts(members, flows[slowest]))
    return found


def _stages_at_work(halves: Sequence[Half]) -> list[int]:
    total: defaultdict[int, float] = defaultdict(float)
    for half in halves:
        for stage, ran in half.ran.items():
            total[stage] += ran
    return [stage for stage, ran in sorted(total.items()) if ran > MIN_WORK * sum(total.values())]


def _passing_stage(halves: Sequence[Half], stages: Sequence[int], point: str) -> int | None:
    """v: the stage whose processor time follows the visits best; None if there is only one stage."""
    if len(stages) < 2 or not halves:
        return None
    visits = np.array([half.visits(point) for half in halves])
    return min(stages, key=lambda stage: _scatter(np.array([half.ran.get(stage, 0.0) for half in halves]), visits))


def _scatter(values: Floats, visits: Floats) -> float:
    """How far values are from being proportional to visits; without unit."""
    if values.sum() <= 0:
        return float("inf")
    residuals = values / values.sum() - visits / visits.sum()
    return float(residuals @ residuals)


def _flows_of_stages(
    halves: Sequence[Half], stages: Sequence[int], passing: int, point: str
) -> dict[int, Flow]:
    """The flows of the stages that are tied to v in some halves."""
    found = {}
    ties = [half.tied_to(passing) for half in halves]
    for stage in stages:
        tied = [half for half, stages_tied in zip(halves, ties, strict=True) if stage in stages_tied]
        if stage != passing and len(tied) >= MIN_TIED and (flow := _best_flow(tied, stage, passing, point)):
            found[stage] = flow
    return found


def _best_flow(tied: Sequence[Half], stage: int, passing: int, point: str) -> Flow | None:
    """Items counted by processor time or by releases, whichever follows the point better; None: neither does.

    Processor time is compared with that of stage v, so that what slows the machine cancels.
    """
    measures: tuple[tuple[Measure, Measure], ...] = (
        (lambda half: half.ran.get(stage, 0.0), lambda half: half.ran.get(passing, 0.0)),
        (lambda half: half.releases.get(stage, 0.0), lambda half: half.visits(point)),
    )
    # A queue that became empty within a half ties the stages for the rest of it only.
    strengths = [half.tie(passing, stage) for half in tied]
    best: Flow | None = None
    least = float("inf")
    for own, passed in measures:
        work = _work(tied, own, passed, strengths)
        if work <= 0:
            continue
        flow = Flow(own, passed, work)
        baselines = flow.ratio([half for half in tied if half.window.record.speedup == 0])
        speedups = flow.ratio([half for half in tied if half.window.record.speedup > 0])
        if baselines and speedups and abs(np.log(baselines / speedups)) > MAX_CHANGE:
            continue
        if (scatter := _scatter(*flow.sums(tied))) < least:
            best, least = flow, scatter
    return best


def _work(
    halves: Sequence[Half], own: Measure, passing: Measure, strengths: Sequence[float]
) -> float:
    """Σown/Σpassing, weighted by how strongly halves are tied; 0 if unknown."""
    weighted = list(zip(strengths, halves, strict=True))
    passed = sum(strength * passing(half) for strength, half in weighted)
    return sum(strength * own(half) for strength, half in weighted) / passed if passed > 0 else 0.0


def _slowest_that_lags(halves: Sequence[Half], flows: Mapping[int, Flow], passing: int) -> int | None:
    """The stage with the least flow of those that lag, at one target and speedup; None if none does.

    It must lag more where no chain of waits ties it to v.
    """
    lagging = []
    for stage, flow in flows.items():
        if np.mean([half.waited(stage) for half in halves]) > MAX_WAIT:
            continue
        tied = [half for half in halves if stage in half.tied_to(passing)]
        untied = [half for half in halves if stage not in half.tied_to(passing)]
        if len(untied) < MIN_HALVES or not _lags(halves, flow):
            continue
        if flow.ratio(untied) < 1 - MIN_LAG and (not tied or flow.ratio(untied) < flow.ratio(tied)):
            lagging.append((flow.ratio(halves), stage))
    return min(lagging)[1] if lagging else None


def _lags(halves: Sequence[Half], flow: Flow) -> bool:
    """Is F_i below F_v, beyond chance?"""
    if len(halves) < MIN_HALVES:
        return False
    own, passing = flow.sums(halves)
    if passing.sum() <= 0:
        return False
    lag = 1 - own.sum() / passing.sum()
    return bool(lag > MIN_LAG and lag > LAG_ERRORS * _error_of_ratio(own, passing))


def _error_of_ratio(numerator: Floats, denominator: Floats) -> float:
    """Standard error of Σnumerator / Σdenominator, by the scatter of the residuals."""
    residuals = numerator - numerator.sum() / denominator.sum() * denominator
    scatter = residuals @ residuals * len(numerator) / (len(numerator) - 1)
    return float(np.sqrt(scatter) / denominator.sum())


def _lasting_parts(halves: Sequence[Half], flow: Flow) -> dict[WindowKey, float]:
    """F_i/F_v of each window. A queue may have become empty within a window: F_i lasts all the same."""
    windows: defaultdict[WindowKey, list[Half]] = defaultdict(list)
    for half in halves:
        windows[half.target, half.position].append(half)
    parts = {key: flow.ratio(of_window) for key, of_window in windows.items()}
    return {key: part for key, part in parts.items() if part > 0}
