"""Is the number in progress steady, as Little's law demands?

L = λ·W relates the means of a queue that neither grows nor empties (Little 1961). Where arrivals exceed
departures window after window, W depends on when it was measured. Two signs are looked for in baselines, for
the point as a whole:

* arrivals − departures, the growth within a window, has a mean other than 0;
* of two baselines of a block, the later has more in progress.

Two more are looked for in each line: growth under its speedups, and waves. In a steady queue the first three
are 0 on average, however much the number in progress varies; the tests allow for chance. Waves are long
queues that build up and drain over several windows, as at a load near 100 %: in many windows arrivals and
departures are far apart. They cancel in the mean, but a latency is that of the moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cozcli.analysis.input.windows import POOL, Window
from cozcli.analysis.statistics.arrays import Floats, Ints
from cozcli.analysis.statistics.clustered_regression import Coefficient, fit_through_origin
from cozcli.analysis.statistics.false_discovery import discoveries
from cozcli.profile.records import LatencyPoint

#: Rate of false marks.
MAX_FALSE_MARKS = 0.01
#: The growth seen, added up, must come to this part of the mean number in progress: less does not matter.
MIN_GROWTH = 0.5
#: A window is part of a wave if its growth is larger than this share of its arrivals, and so many requests
#: more; and a line's windows are in waves if this share of them is.
WAVE_GROWTH, WAVE_REQUESTS, WAVE_WINDOWS = 0.15, 4, 0.1


@dataclass(frozen=True)
class _Seen:
    block: int
    speedup: float
    start: int
    growth: float
    arrivals: int
    in_progress: float

    @property
    def is_wave(self) -> bool:
        """Are arrivals and departures far apart?"""
        return abs(self.growth) > WAVE_GROWTH * self.arrivals + WAVE_REQUESTS


def unstable_queues(by_target: Mapping[str, Sequence[Window]]) -> tuple[set[tuple[str, str]], set[str]]:
    """(location, point) of all latency points whose queue was not steady.

    And the points whose queue is not steady without a speedup either, whichever target is looked at.
    """
    names = {
        point.name
        for windows in by_target.values()
        for window in windows
        for point in window.record.points
        if isinstance(point, LatencyPoint)
    }
    unstable: set[tuple[str, str]] = set()
    unsteady: set[str] = set()
    for name in sorted(names):
        seen = {target: _windows_at(windows, name) for target, windows in by_target.items()}
        baselines = [window for of_target in seen.values() for window in of_target if window.speedup == 0]
        if _is_unsteady(baselines):
            unstable |= {(target, name) for target, of_target in seen.items() if of_target}
            unsteady.add(name)
            continue
        targets = sorted(seen)
        found = [_growth([w for w in seen[target] if w.speedup > 0]) for target in targets]
        # Speedups that empty a queue leave it steady; only growth counts here.
        p_values = [e.p_above_zero if e is not None else 1.0 for e in found]
        marks = discoveries(p_values, MAX_FALSE_MARKS)
        unstable |= {(target, name) for target, mark in zip(targets, marks, strict=True) if mark}
        unstable |= {(target, name) for target in targets if _is_in_waves(seen[target])}
    return unstable, unsteady


def _windows_at(windows: Sequence[Window], name: str) -> list[_Seen]:
    seen = []
    for number, window in enumerate(windows):
        if window.is_of_other_target:
            continue
        # Windows outside blocks are independent of each other.
        block = window.stratum if window.stratum != POOL else -2 - number
        for point in window.record.points:
            if isinstance(point, LatencyPoint) and point.name == name:
                growth = float(point.arrivals - point.departures)
                record = window.record
                numbers = (growth, point.arrivals, point.in_progress)
                seen.append(_Seen(block, record.speedup, record.start, *numbers))
    return seen


def _is_unsteady(baselines: Sequence[_Seen]) -> bool:
    growth, rise = _growth(baselines), _rise(baselines)
    half = MAX_FALSE_MARKS / 2
    return (growth is not None and growth.p_not_zero < half) or (
        rise is not None and rise.p_above_zero < half
    )


def _is_in_waves(seen: Sequence[_Seen]) -> bool:
    """At least two such windows, too: one may be chance."""
    waves = sum(window.is_wave for window in seen)
    return waves > max(1, WAVE_WINDOWS * len(seen))


def _growth(seen: Sequence[_Seen]) -> Coefficient | None:
    """Mean growth of a window; None if it does not matter or cannot be told."""
    values = np.array([window.growth for window in seen])
    return _mean_if_large(values, np.array([window.block for window in seen], dtype=np.int64), seen)


def _rise(baselines: Sequence[_Seen]) -> Coefficient | None:
    """Mean rise of the number in progress from the first baseline of a block to its last."""
    blocks: dict[int, list[_Seen]] = {}
    for window in baselines:
        blocks.setdefault(window.block, []).append(window)
    ordered = [sorted(block, key=lambda w: w.start) for block in blocks.values() if len(block) > 1]
    values = np.array([block[-1].in_progress - block[0].in_progress for block in ordered])
    return _mean_if_large(values, np.arange(len(ordered)), baselines)


def _mean_if_large(values: Floats, block: Ints, seen: Sequence[_Seen]) -> Coefficient | None:
    """The mean of `values`, one for each of `block`; None if their sum is small beside the queue's length."""
    if len(values) == 0:
        return None
    level = float(np.mean([window.in_progress for window in seen]))
    if abs(float(values.sum())) < max(MIN_GROWTH * level, 1.0):
        return None
    ones = np.ones(len(values))
    return fit_through_origin(ones, values, ones, block)
