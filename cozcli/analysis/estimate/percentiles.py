"""95 % percentile intervals of replicates."""

from __future__ import annotations

import numpy as np

from cozcli.analysis.statistics.arrays import Floats
from cozcli.analysis.statistics.distributions import LEVEL


def percentile_interval(replicates: Floats) -> tuple[Floats, Floats]:
    """The 95 % percentile interval of each column of `replicates`, (B,) or (B, S): two arrays, () or (S,)."""
    tail = 50 * (1 - LEVEL)
    # A row for each column: np.percentile is several times as fast on what is contiguous.
    low, high = np.percentile(np.ascontiguousarray(replicates.T), [tail, 100 - tail], axis=-1)
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
