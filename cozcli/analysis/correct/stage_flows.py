"""How many items pass each stage of a program, in windows and between them.

Every item needs the same processor time w_i of stage i, and as many releases r_i of locks and semaphores,
whatever is sped up. Stage v passes the progress point. What passes stage i in some time is

    F_i  =  (releases of stage i) / r_i   or   (processor time of stage i) / w_i,

whichever follows the items more closely. Releases are counts, and do not grow when the machine is slow; but
threads that look for work in a loop release locks without an item.

w_i and r_i come from the whole run: between two moments at which stage i waited for a stage with known flow,
or that one for stage i, both have passed as many items. The moments must be far apart; the start of the
program, when queues are empty, is one of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cozcli.analysis.input.flows import Pairs, Stretch
from cozcli.analysis.statistics.arrays import Floats

#: Stages that need less than this share of the program's processor time are not looked at.
MIN_WORK = 0.01
#: w_i is known from waits at one queue that are so far apart, as a share of the run.
MIN_SPAN = 0.2
#: Fewer moments at which a stage waited do not tell which count is better.
MIN_SPANS = 8
#: Releases for an item are a whole number if they are as close to it, as a share: what queues hold at the
#: ends of a run makes the difference.
MAX_FROM_WHOLE = 0.05
#: So many times the length of the stretch that holds a moment may be given up at an end of a run for a
#: shorter one.
MAX_SPENT = 5.0


@dataclass(frozen=True)
class StageFlow:
    """How the items that pass a stage are counted.

    work: w_i, ns of processor time for each item. releases: r_i if items are counted by releases, else 0.
    """

    stage: int
    work: float
    releases: float = 0.0

    def items(self, stretch: Stretch) -> float:
        """F_i."""
        if self.releases > 0:
            return stretch.releases.get(self.stage, 0.0) / self.releases
        return stretch.ran.get(self.stage, 0.0) / self.work

    def sum(self, stretches: Iterable[Stretch]) -> float:
        """F_i of several together."""
        return sum(self.items(stretch) for stretch in stretches)


@dataclass(frozen=True)
class Stages:
    """The stages of a run, as seen at one progress point.

    passing: v. flows: of v, and of all stages whose flow is known. apart: stages that waited for one of these
    at some time, too seldom to know their flow.
    """

    passing: int
    flows: Mapping[int, StageFlow]
    apart: Sequence[int]


def stages_of(stretches: Sequence[Stretch], point: str) -> Stages | None:
    """None if there is only one stage, or no visit. stretches: those that know of the point."""
    run = _Run.of(stretches, point)
    if len(run.stages) < 2:
        return None
    passing = min(run.stages, key=run.scatter)
    flows = _flows(run, passing)
    if passing not in flows:
        return None
    pairs = {pair for of_stretch in run.pairs for pair in of_stretch}
    apart = [
        stage
        for stage in run.stages
        if stage not in flows and any((stage, other) in pairs or (other, stage) in pairs for other in flows)
    ]
    return Stages(passing, flows, apart)


def work_for_visits(stretches: Sequence[Stretch], point: str) -> dict[int, float]:
    """w_i in ns for each visit, of the stages of which it is known."""
    stages = stages_of(stretches, point)
    return {} if stages is None else {stage: flow.work for stage, flow in stages.flows.items()}


@dataclass(frozen=True)
class _Run:
    """All stretches of a run, in order. stages: those that work. pairs: who waited for whom, by stretch."""

    stretches: Sequence[Stretch]
    stages: Sequence[int]
    visits: Floats
    pairs: Sequence[Pairs]

    @staticmethod
    def of(stretches: Sequence[Stretch], point: str) -> _Run:
        stages = _stages_at_work(stretches)
        visits = np.array([stretch.visits(point) for stretch in stretches], dtype=np.float64)
        return _Run(stretches, stages, visits, [stretch.pairs(stages) for stretch in stretches])

    def scatter(self, stage: int) -> float:
        """How far the stage's counts are from being proportional to visits, by the better one."""
        counts = _Counts.of(stage, [[stretch] for stretch in self.stretches])
        return min(_scatter(counts.ran, self.visits), _scatter(counts.releases, self.visits))


@dataclass(frozen=True)
class _Counts:
    """Processor time and releases of a stage in each of some spans of stretches."""

    stage: int
    ran: Floats
    releases: Floats

    @staticmethod
    def of(stage: int, spans: Sequence[Sequence[Stretch]]) -> _Counts:
        ran = [sum(stretch.ran.get(stage, 0.0) for stretch in span) for span in spans]
        releases = [sum(stretch.releases.get(stage, 0.0) for stretch in span) for span in spans]
        return _Counts(stage, np.array(ran), np.array(releases))

    def prefer_releases(self, items: Floats) -> bool:
        """Are releases closer to being proportional to the items of the spans?"""
        return len(items) >= MIN_SPANS and _scatter(self.releases, items) < _scatter(self.ran, items)

    def flow(self, items: Floats, *, by_releases: bool) -> StageFlow | None:
        """The flow of the stage, which passed so many items; None if it did not run."""
        passed, ran = float(items.sum()), float(self.ran.sum())
        if passed <= 0 or ran <= 0:
            return None
        releases = _near_whole(float(self.releases.sum()) / passed) if by_releases else 0.0
        return StageFlow(self.stage, ran / passed, releases)


def _near_whole(number: float) -> float:
    """A whole number if `number` is close to it: as many locks are released for each item."""
    whole = float(round(number))
    return whole if abs(number - whole) < MAX_FROM_WHOLE * whole else number


def _stages_at_work(stretches: Sequence[Stretch]) -> list[int]:
    total: defaultdict[int, float] = defaultdict(float)
    for stretch in stretches:
        for stage, ran in stretch.ran.items():
            total[stage] += ran
    return [stage for stage, ran in sorted(total.items()) if ran > MIN_WORK * sum(total.values())]


def _scatter(values: Floats, visits: Floats) -> float:
    """How far values are from being proportional to visits."""
    if values.sum() <= 0 or visits.sum() <= 0:
        return float("inf")
    residuals = values / values.sum() - visits / visits.sum()
    return float(residuals @ residuals)


def _flows(run: _Run, passing: int) -> dict[int, StageFlow]:
    """The flows of stage v, and of those with a queue between them and a stage whose flow is known."""
    counts = _Counts.of(passing, [[stretch] for stretch in run.stretches])
    flow = counts.flow(run.visits, by_releases=counts.prefer_releases(run.visits))
    if flow is None:
        return {}
    found = {passing: flow}
    reached = [passing]
    for known in reached:
        for stage in run.stages:
            if stage not in found and (flow := _flow_by(run, stage, found[known])):
                found[stage] = flow
                reached.append(stage)
    return found


def _flow_by(run: _Run, stage: int, known: StageFlow) -> StageFlow | None:
    """Between two moments at which one waits for the other, both pass as many items."""
    at = [i for i, waits in enumerate(run.pairs) if (stage, known.stage) in waits]
    back = [i for i, waits in enumerate(run.pairs) if (known.stage, stage) in waits]
    longest = [_span(run.stretches, each) for each in (at, back) if each]
    if not longest or max(map(_duration, longest)) < MIN_SPAN * _duration(run.stretches):
        return None
    moments = at if len(at) >= len(back) else back
    short = [run.stretches[a + 1 : b + 1] for a, b in pairwise(moments)]
    by_releases = _Counts.of(stage, short).prefer_releases(_items(known, short))
    return _Counts.of(stage, longest).flow(_items(known, longest), by_releases=by_releases)


def _items(flow: StageFlow, spans: Sequence[Sequence[Stretch]]) -> Floats:
    return np.array([flow.sum(span) for span in spans])


def _span(stretches: Sequence[Stretch], at: Sequence[int]) -> Sequence[Stretch]:
    """Between two of the stretches, of which each holds a moment: far apart and short, so that it is exact.

    When in its stretch a moment was is not known.
    """
    ends = np.cumsum([stretch.flow.duration for stretch in stretches])
    lengths = np.array([stretches[i].flow.duration for i in at])
    first = min(range(len(at)), key=lambda k: (ends[at[k]] - ends[at[0]] + MAX_SPENT * lengths[k], k))
    last = min(range(len(at)), key=lambda k: (ends[at[-1]] - ends[at[k]] + MAX_SPENT * lengths[k], -k))
    return stretches[at[first] + 1 : at[last] + 1]


def _duration(stretches: Sequence[Stretch]) -> int:
    return sum(stretch.flow.duration for stretch in stretches)
