"""What a target gives a point where threads share the cores, but never wait for each other.

The closed network (closed_network.py) says how much sooner each thread's cycle ends. With v_i the part of a
point's visits that thread i makes, and T_i, T'_i its period before and after,

    effect  =  1 − 1 / Σ v_i·T_i/T'_i

Nobody counts visits by thread. But an independent thread makes as many in each ns of its processor time,
whether others pause or not, and windows at different targets pause different threads. So least squares over
windows, visits = Σ α_i·ran_i with α_i ≥ 0, tells α_i, and with it v_i. Threads of one kind, which run the
same targets, are taken to have one α. Kinds are left out as far as the others explain windows as well, by
Schwarz's criterion (Annals of Statistics 6, 1978). Where visits rather keep a pace, in real or effective
time, threads depend on each other, or on something outside, in a way that nobody sees: nothing is known.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np

from cozcli.analysis.check.closed_network import ClosedNetwork
from cozcli.analysis.check.cores import taken_by_others
from cozcli.analysis.input.locations import WAITING
from cozcli.analysis.input.partners import records_without_partner
from cozcli.analysis.statistics.arrays import Floats
from cozcli.profile.profile import Run
from cozcli.profile.records import ExperimentRecord, ThreadShare, ThroughputPoint

#: Threads that wait for each other for more than this share of their time are not independent.
MAX_THREAD_WAIT = 0.02
#: Where other programs take more than this part of the cores, waiting for one has other causes.
MAX_OTHERS = 0.05
#: Where threads wait outside for no longer than this part of their time, nothing outside sets their pace.
MAX_OUTSIDE = 0.1
#: The part of the windows that tell of each thread, at least.
MIN_KNOWN = 0.9
#: Fewer samples of a target do not tell which threads run it.
MIN_SAMPLES = 10
#: Windows of which more is delay do not tell how many visits there were, in real time.
MAX_DELAY = 0.5
#: So many windows for each kind of threads tell who makes visits.
MIN_WINDOWS = 4
#: Schwarz's criterion counts no more windows than these: times that are not exact would speak for many kinds.
MAX_COUNTED = 60
#: Explanations whose criterion is worse than the best one's by no more than this are as likely.
AS_LIKELY = 4.0
#: Threads are of one kind if they run each target for the same part of their time, to this.
SAME_KIND = 0.2
#: Those that are there in this part of the baselines do this part of the work, at least.
MIN_THERE = 0.9
#: The runtime reads no more threads than these. Short-lived ones would be more.
MAX_THREADS = 63
#: For a target that some thread runs all the time, the network is solved at so many speedups.
_STEPS = 40
_NO_ERROR = 1e-12


@dataclass(frozen=True)
class _OfRun:
    """visits: by point, the part that each thread makes, in all ways that explain windows as well.

    in_target: by location, the part of its processor time that each thread is in it. periods: by location, as
    far as they have been asked for: speedups, and for each the periods of threads, and those if waits stay.
    """

    network: ClosedNetwork
    visits: Mapping[str, Sequence[Floats]]
    in_target: Mapping[str, Floats]
    periods: dict[str, tuple[Floats, Floats, Floats]] = field(default_factory=dict)

    def outside(self, point: str) -> float:
        """The part of the time in which those who make visits wait for nothing inside; 1 if not known."""
        return max((float(each @ self.network.outside) for each in self.visits.get(point, ())), default=1.0)

    def gains(self, location: str, point: str, speedup: float) -> list[tuple[float, float]]:
        """The effect, and that if waits for cores stay, of all ways that explain windows, the best first.

        Empty if nothing is known.
        """
        if point not in self.visits or location not in self.in_target:
            return []
        speedups, *periods = self._periods(location)
        return [
            cast(
                "tuple[float, float]",
                tuple(float(np.interp(speedup, speedups, 1 - 1 / (1 / each @ visits))) for each in periods),
            )
            for visits in self.visits[point]
        ]

    def _periods(self, location: str) -> tuple[Floats, Floats, Floats]:
        if location not in self.periods:
            in_target = self.in_target[location]
            # Of a small target effects are straight lines.
            speedups = np.linspace(0, 1, 2 + math.ceil(_STEPS * float(in_target.max())))
            periods = [self.network.periods(speedup * in_target) for speedup in speedups]
            if_stay = [
                self.network.if_waits_stay(each, speedup * in_target)
                for each, speedup in zip(periods, speedups, strict=True)
            ]
            self.periods[location] = speedups, np.array(periods), np.array(if_stay)
        return self.periods[location]


class Gain(NamedTuple):
    """An effect; from `low` to `high` where it is not clear who makes the visits.

    if_waits_stay: what it would be if threads waited for cores as long as before.
    """

    effect: float
    low: float
    high: float
    if_waits_stay: float


class IndependentThreads:
    """The networks of all runs."""

    def __init__(self, runs: Sequence[_OfRun]) -> None:
        self._runs = tuple(runs)

    def gain(self, location: str, point: str, speedup: float) -> Gain | None:
        """Of a target on a throughput point, the mean of runs; None if no run tells."""
        known = [found for run in self._runs if (found := run.gains(location, point, speedup))]
        if not known:
            return None
        effects = [[effect for effect, _ in ways] for ways in known]
        of_runs = [
            (ways[0][0], min(each), max(each), ways[0][1]) for ways, each in zip(known, effects, strict=True)
        ]
        return Gain(*map(float, np.mean(of_runs, axis=0)))

    def sets_its_pace(self, point: str) -> bool:
        """Do those who make the visits hardly wait for anything outside?"""
        return all(run.outside(point) <= MAX_OUTSIDE for run in self._runs)


def independent_threads(runs: Sequence[Run], shares: Mapping[str, float]) -> IndependentThreads | None:
    """What windows say of all threads; None if they wait for each other in any run, or it is not known.

    Nor is it where other programs take much of the cores, or threads wait for cores much more or less than
    the model says.

    Args:
        shares: of all threads' processor time, by location.
    """
    windows: defaultdict[int, list[ExperimentRecord]] = defaultdict(list)
    for run, record in records_without_partner(runs):
        if run.record.cores > 0 and record.processor_time > 0 and record.core_wait >= 0:
            windows[id(run)].append(record)
    if any(map(_depend, windows.values())):
        return None
    found = []
    for run in runs:
        baselines = [record for record in windows[id(run)] if record.speedup == 0 and _threads(record)]
        if baselines:  # others are too short to tell
            known = _of_run(run.record.cores, windows[id(run)], baselines, shares)
            if known is None:
                return None
            found.append(known)
    return IndependentThreads(found) if found else None


def _depend(windows: Sequence[ExperimentRecord]) -> bool:
    """Do threads wait for each other, or is it not known, or does what they wait for depend on their load?"""
    by_thread = sum(bool(_threads(record)) for record in windows)
    # Long waits end in any window.
    waited = sum(record.threads.waited for record in windows if record.threads)
    return (
        any(record.arrivals is not None for record in windows)
        or by_thread < MIN_KNOWN * len(windows)
        or waited > MAX_THREAD_WAIT * sum(record.processor_time + record.core_wait for record in windows)
    )


def _of_run(
    cores: int,
    windows: Sequence[ExperimentRecord],
    baselines: Sequence[ExperimentRecord],
    shares: Mapping[str, float],
) -> _OfRun | None:
    by_thread = [record for record in windows if _threads(record)]
    numbers = sorted({each.thread for record in by_thread for each in _threads(record)})
    if not 1 < len(numbers) <= MAX_THREADS:
        return None
    # Pauses are no time outside.
    length = sum(record.effective_duration for record in baselines)
    others = sum(map(taken_by_others, baselines))
    if not _are_there(baselines) or others > MAX_OTHERS * cores * length:
        return None
    busy = _table(numbers, baselines, lambda each: each.ran).sum(axis=0) / length
    core_wait = _table(numbers, baselines, lambda each: each.core_wait).sum(axis=0) / length
    network = ClosedNetwork(cores, busy, core_wait)
    if not network.is_plausible:
        return None
    in_target = _in_targets(numbers, by_thread, shares)
    ran = _table(numbers, by_thread, lambda each: each.ran)
    return _OfRun(network, _visits(by_thread, ran, _kinds(in_target, len(numbers)), busy), in_target)


def _are_there(baselines: Sequence[ExperimentRecord]) -> bool:
    """Do the same threads do nearly all of the work in all baselines?"""
    windows: defaultdict[int, int] = defaultdict(int)
    ran: defaultdict[int, int] = defaultdict(int)
    for record in baselines:
        for each in _threads(record):
            windows[each.thread] += 1
            ran[each.thread] += each.ran
    there = sum(ran[thread] for thread in ran if windows[thread] >= MIN_THERE * len(baselines))
    return there >= MIN_THERE * sum(record.processor_time for record in baselines)


def _threads(record: ExperimentRecord) -> Sequence[ThreadShare]:
    return record.threads.each if record.threads else ()


def _table(
    numbers: Sequence[int], windows: Sequence[ExperimentRecord], value: Callable[[ThreadShare], int]
) -> Floats:
    """A row for each window, a column for each thread."""
    columns = {number: column for column, number in enumerate(numbers)}
    table = np.zeros((len(windows), len(numbers)))
    for row, record in enumerate(windows):
        for each in _threads(record):
            table[row, columns[each.thread]] = value(each)
    return table


def _kinds(in_target: Mapping[str, Floats], threads: int) -> Floats:
    """A row for each thread, a column for each kind of them, by the targets that they run."""
    parts = np.array([np.zeros(threads), *in_target.values()]).T
    of_kind: list[Floats] = []
    kinds = []
    for part in parts:
        same = [kind for kind, first in enumerate(of_kind) if np.abs(part - first).max() <= SAME_KIND]
        if not same:
            of_kind.append(part)
        kinds.append(same[0] if same else len(of_kind) - 1)
    return np.asarray(np.array(kinds)[:, None] == np.arange(len(of_kind))[None, :], dtype=float)


def _visits(
    windows: Sequence[ExperimentRecord], ran: Floats, kinds: Floats, busy: Floats
) -> dict[str, list[Floats]]:
    """By throughput point, the parts of its visits that threads make, in all ways that explain windows."""
    counted: defaultdict[str, list[tuple[int, float, float, float]]] = defaultdict(list)
    for row, record in enumerate(windows):
        # Visits are known at edges, which pauses move.
        if record.delay <= MAX_DELAY * record.duration:
            for point in record.points:
                if isinstance(point, ThroughputPoint) and point.visits > 0:
                    visits = point.visits * record.effective_duration / point.elapsed
                    counted[point.name].append((row, visits, record.duration, record.effective_duration))
    found = {}
    for name, of_point in counted.items():
        rows, numbers, durations, effective = (np.array(column) for column in zip(*of_point, strict=True))
        # Errors of rates are the less the longer windows are.
        weights = 1 / np.sqrt(durations)
        paces = [durations * weights, effective * weights]
        try:
            rates = _explanations(ran[rows] @ kinds * weights[:, None], numbers * weights, paces)
        except RuntimeError:
            continue
        of_threads = [kinds @ each * busy for each in rates]
        if of_threads and all(each.sum() > 0 for each in of_threads):
            found[name] = [each / each.sum() for each in of_threads]
    return found


def _explanations(ran: Floats, visits: Floats, paces: Sequence[Floats]) -> list[Floats]:
    """Visits for each ns of each column, the best explanation first, and others that are as likely.

    Empty if one of the paces explains them better, or there are too few rows.

    Raises:
        RuntimeError: no solution was found.
    """
    # Half a second, which no other report pays.
    from scipy.optimize import nnls

    rows, columns = ran.shape
    size = np.sqrt((ran**2).sum(axis=0))
    if rows < MIN_WINDOWS * columns or not size.all():
        return []
    ran = ran / size
    number = min(rows, MAX_COUNTED)

    def explain(kinds: Sequence[int]) -> tuple[float, Floats]:
        rates = np.zeros(columns)
        rates[list(kinds)], error = nnls(ran[:, kinds], visits)
        return _criterion(error**2, len(kinds), number), rates

    found = [explain([kind]) for kind in range(columns)]
    kinds = [int(kind) for kind in np.flatnonzero(explain(range(columns))[1])]
    while len(kinds) > 1:
        found.append(explain(kinds))
        kinds = min(
            ([each for each in kinds if each != kind] for kind in kinds), key=lambda left: explain(left)[0]
        )
    found.sort(key=lambda explanation: explanation[0])
    errors = [float(((visits - pace * (pace @ visits) / (pace @ pace)) ** 2).sum()) for pace in paces]
    if _criterion(min(errors), 1, number) + AS_LIKELY < found[0][0]:
        return []
    return [rates / size for criterion, rates in found if criterion <= found[0][0] + AS_LIKELY]


def _criterion(squares: float, parameters: int, number: int) -> float:
    """Schwarz's, from the sum of squared errors."""
    return number * math.log(max(squares, _NO_ERROR)) + parameters * math.log(number)


def _in_targets(
    numbers: Sequence[int], windows: Sequence[ExperimentRecord], shares: Mapping[str, float]
) -> dict[str, Floats]:
    by_location: defaultdict[str, list[ExperimentRecord]] = defaultdict(list)
    for record in windows:
        by_location[record.location].append(record)
    ran = _table(numbers, windows, lambda each: each.ran).sum(axis=0)
    found = {}
    for location, share in shares.items():
        if location.startswith(WAITING):
            continue
        own = by_location[location]
        samples = _table(numbers, own, lambda each: each.target_samples).sum(axis=0)
        if samples.sum() >= MIN_SAMPLES:
            # In its windows, threads that run it less pause for longer.
            rates = samples / np.maximum(_table(numbers, own, lambda each: each.ran).sum(axis=0), 1.0)
            found[location] = np.minimum(rates * share * ran.sum() / float(rates @ ran), 1.0)
    return found
