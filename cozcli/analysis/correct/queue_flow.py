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

The windows of a target at one speedup are corrected by the least F_i/F_v, transient ones apart from those
that seemed to open in steady state. It is that of stages that

* are tied to v, or to a stage whose w is known, by chains of waits in other halves of windows: they tell w_i,
  the same for baselines and speedups;
* do not wait, and lag: F_i < F_v beyond chance, over all windows, by more where steady state was seen;
* lag more where no chain of waits ties them to v, or recover in the second halves of windows. Work that moved
  to another stage of the same queue does so for good, and leaves the ties.

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
#: The least lag in windows that seemed to open in steady state.
MIN_STEADY_LAG = 0.05
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
        rates = {point: lasting_rates(runs, point) for point in points}
        return [
            _apply(series, rates[series.point]) if series.kind == THROUGHPUT else series
            for series in all_series
        ]


def _apply(series: Series, rates: Mapping[WindowKey, float]) -> Series:
    lasting = np.array([rates.get((series.location, i), -1.0) for i in range(len(series.speedup))])
    corrected = lasting >= 0
    if not corrected.any():
        return series
    # Over whole windows: between two visits, windows in which a queue became empty would count by their pace.
    elapsed = np.where(corrected, series.effective, series.numerator)
    visits = np.where(corrected, elapsed * lasting, series.denominator)
    return replace(series, numerator=elapsed, denominator=visits, lasting=corrected)


def lasting_rates(runs: Iterable[Sequence[Half]], point: str) -> dict[WindowKey, float]:
    """Visits in an effective ns that last, of all windows in which a queue lends or takes some."""
    found: dict[WindowKey, float] = {}
    for halves in runs:
        found.update(_of_run([half for half in halves if point in half.flow.visits], point))
    return found


@dataclass(frozen=True)
class StageFlow:
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
    by_speedup: defaultdict[tuple[str, float, bool], list[Half]] = defaultdict(list)
    for half in halves:
        record = half.window.record
        is_steady = record.settling >= 0 and not record.is_transient
        by_speedup[half.target, record.speedup, is_steady].append(half)
    found: dict[WindowKey, float] = {}
    for (_, _, is_steady), members in by_speedup.items():
        least = MIN_STEADY_LAG if is_steady else MIN_LAG
        if slowest := _slowest_that_lags(members, flows, passing, least):
            found.update(_rates_of(members, flows[slowest], point))
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
    return min(
        stages, key=lambda stage: _scatter(np.array([half.ran.get(stage, 0.0) for half in halves]), visits)
    )


def _scatter(values: Floats, visits: Floats) -> float:
    """How far values are from being proportional to visits; without unit."""
    if values.sum() <= 0:
        return float("inf")
    residuals = values / values.sum() - visits / visits.sum()
    return float(residuals @ residuals)


def _flows_of_stages(
    halves: Sequence[Half], stages: Sequence[int], passing: int, point: str
) -> dict[int, StageFlow]:
    """The flows of the stages that are tied to v in some halves, or to a stage whose flow is known."""
    found: dict[int, StageFlow] = {}
    reached = [passing]
    for known in reached:
        ties = [(half, half.tied_to(known)) for half in halves]
        for stage in stages:
            if stage in reached:
                continue
            tied = _tied_throughout([half for half, others in ties if stage in others])
            ways = _ways_to_v(stage, passing, point) if known == passing else _ways_by(stage, found[known])
            if len(tied) >= MIN_TIED and (flow := _best_flow(tied, ways)):
                found[stage] = flow
                reached.append(stage)
    return found


def _tied_throughout(halves: Sequence[Half]) -> list[Half]:
    """Second halves of windows whose first half was tied: a queue may have become empty within the first."""
    firsts = {(half.target, half.position) for half in halves if half.first}
    return [half for half in halves if not half.first and (half.target, half.position) in firsts]


@dataclass(frozen=True)
class Counting:
    """A way to count a stage's items: `own` beside `passing` (StageFlow). tied: what passes v in tied
    halves."""

    own: Measure
    passing: Measure
    tied: Measure


def _ways_to_v(stage: int, passing: int, point: str) -> list[Counting]:
    """Processor time is compared with that of stage v, so that what slows the machine cancels."""
    time_of_v, visits = _ran(passing), _visits(point)
    return [
        Counting(_ran(stage), time_of_v, time_of_v),
        Counting(_releases(stage), visits, visits),
    ]


def _ways_by(stage: int, known: StageFlow) -> list[Counting]:
    """Where the stage is tied to another one, it has that one's flow."""

    def tied(half: Half) -> float:
        return known.own(half) / known.work

    return [Counting(own, known.passing, tied) for own in (_ran(stage), _releases(stage))]


def _ran(stage: int) -> Measure:
    return lambda half: half.ran.get(stage, 0.0)


def _releases(stage: int) -> Measure:
    return lambda half: half.releases.get(stage, 0.0)


def _visits(point: str) -> Measure:
    return lambda half: half.visits(point)


def _best_flow(tied: Sequence[Half], ways: Iterable[Counting]) -> StageFlow | None:
    """Items counted by what follows best in tied halves; None: nothing does."""
    best: StageFlow | None = None
    least = float("inf")
    for each in ways:
        work = StageFlow(each.own, each.tied, 1.0).ratio(tied)
        if work <= 0:
            continue
        flow = StageFlow(each.own, each.tied, work)
        baselines = flow.ratio([half for half in tied if half.window.record.speedup == 0])
        speedups = flow.ratio([half for half in tied if half.window.record.speedup > 0])
        if baselines and speedups and abs(np.log(baselines / speedups)) > MAX_CHANGE:
            continue
        if (scatter := _scatter(*flow.sums(tied))) < least:
            best, least = StageFlow(each.own, each.passing, work), scatter
    return best


def _slowest_that_lags(
    halves: Sequence[Half], flows: Mapping[int, StageFlow], passing: int, min_lag: float
) -> int | None:
    """The stage with the least flow of those that lag, at one target and speedup; None if none does.

    What makes it lag must pass: it lags more where no chain of waits ties it to v, or less in second halves.
    """
    lagging = []
    for stage, flow in flows.items():
        if np.mean([half.waited(stage) for half in halves]) > MAX_WAIT:
            continue
        if _lags(halves, flow, min_lag) and (
            _lags_untied(halves, flow, stage, passing) or _recovers(halves, flow)
        ):
            lagging.append((flow.ratio(halves), stage))
    return min(lagging)[1] if lagging else None


def _lags(halves: Sequence[Half], flow: StageFlow, min_lag: float) -> bool:
    """Is F_i below F_v, beyond chance?"""
    if len(halves) < MIN_HALVES:
        return False
    own, passing = flow.sums(halves)
    if passing.sum() <= 0:
        return False
    lag = 1 - own.sum() / passing.sum()
    return bool(lag > min_lag and lag > LAG_ERRORS * _error_of_ratio(own, passing))


def _lags_untied(halves: Sequence[Half], flow: StageFlow, stage: int, passing: int) -> bool:
    tied = [half for half in halves if stage in half.tied_to(passing)]
    untied = [half for half in halves if stage not in half.tied_to(passing)]
    if len(untied) < MIN_HALVES or flow.ratio(untied) > 1 - MIN_LAG:
        return False
    return not tied or flow.ratio(untied) < flow.ratio(tied)


def _recovers(halves: Sequence[Half], flow: StageFlow) -> bool:
    """Is F_i/F_v greater in second halves of windows, beyond chance?"""
    parts = [[half for half in halves if half.first is first] for first in (True, False)]
    if min(map(len, parts)) < MIN_HALVES:
        return False
    first, second = (flow.sums(part) for part in parts)
    error = np.hypot(_error_of_ratio(*first), _error_of_ratio(*second))
    return bool(second[0].sum() / second[1].sum() - first[0].sum() / first[1].sum() > LAG_ERRORS * error)


def _error_of_ratio(numerator: Floats, denominator: Floats) -> float:
    """Standard error of Σnumerator / Σdenominator, by the scatter of the residuals."""
    residuals = numerator - numerator.sum() / denominator.sum() * denominator
    scatter = residuals @ residuals * len(numerator) / (len(numerator) - 1)
    return float(np.sqrt(scatter) / denominator.sum())


def _rates_of(halves: Sequence[Half], flow: StageFlow, point: str) -> dict[WindowKey, float]:
    """F_i/F_v of each window times its rate.

    A queue may become empty within a window: F_i lasts all the same.
    """
    windows: defaultdict[WindowKey, list[Half]] = defaultdict(list)
    for half in halves:
        windows[half.target, half.position].append(half)
    return {
        key: flow.ratio(of_window)
        * sum(half.visits(point) for half in of_window)
        / sum(half.effective for half in of_window)
        for key, of_window in windows.items()
    }
