"""From records to series: the windows of one line, seen at one progress point, as arrays.

A window contributes two numbers whose ratio is what we compare between speedups:
throughput `elapsed / visits` (the period), latency `in_progress·elapsed / arrivals` (see latency.py).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cozcli.analysis.latency import latency_terms
from cozcli.profile.profile import Run
from cozcli.profile.records import (
    ExperimentRecord,
    LatencyPoint,
    Point,
    ReferenceRecord,
    ThroughputPoint,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

THROUGHPUT, LATENCY = "throughput", "latency"
#: Stratum of windows that were not measured in blocks: classic profiles, whole-run experiments.
POOL = -1
#: The quantile of probe times that counts as undisturbed: windows at the machine's full speed are no rarity.
UNDISTURBED = 0.1
#: Twenty times slower or faster: beyond that a probe says no more.
MOST_SLOWNESS = 3.0
#: Nanoseconds: two of the ticks in which the kernel counts what the machine's processors did.
LEAST_BUSY = 20_000_000


@dataclass(frozen=True)
class Window:
    """One usable window: which run it is of, and the record. `stratum` pairs it with its baseline.

    slowness: log of the time that the machine took for a fixed piece of work, against its best.
    stolen: log of the processor time that the machine wanted, against what the hypervisor gave it.
    planned: the speedups above 0 that its run was to try, if not the ladder. period: of sampling, ns.
    """

    run: int
    stratum: int
    record: ExperimentRecord
    slowness: float = 0.0
    stolen: float = 0.0
    borrowed: bool = False
    planned: frozenset[float] | None = None
    period: int = 0

    @property
    def disturbance(self) -> float:
        """By how much the machine was slower than at its best, for both reasons; a logarithm."""
        return self.slowness + self.stolen


@dataclass(frozen=True)
class Series:
    """All windows of one line at one point. Arrays have one entry per window, shape (N,).

    speedup: fraction. stratum: block index, or `POOL`. numerator / denominator: see the module.
    time: effective nanoseconds watched. slowness, stolen: as in Window (speed.py), 0 where unknown.
    discount: how much of the window numerator, denominator and time still count, between 0 and 1.
    hit_share, delay_share: time in the line by samples, and delay that was added, for each effective ns.
    dose_error: relative standard error of the delay that a speedup calls for, common to all speedups.
    planned: the speedups above 0 that all runs together were to try; None if one was to try the ladder.
    target: what the location names: line, function, callpath or region.
    """

    location: str
    function: str
    point: str
    kind: str
    speedup: Floats
    stratum: Ints
    numerator: Floats
    denominator: Floats
    time: Floats
    slowness: Floats
    stolen: Floats
    discount: Floats
    hit_share: Floats
    delay_share: Floats
    borrowed: bool
    unsettled: bool
    planned: frozenset[float] | None = None
    dose_error: float = 0.0
    target: str = "line"

    @property
    def weight(self) -> Floats:
        """The exposure in the Mantel–Haenszel weights: time for throughput, arrivals for latency."""
        return self.numerator if self.kind == THROUGHPUT else self.denominator

    def without(self, excluded: Bools) -> Series:
        """The series less some of its windows; `excluded` has shape (N,)."""
        keep = ~excluded
        arrays = ["speedup", "stratum", "numerator", "denominator", "time", "slowness", "stolen", "discount"]
        arrays += ["hit_share", "delay_share"]
        return replace(self, **{name: getattr(self, name)[keep] for name in arrays})


@dataclass
class Windows:
    """All usable windows by line, in the order of the profile, and what was set aside."""

    by_line: dict[str, list[Window]]
    clipped: int = 0
    unsettled: int = 0


def usable_windows(runs: Sequence[Run]) -> Windows:
    """Sort windows by line. Clipped ones are left out: the speedup they claim was not applied."""
    windows = Windows(defaultdict(list))
    strata: dict[tuple[int, int], int] = {}
    references = _reference_probe_times(runs)
    for number, run in enumerate(runs):
        pooled = run.record.classic or run.record.end_to_end
        for record in run.experiments:
            if record.target == "none":
                continue  # of load alone
            if "clipped" in record.flags:
                windows.clipped += 1
                continue
            windows.unsettled += "unsettled" in record.flags
            stratum = POOL if pooled else strata.setdefault((number, record.block), len(strata))
            slowness = _slowness(record.probe_time, references[number])
            planned = run.record.planned_speedups
            stolen = stolen_share(record)
            period = run.record.period
            window = Window(number, stratum, record, slowness, stolen, planned=planned, period=period)
            windows.by_line[record.location].append(window)
    _borrow_baselines(runs, windows.by_line)
    return windows


def _reference_probe_times(runs: Sequence[Run]) -> list[float]:
    """What the probe takes while nothing disturbs the machine, for each run; inf if it has no probes.

    Runs that are one window each are compared with each other.
    """
    whole = [r.probe_time for run in runs if run.record.end_to_end for r in run.experiments]
    references = []
    for run in runs:
        times = whole if run.record.end_to_end else [record.probe_time for record in run.experiments]
        known = [time for time in times if time > 0]
        references.append(float(np.quantile(known, UNDISTURBED)) if known else math.inf)
    return references


def _slowness(probe_time: float, reference: float) -> float:
    if probe_time <= 0 or math.isinf(reference):
        return 0.0
    # The difference of logarithms: a quotient of odd numbers may be too small to have one.
    slowness = math.log(probe_time) - math.log(reference)
    return min(max(slowness, -MOST_SLOWNESS), MOST_SLOWNESS)


def stolen_share(record: ExperimentRecord | ReferenceRecord) -> float:
    """log((busy + stolen)/busy) of the machine's processors in a window; 0 where unknown.

    Both are counted in ticks. Where it did next to nothing there was next to nothing to steal from.
    """
    if record.machine_busy < 0 or record.machine_stolen < 0:
        return 0.0
    busy = max(record.machine_busy, LEAST_BUSY)
    return min(math.log(busy + record.machine_stolen) - math.log(busy), MOST_SLOWNESS)


def _borrow_baselines(runs: Sequence[Run], by_line: dict[str, list[Window]]) -> None:
    """Give whole-run experiments without a baseline of their own line that of any other line.

    At speedup 0 nothing is delayed whichever line is selected, so it is the same program.
    """
    whole = {line: [w for w in windows if runs[w.run].record.end_to_end] for line, windows in by_line.items()}
    baselines = [w for windows in whole.values() for w in windows if w.record.speedup == 0]
    for line, windows in whole.items():
        if windows and not any(w.record.speedup == 0 for w in by_line[line]):
            by_line[line] += [replace(w, stratum=POOL, borrowed=True) for w in baselines]


def make_series(location: str, windows: Sequence[Window]) -> list[Series]:
    """One series for each progress point that any window of the line saw."""
    names = {
        (point.name, THROUGHPUT if isinstance(point, ThroughputPoint) else LATENCY): None
        for window in windows
        for point in window.record.points
        if isinstance(point, ThroughputPoint | LatencyPoint)
    }
    return [_series(location, windows, name, kind) for name, kind in names]


def _series(location: str, windows: Sequence[Window], name: str, kind: str) -> Series:
    terms = np.array([_terms(window.record, name, kind) for window in windows], dtype=np.float64)
    own = [window.record for window in windows if not window.borrowed]
    return Series(
        location=location,
        function=next((record.function for record in own if record.function), ""),
        point=name,
        kind=kind,
        speedup=np.array([window.record.speedup for window in windows]),
        stratum=np.array([window.stratum for window in windows], dtype=np.int64),
        numerator=terms[:, 0],
        denominator=terms[:, 1],
        time=terms[:, 2],
        slowness=np.array([window.slowness for window in windows]),
        stolen=np.array([window.stolen for window in windows]),
        discount=np.ones(len(windows)),
        hit_share=np.array([_share(window.record, window.record.hits * window.period) for window in windows]),
        delay_share=np.array([_share(window.record, window.record.delay) for window in windows]),
        borrowed=any(window.borrowed for window in windows),
        unsettled=any("unsettled" in record.flags for record in own),
        planned=_planned([window.planned for window in windows if not window.borrowed]),
        target=next((record.target for record in own), "line"),
    )


def _planned(sets: Sequence[frozenset[float] | None]) -> frozenset[float] | None:
    known = [speedups for speedups in sets if speedups is not None]
    return frozenset().union(*known) if len(known) == len(sets) else None


def _share(record: ExperimentRecord, time: float) -> float:
    return time / record.effective_duration if record.effective_duration > 0 else 0.0


def _terms(record: ExperimentRecord, name: str, kind: str) -> tuple[float, float, float]:
    """Numerator, denominator and time of one window; a point it does not name was not visited."""
    wanted: type[Point] = ThroughputPoint if kind == THROUGHPUT else LatencyPoint
    for point in record.points:
        if point.name != name or not isinstance(point, wanted):
            continue
        if isinstance(point, LatencyPoint):
            return (*latency_terms(point), float(point.elapsed))
        return float(point.elapsed), float(point.visits), float(point.elapsed)
    if kind == THROUGHPUT:
        return float(record.effective_duration), 0.0, float(record.effective_duration)
    return 0.0, 0.0, float(record.effective_duration)
