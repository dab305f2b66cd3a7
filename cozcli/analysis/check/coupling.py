"""Does a target do its work for the visits to a point, or beside them?

What is done for visits is done as often for each visit, however slow the visits are. What is done beside them
goes on at its own pace. In windows at large speedups all other threads pause: there visits come at the rate
r_s, for each ns of real time, instead of r_0, and samples in the target at h_s instead of h_0:

    (h_s / r_s) / (h_0 / r_0)  =  1          for the visits
                               ≥  r_0 / r_s  beside them

A target works for the visits if its samples tell that the ratio is less than r_0 / r_s.

Where threads make visits without waiting for each other, those of threads that do not pause become more of
all: a visit then takes other work in such windows than in baselines (`VisitWork`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

from cozcli.analysis.input.partners import records_without_partner
from cozcli.profile.profile import Run
from cozcli.profile.records import ThroughputPoint

#: Windows with at least this speedup slow others down.
LARGE_SPEEDUP = 0.5
#: Standard errors of the ratio by which it must be less.
ERRORS = 2.0

#: Of windows of one kind, by location and point.
Key = tuple[str, str]


@dataclass(frozen=True)
class VisitWork:
    """What a visit takes in windows of one speedup, as a part of what it takes in baselines.

    in_target: time in the target, at most. all: processor time of all threads.
    """

    in_target: float
    all: float


@dataclass
class _Rates:
    """Sums over windows, times in ns: of samples in the target, and of intervals between visits."""

    samples: float = 0.0
    duration: float = 0.0
    processor_time: float = 0.0
    visits: float = 0.0
    elapsed: float = 0.0

    @property
    def visit_rate(self) -> float:
        return self.visits / self.elapsed

    @property
    def sample_rate(self) -> float:
        return self.samples / self.duration

    @property
    def busy(self) -> float:
        return self.processor_time / self.duration

    @property
    def is_known(self) -> bool:
        return min(self.samples, self.duration, self.visits, self.elapsed) > 0

    def __add__(self, other: _Rates) -> _Rates:
        return _Rates(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


class Coupling:
    """What is done for visits, by windows of baselines and speedups, of each location and point."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._rates: defaultdict[Key, defaultdict[float, _Rates]] = defaultdict(lambda: defaultdict(_Rates))
        for _, record in records_without_partner(runs):
            if record.effective_duration <= 0:
                continue
            for point in record.points:
                if not isinstance(point, ThroughputPoint):
                    continue
                sums = self._rates[record.location, point.name][record.speedup]
                sums.samples += record.target_samples
                sums.duration += record.duration
                sums.processor_time += max(record.processor_time, 0)
                sums.visits += point.visits
                sums.elapsed += point.elapsed * record.duration / record.effective_duration

    def works_for_visits(self) -> frozenset[Key]:
        """The locations and points of which this is sure."""
        return frozenset(key for key, rates in self._rates.items() if _is_sure(rates))

    def visit_work(self) -> dict[Key, dict[float, VisitWork]]:
        """By location, point and speedup, where that is known."""
        found: dict[Key, dict[float, VisitWork]] = {}
        for key, rates in self._rates.items():
            baseline = rates.get(0.0, _Rates())
            known = {
                speedup: _compared(baseline, faster)
                for speedup, faster in rates.items()
                if speedup > 0
                and baseline.is_known
                and faster.is_known
                and min(baseline.busy, faster.busy) > 0
            }
            if known:
                found[key] = known
        return found


def _compared(baseline: _Rates, faster: _Rates) -> VisitWork:
    slower = baseline.visit_rate / faster.visit_rate
    error = ERRORS * math.sqrt(1 / baseline.samples + 1 / faster.samples)
    return VisitWork(
        slower * faster.sample_rate / baseline.sample_rate * math.exp(error),
        slower * faster.busy / baseline.busy,
    )


def _is_sure(rates: Mapping[float, _Rates]) -> bool:
    baseline = rates.get(0.0, _Rates())
    faster = sum((each for speedup, each in rates.items() if speedup >= LARGE_SPEEDUP), _Rates())
    if not (baseline.is_known and faster.is_known):
        return False
    slower = math.log(baseline.visit_rate / faster.visit_rate)
    ratio = math.log(faster.sample_rate / baseline.sample_rate) + slower
    return ratio + ERRORS * math.sqrt(1 / baseline.samples + 1 / faster.samples) < slower
