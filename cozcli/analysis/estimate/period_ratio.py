"""The effect of a virtual speedup, 1 − p_s/p_0, compared within blocks.

Periods drift (phases, other load on the machine), so a speedup is compared with the baseline of its own
block, and blocks are joined by the Mantel–Haenszel ratio for rates. With numerators x and denominators y of
the speedup (s) and the baseline (0), and exposures w, in each block b

    A_b = x_s·y_0 / (w_s + w_0),  C_b = x_0·y_s / (w_s + w_0),  p_s / p_0 = ΣA_b / ΣC_b.

One block gives the plain ratio. A block in which nothing was visited adds nothing, and no block is ever
divided by its own small count. (Rothman, Greenland, Lash: Modern Epidemiology, ch. 15.) Windows that are not
in blocks, and speedups that share no block with a baseline, form one more stratum, of sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cozcli.analysis.estimate.block_table import BlockTable, Pool, arrange_in_blocks
from cozcli.analysis.input.series import Series
from cozcli.analysis.result import THROUGHPUT
from cozcli.analysis.statistics.arrays import Bools, Floats


def strata_terms(table: BlockTable) -> tuple[Floats, Floats]:
    """A and C of every block, each (K, S); zero where a block does not pair."""
    return ratio_terms(
        (table.numerator[:, 1:], table.denominator[:, 1:], table.exposure[:, 1:]),
        (table.numerator[:, :1], table.denominator[:, :1], table.exposure[:, :1]),
        table.paired,
    )


def ratio_terms(
    faster: tuple[Floats, Floats, Floats],
    baseline: tuple[Floats, Floats, Floats],
    usable: Bools | bool = True,
) -> tuple[Floats, Floats]:
    """A and C (see the module) from (numerator, denominator, exposure) of both; any shape."""
    exposure = faster[2] + baseline[2]
    safe = np.where(exposure > 0, exposure, 1.0)
    usable = usable & (exposure > 0)
    return (
        np.where(usable, faster[0] * baseline[1] / safe, 0.0),
        np.where(usable, baseline[0] * faster[1] / safe, 0.0),
    )


def pool_terms(table: BlockTable) -> tuple[Floats, Floats]:
    """A and C of the pooled stratum, each (S,)."""
    baseline, *faster = table.pools
    if not any(pool.size for pool in faster):
        return np.zeros(len(faster)), np.zeros(len(faster))
    pairs = [ratio_terms(_pool_sums(pool), _pool_sums(baseline), pool.size > 0) for pool in faster]
    return np.array([float(a) for a, _ in pairs]), np.array([float(c) for _, c in pairs])


def ratio_sums(table: BlockTable) -> tuple[Floats, Floats]:
    """ΣA and ΣC over all strata, each (S,).

    ΣC is also the weight of a speedup in a fit: a line through effects 1 − A/C weighted by C is a ratio of
    sums, Σs(C − A) / Σs²C, so that a speedup with hardly a visit, whose own ratio says nothing, cannot bend
    it.
    """
    a, c = strata_terms(table)
    pool_a, pool_c = pool_terms(table)
    return a.sum(axis=0) + pool_a, c.sum(axis=0) + pool_c


def log_ratios(table: BlockTable) -> Floats:
    """log(p_s / p_0) for each speedup, (S,); not finite where nothing was visited on one side."""
    a, c = ratio_sums(table)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(a / c), dtype=np.float64)


def effects(log_ratio: Floats) -> Floats:
    """1 − p_s / p_0 from its logarithm, any shape."""
    return np.asarray(-np.expm1(log_ratio), dtype=np.float64)


def arrange_finite(series: Series) -> BlockTable | None:
    """A series in blocks, less the speedups whose ratio is not finite; None if nothing can be compared."""
    table = arrange_in_blocks(series)
    # Without a speedup, the others are compared with other baselines.
    while table is not None and not (usable := np.isfinite(log_ratios(table))).all():
        series = series.without(np.isin(series.speedup, table.speedups[~usable]))
        table = arrange_in_blocks(series)
    return table


def period_ratios(all_series: Sequence[Series]) -> dict[tuple[str, float], float]:
    """p_s/p_0 by location and speedup; of several progress points, the one with most visits counts."""
    ratios: dict[tuple[str, float], float] = {}
    tables = [arrange_finite(series) for series in all_series if series.kind == THROUGHPUT]
    known = [table for table in tables if table is not None]
    for table in sorted(known, key=lambda table: float(table.series.denominator.sum())):
        for speedup, ratio in zip(table.speedups, np.exp(log_ratios(table)), strict=True):
            ratios[table.series.location, float(speedup)] = float(ratio)
    return ratios


def _pool_sums(pool: Pool) -> tuple[Floats, Floats, Floats]:
    sums = (pool.numerator.sum(), pool.denominator.sum(), pool.exposure.sum())
    return np.asarray(sums[0]), np.asarray(sums[1]), np.asarray(sums[2])
