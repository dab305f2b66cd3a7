"""Quantiles of the latency at one load, where operations have identities (`COZ_BEGIN_ID`).

Operations of all windows of the load count alike. Intervals: a bootstrap of the same units as for periods
(scalability.py), on the logarithm.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence

import numpy as np

from cozcli.analysis.estimate.percentiles import percentile_interval
from cozcli.analysis.estimate.quantiles import MIN_BEYOND, QUANTILES, quantile_of
from cozcli.analysis.estimate.replicates import REPLICATES, small_sample_factor
from cozcli.analysis.load_result import LoadQuantile
from cozcli.analysis.statistics.arrays import Floats
from cozcli.load.units import sums_of_units

#: Buckets of operations by length, and how many fell into each (docs/profile_format.md).
Histogram = Sequence[tuple[int, int]]


def load_quantiles(
    histograms: Sequence[Histogram], runs: Sequence[int], name: str
) -> tuple[LoadQuantile, ...]:
    """Those of `QUANTILES` beyond which there are operations enough.

    Args:
        histograms: of N windows. runs: which run each belongs to, N numbers. name: seeds the replicates.
    """
    buckets = np.unique([bucket for each in histograms for bucket, _ in each]).astype(np.int64)
    counts = np.zeros((len(histograms), len(buckets)))
    for row, each in enumerate(histograms):
        if each:
            numbers, values = np.array(each).T
            counts[row, np.searchsorted(buckets, numbers)] = values
    units = sums_of_units(counts, np.array(runs))
    if len(units) < 2:
        return ()
    total = units.sum(axis=0)
    rng = np.random.default_rng(zlib.crc32(name.encode(errors="replace")))
    drawn = rng.multinomial(len(units), np.full(len(units), 1 / len(units)), size=REPLICATES) @ units

    def logs(q: float, summed: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            up_to = np.cumsum(summed, axis=1) / summed.sum(axis=1, keepdims=True)
        return np.asarray(np.log(np.maximum(quantile_of(q, up_to, buckets), 1.0)), dtype=np.float64)

    found = []
    for q in (q for q in QUANTILES if total.sum() * (1 - q) >= MIN_BEYOND):
        estimate = float(logs(q, total[None, :])[0])
        replicates = logs(q, drawn)
        spread = np.where(np.isfinite(replicates), replicates - estimate, 0.0)
        low, high = percentile_interval(estimate + spread * small_sample_factor(len(units)))
        found.append(LoadQuantile(q, math.exp(estimate), math.exp(low), math.exp(high)))
    return tuple(found)
