"""The effect of a virtual speedup on quantiles of the latency: 1 − Q_s(q) / Q_0(q).

As with periods, a speedup is compared with the baseline of its own blocks (period_ratio.py). With n_s and n_0
operations in a block, its two distributions get the same weight n_s·n_0 / (n_s + n_0), so that a block in
which the program did something else is in both sides alike. The quantile is that of the weighted sum. Blocks
are drawn with replacement for the interval, all speedups together, as in replicates.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cozcli.analysis.estimate.percentiles import percentile_interval
from cozcli.analysis.estimate.replicates import MAX_LOG, draw_factors, small_sample_factor
from cozcli.analysis.input.durations import Durations, lower_bounds
from cozcli.analysis.input.series import Factor
from cozcli.analysis.result import CurvePoint, Quantile
from cozcli.analysis.statistics.arrays import Floats, Ints
from cozcli.analysis.statistics.distributions import p_from_interval
from cozcli.analysis.statistics.weighted import effective_number

QUANTILES = (0.5, 0.9, 0.99)
REPLICATES = 1000
#: Fewer blocks say nothing of how much they differ.
MIN_BLOCKS = 4
#: So many operations at least must be beyond a quantile, on either side of the comparison.
MIN_BEYOND = 10


@dataclass(frozen=True)
class _Level:
    """One speedup of K blocks, beside their baselines. weight: (K,), 0 where a block does not pair.

    faster, baseline: parts of the operations up to the end of each bucket, by block, (K, B). operations: the
    smaller number of both sides. windows: how many there are.
    """

    speedup: float
    weight: Floats
    faster: Floats
    baseline: Floats
    operations: float
    windows: int


def estimate_quantiles(durations: Durations, factors: Sequence[Factor], name: str) -> tuple[Quantile, ...]:
    """Estimate those of `QUANTILES` for which there are enough operations.

    Args:
        factors: what corrections multiply effects by. name: seeds the replicates.
    """
    levels = _levels(durations)
    if not levels:
        return ()
    rng = np.random.default_rng(zlib.crc32(name.encode(errors="replace")))
    blocks = len(levels[0].weight)
    drawn = rng.multinomial(blocks, np.full(blocks, 1 / blocks), size=REPLICATES).astype(np.float64)
    found = [_estimate(q, levels, durations, drawn, factors) for q in QUANTILES]
    return tuple(quantile for quantile in found if quantile is not None)


def _levels(durations: Durations) -> list[_Level]:
    blocks, row = np.unique(durations.stratum, return_inverse=True)

    def sums(speedup: float) -> Floats:
        chosen = durations.speedup == speedup
        cells = np.zeros((len(blocks), len(durations.buckets)))
        np.add.at(cells, row[chosen], durations.counts[chosen])
        return cells

    baseline = sums(0.0)
    return [
        level
        for speedup in np.unique(durations.speedup[durations.speedup > 0])
        if (level := _level(float(speedup), sums(float(speedup)), baseline, durations)) is not None
    ]


def _level(speedup: float, faster: Floats, baseline: Floats, durations: Durations) -> _Level | None:
    n_s, n_0 = faster.sum(axis=1), baseline.sum(axis=1)
    paired = (n_s > 0) & (n_0 > 0)
    if np.count_nonzero(paired) < MIN_BLOCKS:
        return None
    return _Level(
        speedup=speedup,
        weight=np.where(paired, n_s * n_0 / np.maximum(n_s + n_0, 1), 0.0),
        faster=np.cumsum(faster, axis=1) / np.maximum(n_s, 1)[:, None],
        baseline=np.cumsum(baseline, axis=1) / np.maximum(n_0, 1)[:, None],
        operations=float(min(n_s[paired].sum(), n_0[paired].sum())),
        windows=int(np.count_nonzero(durations.speedup == speedup)),
    )


def _estimate(
    q: float, levels: Sequence[_Level], durations: Durations, drawn: Floats, factors: Sequence[Factor]
) -> Quantile | None:
    known = [level for level in levels if level.operations * (1 - q) >= MIN_BEYOND]
    if not known:
        return None
    factor = float(np.prod([each.value for each in factors]))
    noise = draw_factors(factors, len(drawn)) * factor
    ones = np.ones((1, drawn.shape[1]))
    ratio = np.array([_log_ratio(q, level, durations.buckets, ones)[0] for level in known])
    units = np.array([_units(level) for level in known])
    replicates = np.column_stack([_log_ratio(q, level, durations.buckets, drawn) for level in known])
    spread = np.where(np.isfinite(replicates), replicates - ratio, 0.0)
    widened = np.array([small_sample_factor(float(each)) for each in units])
    replicates = -np.expm1(np.clip(ratio + spread * widened, -MAX_LOG, MAX_LOG)) * noise
    effect = -np.expm1(ratio) * factor
    low, high = percentile_interval(replicates)
    of_slope = _slope_operator(known)
    slope = float(effect @ of_slope)
    slope_low, slope_high = (float(end) for end in percentile_interval(replicates @ of_slope))
    columns = zip(known, effect, low, high, strict=True)
    baseline = int(np.count_nonzero(durations.speedup == 0))
    return Quantile(
        q=q,
        baseline=_baseline(q, known, durations.buckets),
        slope=slope,
        slope_low=slope_low,
        slope_high=slope_high,
        p_no_slope=p_from_interval(slope, slope_low, slope_high, max(float(units.min()) - 1, 1.0)),
        curve=(
            CurvePoint(0.0, 0.0, 0.0, 0.0, baseline),
            *(
                CurvePoint(of.speedup, float(e), float(lo), float(hi), of.windows)
                for of, e, lo, hi in columns
            ),
        ),
    )


def _log_ratio(q: float, level: _Level, buckets: Ints, drawn: Floats) -> Floats:
    """log(Q_s / Q_0) for each row of `drawn`, how often each block counts, (R,); NaN where none pairs."""
    weight = drawn * level.weight
    with np.errstate(divide="ignore", invalid="ignore"):
        faster, baseline = (
            quantile_of(q, (weight @ side) / weight.sum(axis=1, keepdims=True), buckets)
            for side in (level.faster, level.baseline)
        )
        return np.asarray(np.log(faster / baseline), dtype=np.float64)


def quantile_of(q: float, up_to: Floats, buckets: Ints) -> Floats:
    """The quantile of each row's distribution function at the ends of buckets, (R, B); result (R,)."""
    reached = np.argmax(up_to >= q - 1e-12, axis=1)
    row = np.arange(len(up_to))
    end = up_to[row, reached]
    begin = np.where(reached > 0, up_to[row, np.maximum(reached - 1, 0)], 0.0)
    part = np.clip((q - begin) / np.maximum(end - begin, 1e-12), 0.0, 1.0)
    low, high = lower_bounds(buckets[reached]), lower_bounds(buckets[reached] + 1)
    return np.asarray(np.where(np.isnan(end), np.nan, low + part * (high - low)), dtype=np.float64)


def _units(level: _Level) -> float:
    """How many equally heavy blocks the level rests on (Kish 1965), at least 2."""
    return float(np.maximum(effective_number(level.weight[:, None])[0], 2.0))


def _slope_operator(levels: Sequence[_Level]) -> Floats:
    """What gives the slope of a line through the origin from effects, weighted by operations."""
    speedup = np.array([level.speedup for level in levels])
    weight = np.array([level.weight.sum() for level in levels])
    return np.asarray(weight * speedup / (weight * speedup**2).sum(), dtype=np.float64)


def _baseline(q: float, levels: Sequence[_Level], buckets: Ints) -> float:
    weight = sum(level.weight for level in levels)
    summed = sum(level.weight @ level.baseline for level in levels) / np.sum(weight)
    return float(quantile_of(q, np.atleast_2d(summed), buckets)[0])
