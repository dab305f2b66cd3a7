"""95 % percentile intervals of replicates."""

from __future__ import annotations

import math

import numpy as np

from cozcli.analysis.statistics.arrays import Floats
from cozcli.analysis.statistics.distributions import LEVEL, normal_quantile, t_quantile


def percentile_interval(replicates: Floats) -> tuple[Floats, Floats]:
    """The 95 % percentile interval of each column of `replicates`, (B,) or (B, S): two arrays, () or (S,)."""
    tail = 50 * (1 - LEVEL)
    # A row for each column: np.percentile is several times as fast on what is contiguous.
    low, high = np.percentile(np.ascontiguousarray(replicates.T), [tail, 100 - tail], axis=-1)
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)


def small_sample_factor(units: float) -> float:
    """By what factor a percentile interval from a bootstrap of `units` blocks is too narrow.

    Drawing k blocks from k understates their variance by (k − 1)/k, and its percentiles are those of the
    normal distribution instead of t with k − 1 degrees of freedom (Hesterberg 2015, §4.1).
    """
    probability = 0.5 + LEVEL / 2
    ratio = float(t_quantile(probability, units - 1)) / normal_quantile(probability)
    return math.sqrt(units / (units - 1)) * ratio
