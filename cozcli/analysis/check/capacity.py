"""What the cores allow and give, where threads waited for one.

In each ns, c cores do c ns of work at most. If the program's threads used the part u of that in baselines,
and the target the part A of what they used, a visit needs at least u·(1 − s·A) of its period once the target
is faster by s, whatever its threads do:

    effect(s)  ≤  1 − u·(1 − s·A)

More is no proof that cores lacked if a visit takes other work in windows of that speedup: with w times the
processor time and k times the time in the target (coupling.py), cores allow 1 − u·(w − s·A·k).

While all cores are busy the effect is s·A: the work that is saved, spread over all cores. A virtual speedup
delays threads, not cores: a thread that pauses lends its core to another, so that what is measured can be
far from s·A, on either side. So with f the part of the cores' time in which they are busy, with other
programs too, but no more than the program's threads ran or waited for one, and λ growing from 0 at
f = FILLED_LEAST to 1 at f = 1,

    effect(s)  =  (1 − λ)·measured + λ·s·A

of targets that surely do their work for the visits: their measured effect is above 0, or there is as much
work for each visit when visits are slower (coupling.py). Others may have nothing to do with the progress
point, and stay as measured. Intervals reach from what was measured towards s·A, and as far as that from
λ = REACH_FULL on (docs/decisions/too_few_cores.md). Nor is a loss of theirs certain: a thread that pauses
loses its core to others, and waits for it afterwards. Neither is an effect greater than other stages of a
pipeline allow (stage_limits.py), or than where the measured curve levels off, surely at s·A or more: up to
there, pauses have gained what cores can give, so that it is the program's structure that allows no more.

Where threads share nothing but the cores, independent_threads.py tells what cores give instead of s·A, of any
target, and how far it may be off. There λ is 1 from `REACH_FULL` on.

A latency stays as measured: it depends on who waits for a core behind whom, which no pause changes. But the
interval is wider by LATENCY_SLACK·s·A, the cores' time that others would have had.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from cozcli.analysis.check.cores import taken_by_others
from cozcli.analysis.check.coupling import Coupling, VisitWork
from cozcli.analysis.check.independent_threads import Gain, IndependentThreads, independent_threads
from cozcli.analysis.estimate.shape import Shape, outline
from cozcli.analysis.input.locations import WAITING
from cozcli.analysis.input.partners import records_without_partner
from cozcli.analysis.input.targets import BOUND_ERRORS
from cozcli.analysis.result import LATENCY, LOAD_MARKS, CurvePoint, LineResult, Mark
from cozcli.profile.profile import Run
from cozcli.profile.records import ExperimentRecord

#: From which f on s·A tells something: of simulated programs, what errs least (tests/oracle/crowds.h).
FILLED_LEAST = 0.6
#: From which λ on intervals reach as far as s·A.
REACH_FULL = 0.25
#: Less than this beyond what cores can give proves nothing: profiling itself uses some of their time.
UNSURE = 0.03
#: How far real programs are from what is said above, beside what intervals tell, as half of a 95 % interval:
#: this (at 25 % and more), and this part of the effect (docs/decisions/too_few_cores.md).
MODEL_ERROR, MODEL_ERROR_PART = 0.01, 0.05
#: How far what a network says may be off (at 25 % and more), and as a part of it.
NETWORK_ERROR, NETWORK_ERROR_PART = 0.02, 0.1
#: Of targets that take less of the time, the first of each pair is as much smaller.
FULL_SHARE = 0.05
#: For latencies, by how much more than s·A intervals are wider: who waits less shortens others' waits, too.
LATENCY_SLACK = 1.25
#: How far intervals reach beyond what other stages allow, whose time for a visit is not exactly known.
LIMIT_ERROR = 0.02
#: Of visits that do not depend on the speedup.
SAME_WORK = VisitWork(1.0, 1.0)


@dataclass(frozen=True)
class Capacity:
    """used: u. filled: f. shares: A and the number of samples that it is known from, by location.

    coupled: locations and points, where the one surely works for the other's visits. limits: what other
    stages allow, by location and point. visit_work: likewise, by speedup; nothing is known of others.
    independent: what threads that do not wait for each other gain.
    """

    used: float
    filled: float
    shares: Mapping[str, tuple[float, float]]
    coupled: frozenset[tuple[str, str]] = frozenset()
    limits: Mapping[tuple[str, str], float] = field(default_factory=dict)
    visit_work: Mapping[tuple[str, str], Mapping[float, VisitWork]] = field(default_factory=dict)
    independent: IndependentThreads | None = None

    def knows(self, location: str, point: str) -> bool:
        """Does a network of independent threads tell the effect?"""
        return self.independent is not None and self.independent.gain(location, point, 1.0) is not None

    def most(self, location: str, speedup: float, work: VisitWork = SAME_WORK) -> float:
        """The largest effect that the cores can give. work: what a visit takes in windows of that speedup.

        It is more where visits have become more of those that take less, or that run the target longer.
        """
        share, error = self._share(location)
        saved = speedup * min(share * (1 + error), 1.0) * max(work.in_target, 1.0)
        return 1 - self.used * max(min(work.all, 1.0) - saved, 0.0)

    def _share(self, location: str) -> tuple[float, float]:
        """A, and how far it may be off, as a part of it."""
        share, samples = self.shares[location]
        return share, BOUND_ERRORS / math.sqrt(max(samples, 1.0))

    def limited(
        self,
        target: tuple[str, str],
        matters: bool,
        speedup: float,
        effect: float,
        low: float,
        high: float,
        plateau: CurvePoint | None = None,
    ) -> tuple[float, float, float]:
        """An effect of a location on a point, with its interval, within what cores allow. NaN stays NaN.

        plateau: where the curve levels off (plateau_of).
        """
        busy = max((self.filled - FILLED_LEAST) / (1 - FILLED_LEAST), 0.0)
        reach = min(busy / REACH_FULL, 1.0)
        alone = self.independent.gain(*target, speedup) if self.independent else None
        if alone is not None:
            return _mixed(reach, (effect, low, high), alone, NETWORK_ERROR * self._part(target[0], speedup))
        share, error = self._share(target[0])
        most = self.most(target[0], speedup)
        if_busy = speedup * share
        limit = self.limits.get(target, 1.0)
        most_sure = min(most, limit + LIMIT_ERROR)
        if plateau is not None:
            limit, most_sure = min(limit, plateau.effect), min(most_sure, plateau.high)
        measured = min(effect, most)
        point = min(measured + (busy * (if_busy - measured) if matters else 0.0), limit)
        high = max(high, effect + reach * (if_busy * (1 + error) - effect))
        low = min(low, effect + reach * (if_busy * (1 - error) - effect))
        return point, min(low, point), max(min(high, most_sure), point)

    def of_latency(
        self,
        target: tuple[str, str],
        matters: bool,
        speedup: float,
        effect: float,
        low: float,
        high: float,
        most: float = 1.0,
    ) -> tuple[float, float, float]:
        """An effect on a latency, with its interval wider by what the target's share may save.

        most: no effect is greater, but a slope may be: behind a queue, a little may save all.
        """
        share, error = self._share(target[0])
        saved = LATENCY_SLACK * speedup * share * (1 + error)
        return (
            effect,
            effect - math.hypot(effect - low, saved),
            min(effect + math.hypot(high - effect, saved), most),
        )

    def plateau_of(self, result: LineResult) -> CurvePoint | None:
        """The largest effect of a curve that rises no more, if pauses had surely gained what cores give."""
        found = outline(result)
        if found.shape is Shape.OPEN:
            return None
        share, error = self._share(result.location)
        if_busy = min(found.since.speedup * share * (1 + error), 1.0)
        return found.top if found.since.low >= if_busy else None

    def _part(self, location: str, speedup: float) -> float:
        """Of errors: small speedups, and targets of little time, change little."""
        return min(4 * speedup, 1.0) * min(self._share(location)[0] / FULL_SHARE, 1.0)

    def with_model_error(
        self, location: str, speedup: float, point: float, low: float, high: float
    ) -> tuple[float, float, float]:
        """The same, with `MODEL_ERROR` in the interval, which hardly exceeds what cores can give."""
        of_target = MODEL_ERROR * self._part(location, speedup)
        model = math.hypot(of_target, MODEL_ERROR_PART * point)
        widened = point + math.hypot(max(high - point, 0.0), model)
        most = max(high, self.most(location, speedup) + UNSURE)
        return point, point - math.hypot(point - low, model), min(widened, most)


def capacity_of(
    runs: Sequence[Run],
    shares: Mapping[str, tuple[float, float]],
    limits: Mapping[tuple[str, str], float] = MappingProxyType({}),
) -> Capacity | None:
    """What baselines and samples say; None if the profile has no processor times.

    Args:
        shares: of effective time and waiting for cores, and samples, by location (shares_of_time).
        limits: the effects that other stages allow (stage_limits).
    """
    known = [
        record
        for run in runs
        for record in run.experiments
        if run.record.cores > 0 and record.processor_time > 0
    ]
    baselines = [
        (run.record.cores, record)
        for run, record in records_without_partner(runs)
        if run.record.cores > 0 and record.processor_time > 0 and record.speedup == 0
    ]
    could = sum(cores * record.duration for cores, record in baselines)
    ran = sum(map(_demand, known))
    if could <= 0 or ran <= 0:
        return None
    coupling = Coupling(runs)
    of_ran = sum(record.effective_duration for record in known) / ran
    used = min(sum(record.processor_time for _, record in baselines) / could, 1.0)
    idle = sum(_idle(cores, record) for cores, record in baselines)
    demand = sum(_demand(record) for _, record in baselines) / could
    of_work = {location: (min(share * of_ran, 1.0), samples) for location, (share, samples) in shares.items()}
    return Capacity(
        used,
        max(used, min(1 - idle / could, demand, 1.0)),
        of_work,
        coupling.works_for_visits(),
        limits,
        coupling.visit_work(),
        independent_threads(runs, {location: share for location, (share, _) in of_work.items()}),
    )


def _idle(cores: int, record: ExperimentRecord) -> float:
    """The time in which cores had nothing to do, of any program; with other cores in the machine, less."""
    return max(cores * record.duration - record.processor_time - taken_by_others(record), 0)


def _demand(record: ExperimentRecord) -> int:
    return record.processor_time + max(record.core_wait, 0)


def within_capacity(
    result: LineResult, capacity: Capacity | None, of_windows_only: bool = False
) -> LineResult:
    """The result; where cores lacked, marked and within what they allow.

    of_windows_only: leave out `MODEL_ERROR`, of which more windows could not tell.
    """
    if capacity is None or not _is_eligible(result, capacity):
        return result
    if result.kind == LATENCY and (of_windows_only or Mark.CORES not in result.marks):
        return result
    if Mark.CORES not in result.marks:
        if not _exceeds(result, capacity):
            return result
        marks = {*result.marks, Mark.CORES}
        result = replace(result, marks=tuple(mark for mark in Mark if mark in marks))
    target = result.location, result.point
    if LOAD_MARKS & {*result.marks}:
        threads = capacity.independent
        if threads and capacity.knows(*target) and threads.sets_its_pace(result.point):
            # Threads that pause make up for it with the cores of others, so that visits keep their pace.
            result = replace(result, marks=tuple(mark for mark in result.marks if mark not in LOAD_MARKS))
        else:  # what is waited for outside depends on how fast the threads are
            capacity = replace(capacity, independent=None)
    matters = result.slope_low > 0 or target in capacity.coupled
    plateau = capacity.plateau_of(result)

    def at(speedup: float, effect: float, low: float, high: float) -> tuple[float, float, float]:
        limited = capacity.limited(target, matters, speedup, effect, low, high, plateau)
        return limited if of_windows_only else capacity.with_model_error(result.location, speedup, *limited)

    of_slope: Callable[..., tuple[float, float, float]] = at
    if capacity.knows(*target):  # its curve is bent, and may be steep at its end
        of_slope = functools.partial(_per_speedup, at)
    if result.kind == LATENCY:
        at = functools.partial(capacity.of_latency, target, matters)
        of_slope = functools.partial(at, most=math.inf)
    slope, slope_low, slope_high = of_slope(1.0, result.slope, result.slope_low, result.slope_high)
    _, adjusted_low, adjusted_high = of_slope(1.0, result.slope, result.adjusted_low, result.adjusted_high)
    excludes_none = adjusted_low > 0 or adjusted_high < 0
    fit = result.fit
    fitted = [at(*each) for each in zip(fit.speedup, fit.effect, fit.low, fit.high, strict=True)]
    curve = tuple(_limited(point, at) if point.speedup > 0 else point for point in result.curve)
    return replace(
        result,
        slope=slope,
        slope_low=slope_low,
        slope_high=slope_high,
        adjusted_low=adjusted_low,
        adjusted_high=adjusted_high,
        significant=result.significant and excludes_none,
        contention=result.contention and excludes_none,
        curve=curve,
        is_modelled=any(old.effect != new.effect for old, new in zip(result.curve, curve, strict=True)),
        fit=replace(
            fit,
            effect=tuple(effect for effect, _, _ in fitted),
            low=tuple(low for _, low, _ in fitted),
            high=tuple(high for _, _, high in fitted),
        ),
    )


def _mixed(
    part: float, measured: tuple[float, float, float], alone: Gain, error: float
) -> tuple[float, float, float]:
    """An effect with its interval: this part of what the network says, the rest of what was measured."""
    error += NETWORK_ERROR_PART * abs(alone.effect)
    low, high = min(alone.low, alone.if_waits_stay) - error, max(alone.high, alone.if_waits_stay) + error
    point, low, high = (
        (1 - part) * one + part * other
        for one, other in zip(measured, (alone.effect, low, high), strict=True)
    )
    return point, min(low, point), max(high, point)


def _is_eligible(result: LineResult, capacity: Capacity) -> bool:
    return result.location in capacity.shares and not result.location.startswith(WAITING)


def _exceeds(result: LineResult, capacity: Capacity) -> bool:
    """Is a measured effect surely greater than the cores can give? Then pauses have lent some."""
    measured = [point for point in result.curve if point.speedup > 0 and point.experiments > 0]
    work = capacity.visit_work.get((result.location, result.point)) or dict.fromkeys(
        (point.speedup for point in measured), SAME_WORK
    )
    return any(
        point.low > capacity.most(result.location, point.speedup, work[point.speedup]) + UNSURE
        for point in measured
        if point.speedup in work
    )


def _per_speedup(
    at: Callable[..., tuple[float, float, float]], _: float, slope: float, low: float, high: float
) -> tuple[float, float, float]:
    """A slope with its interval, from the effect at the speedup in the middle."""
    effect, low, high = at(0.5, slope / 2, low / 2, high / 2)
    return 2 * effect, 2 * low, 2 * high


def _limited(point: CurvePoint, at: Callable[..., tuple[float, float, float]]) -> CurvePoint:
    effect, low, high = at(point.speedup, point.effect, point.low, point.high)
    return replace(point, effect=effect, low=low, high=high)
