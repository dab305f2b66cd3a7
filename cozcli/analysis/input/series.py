"""The windows of one target, seen at one progress point, as arrays.

A window contributes two numbers whose ratio is compared between speedups:
throughput `elapsed / visits` (the period), latency `in_progress·elapsed / arrivals` (see latency.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from cozcli.analysis.input.latency import latency_terms
from cozcli.analysis.input.windows import MAX_UNSETTLED, Window
from cozcli.analysis.result import LATENCY, THROUGHPUT
from cozcli.analysis.statistics.arrays import Bools, Floats, Ints
from cozcli.profile.records import ExperimentRecord, LatencyPoint, Point, ThroughputPoint


@dataclass(frozen=True)
class Factor:
    """What a correction multiplies all effects of a series by, with its relative standard error.

    is_at_most_one: whatever the error, the true factor is known not to be above 1.
    """

    value: float = 1.0
    relative_error: float = 0.0
    is_at_most_one: bool = False


@dataclass(frozen=True)
class Series:
    """All windows of one target at one progress point. Arrays have one entry for each window, shape (N,).

    speedup: fraction. stratum: number of the block, or `POOL`. numerator, denominator: see the module.
    time: effective nanoseconds watched. effective: of the whole window. slowness, stolen: as in Window, 0
    where unknown.
    weight: how much of the window numerator, denominator and time still count, between 0 and 1.
    transient: did the window open before queues had reached steady state? lasting: were visits corrected for
    that?
    target_share: time in the target by its samples, for each effective ns. delay_share: delay inserted for
    it, likewise.
    has_other_baseline: were baselines measured on another target? unsettled: did more than a few windows
    (`MAX_UNSETTLED`) close before all delays were paid?
    planned: the speedups above 0 that all runs together were to try; None if one was to try all.
    target: what the location names: line, function, callpath or region.
    factors: what corrections multiply the effects by.
    lent: which part of the visits queues lent or took at some speedup, at most; 0: nothing was corrected.
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
    effective: Floats
    slowness: Floats
    stolen: Floats
    weight: Floats
    transient: Bools
    lasting: Bools
    target_share: Floats
    delay_share: Floats
    has_other_baseline: bool
    unsettled: bool
    planned: frozenset[float] | None = None
    target: str = "line"
    factors: tuple[Factor, ...] = ()
    lent: float = 0.0

    @property
    def key(self) -> tuple[str, str]:
        """The progress point and its kind."""
        return self.point, self.kind

    @property
    def exposure(self) -> Floats:
        """The exposure in the Mantel–Haenszel weights: time for throughput, arrivals for latency."""
        return self.numerator if self.kind == THROUGHPUT else self.denominator

    @property
    def has_visits(self) -> Bools:
        """Of which windows a period is known."""
        return np.asarray((self.numerator > 0) & (self.denominator > 0))

    @property
    def factor(self) -> float:
        """What effects are multiplied by in all."""
        return math.prod(factor.value for factor in self.factors)

    def multiplied(self, factor: Factor) -> Series:
        """The series with one more factor on its effects."""
        return replace(self, factors=(*self.factors, factor))

    def without(self, excluded: Bools) -> Series:
        """The series less some of its windows; `excluded` has shape (N,)."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        kept: dict[str, Any] = {
            name: value[~excluded] for name, value in values.items() if isinstance(value, np.ndarray)
        }
        return replace(self, **kept)


def make_series(location: str, windows: Sequence[Window]) -> list[Series]:
    """One series for each progress point that any window of the target saw."""
    names = {
        (point.name, THROUGHPUT if isinstance(point, ThroughputPoint) else LATENCY): None
        for window in windows
        for point in window.record.points
        if isinstance(point, ThroughputPoint | LatencyPoint)
    }
    return [_series(location, windows, name, kind) for name, kind in names]


def _series(location: str, windows: Sequence[Window], name: str, kind: str) -> Series:
    terms = np.array([_terms(window.record, name, kind) for window in windows], dtype=np.float64)
    own = [window.record for window in windows if not window.is_of_other_target]
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
        effective=np.array([float(window.record.effective_duration) for window in windows]),
        slowness=np.array([window.slowness for window in windows]),
        stolen=np.array([window.stolen for window in windows]),
        weight=np.ones(len(windows)),
        transient=np.array([window.record.is_transient for window in windows], dtype=bool),
        lasting=np.zeros(len(windows), dtype=bool),
        target_share=np.array([_share(w.record, w.record.target_samples * w.period) for w in windows]),
        delay_share=np.array([_share(w.record, w.own_delay) for w in windows]),
        has_other_baseline=any(window.is_of_other_target for window in windows),
        unsettled=sum("unsettled" in record.flags for record in own) > MAX_UNSETTLED * len(own),
        planned=_planned([window.planned for window in windows if not window.is_of_other_target]),
        target=next((record.target for record in own), "line"),
    )


def _planned(sets: Sequence[frozenset[float] | None]) -> frozenset[float] | None:
    known = [speedups for speedups in sets if speedups is not None]
    return frozenset().union(*known) if len(known) == len(sets) else None


def _share(record: ExperimentRecord, time: float) -> float:
    return time / record.effective_duration if record.effective_duration > 0 else 0.0


def _terms(record: ExperimentRecord, name: str, kind: str) -> tuple[float, float, float]:
    """Numerator, denominator and time of one window; a throughput point not named was not visited."""
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
