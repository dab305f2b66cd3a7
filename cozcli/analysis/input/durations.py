"""How long operations with identities took: histograms of windows, by block and speedup.

docs/profile_format.md says what a bucket is. Within a bucket durations are taken as evenly spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cozcli.analysis.input.windows import POOL, Window
from cozcli.analysis.statistics.arrays import Floats, Ints
from cozcli.profile.records import LatencyPoint

#: Of an octave of durations; the first begins at `SHORTEST` ns, above bucket 0.
BUCKETS_OF_OCTAVE, SHORTEST = 64, 1024


def lower_bounds(buckets: Ints) -> Floats:
    """Where buckets begin, ns. That of the next number is where a bucket ends."""
    octave, within = np.divmod(np.maximum(buckets - 1, 0), BUCKETS_OF_OCTAVE)
    bounds = SHORTEST * np.exp2(octave) * (1 + within / BUCKETS_OF_OCTAVE)
    return np.asarray(np.where(buckets == 0, 0.0, bounds), dtype=np.float64)


@dataclass(frozen=True)
class Durations:
    """The windows of one target in which operations of one point ended.

    speedup, stratum: of each of N windows, (N,). buckets: the numbers of those in use, (B,), ascending.
    counts: operations by window and bucket, (N, B).
    """

    speedup: Floats
    stratum: Ints
    buckets: Ints
    counts: Floats


def durations_of(windows: Sequence[Window], point: str) -> Durations | None:
    """None if no operation of the point has an identity. Windows that are in no block are left out."""
    found = [
        (window, durations)
        for window in windows
        if window.stratum != POOL and (durations := _durations(window, point))
    ]
    if not found:
        return None
    buckets = np.unique([bucket for _, durations in found for bucket, _ in durations])
    counts = np.zeros((len(found), len(buckets)))
    for row, (_, durations) in enumerate(found):
        numbers, values = np.array(durations).T
        counts[row, np.searchsorted(buckets, numbers)] = values
    return Durations(
        speedup=np.array([window.record.speedup for window, _ in found]),
        stratum=np.array([window.stratum for window, _ in found], dtype=np.int64),
        buckets=np.asarray(buckets, dtype=np.int64),
        counts=counts,
    )


def _durations(window: Window, name: str) -> tuple[tuple[int, int], ...]:
    for point in window.record.points:
        if isinstance(point, LatencyPoint) and point.name == name:
            return point.durations
    return ()
