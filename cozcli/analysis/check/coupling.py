"""Does a target do its work for the visits to a point, or beside them?

What is done for visits is done as often for each visit, however slow the visits are. What is done beside them
goes on at its own pace. In windows at large speedups all other threads pause: there visits come at the rate
r_s, for each ns of real time, instead of r_0, and samples in the target at h_s instead of h_0:

    (h_s / r_s) / (h_0 / r_0)  =  1          for the visits
                               ≥  r_0 / r_s  beside them

A target works for the visits if its samples tell that the ratio is less than r_0 / r_s.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from cozcli.analysis.input.partners import records_without_partner
from cozcli.profile.profile import Run
from cozcli.profile.records import ThroughputPoint

#: Windows with at least this speedup slow others down.
LARGE_SPEEDUP = 0.5
#: Standard errors of the ratio by which it must be less.
ERRORS = 2.0


@dataclass
class _Rates:
    """Sums over windows, times in ns: of samples in the target, and of intervals between visits."""

    samples: float = 0.0
    duration: float = 0.0
    visits: float = 0.0
    elapsed: float = 0.0

    @property
    def visit_rate(self) -> float:
        return self.visits / self.elapsed

    @property
    def sample_rate(self) -> float:
        return self.samples / self.duration

    @property
    def is_known(self) -> bool:
        return min(self.samples, self.duration, self.visits, self.elapsed) > 0


def works_for_visits(runs: Sequence[Run]) -> frozenset[tuple[str, str]]:
    """The locations and points of which this is sure."""
    baselines: defaultdict[tuple[str, str], _Rates] = defaultdict(_Rates)
    faster: defaultdict[tuple[str, str], _Rates] = defaultdict(_Rates)
    for _, record in records_without_partner(runs):
        if 0 < record.speedup < LARGE_SPEEDUP or record.effective_duration <= 0:
            continue
        for point in record.points:
            if not isinstance(point, ThroughputPoint):
                continue
            sums = (faster if record.speedup else baselines)[record.location, point.name]
            sums.samples += record.target_samples
            sums.duration += record.duration
            sums.visits += point.visits
            sums.elapsed += point.elapsed * record.duration / record.effective_duration
    return frozenset(key for key in faster if key in baselines and _is_sure(baselines[key], faster[key]))


def _is_sure(baseline: _Rates, faster: _Rates) -> bool:
    if not (baseline.is_known and faster.is_known):
        return False
    slower = math.log(baseline.visit_rate / faster.visit_rate)
    ratio = math.log(faster.sample_rate / baseline.sample_rate) + slower
    return ratio + ERRORS * math.sqrt(1 / baseline.samples + 1 / faster.samples) < slower
