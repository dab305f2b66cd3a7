"""The effect of a virtual speedup: 1 − p_s / p_0, compared within blocks.

Periods drift (phases, other load on the machine), so a speedup is compared with the baseline of its
own block, and blocks are joined by the Mantel–Haenszel ratio for rates: with numerators x and
denominators y of the speedup (s) and the baseline (0), and exposures w, in each block b

    A_b = x_s·y_0 / (w_s + w_0),  C_b = x_0·y_s / (w_s + w_0),  p_s / p_0 = ΣA_b / ΣC_b.

One block gives the plain ratio; a block in which nothing was visited adds nothing; no block is ever
divided by its own small count. (Rothman, Greenland, Lash: Modern Epidemiology, ch. 15.) Windows that
are not in blocks, and speedups that share no block with a baseline, form one more stratum, of sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cozcli.analysis.grouping import POOL, Bools, Floats, Ints, Series


@dataclass(frozen=True)
class Pool:
    """The windows of one speedup that are compared by sums instead of in blocks; each (M,)."""

    numerator: Floats
    denominator: Floats
    weight: Floats
    time: Floats
    discount: Floats

    @property
    def size(self) -> int:
        """Number of windows."""
        return len(self.time)


@dataclass(frozen=True)
class Comparison:
    """A series arranged for comparing: K blocks, S speedups other than 0.

    speedups: (S,), ascending. numerator, denominator, weight, time: (K, S + 1), column 0 the
    baseline; discount: likewise, the mean over a cell's windows. paired: (K, S), does the block hold
    both? pools: S + 1 pools, the first the baseline's; a speedup with no pooled windows has an empty
    one. windows: (S + 1,), windows used.
    """

    series: Series
    speedups: Floats
    numerator: Floats
    denominator: Floats
    weight: Floats
    time: Floats
    discount: Floats
    paired: Bools
    pools: tuple[Pool, ...]
    windows: Ints

    @property
    def units(self) -> Ints:
        """Independent comparisons per speedup, (S,): paired blocks, or pooled windows less one group."""
        pooled = [min(pool.size, self.pools[0].size) for pool in self.pools[1:]]
        return np.asarray(self.paired.sum(axis=0) + np.array(pooled, dtype=np.int64), dtype=np.int64)

    @property
    def groups(self) -> int:
        """Independent comparisons of any speedup with a baseline: blocks, and windows of the pool."""
        pooled = min(self.pools[0].size, sum(pool.size for pool in self.pools[1:]))
        return int(self.paired.any(axis=1).sum()) + pooled


def arrange(series: Series) -> Comparison | None:
    """Sum windows by block and speedup, and decide which speedups need the pool.

    Returns:
        None if there is no baseline, or nothing but a baseline.
    """
    levels = np.unique(series.speedup)
    if len(levels) < 2 or levels[0] != 0:
        return None
    column = np.searchsorted(levels, series.speedup)
    in_block = series.stratum != POOL
    blocks = np.unique(series.stratum[in_block])
    row = np.searchsorted(blocks, series.stratum[in_block])
    sums = [
        _sum_by_cell(values[in_block], row, column[in_block], (len(blocks), len(levels)))
        for values in (series.numerator, series.denominator, series.weight, series.time, series.discount)
    ]
    watched = sums[3] > 0
    paired = watched[:, 1:] & watched[:, :1]

    pooled = series.stratum == POOL
    members = [pooled & (column == level) for level in range(len(levels))]
    for level in range(1, len(levels)):
        if not paired[:, level - 1].any() and not (members[0].any() and members[level].any()):
            # This speedup has no baseline in its blocks: compare it with every baseline there is.
            members[level] = column == level
            members[0] = column == 0
    used = np.concatenate([paired.any(axis=1, keepdims=True), paired], axis=1)
    block_windows = _sum_by_cell(np.ones(len(row)), row, column[in_block], used.shape)
    discount = np.where(block_windows > 0, sums[4] / np.maximum(block_windows, 1), 1.0)
    windows = np.where(used, block_windows, 0).sum(axis=0)
    if members[0].any():
        for level, member in enumerate(members):
            seen = used[row, column[in_block]]
            windows[level] += np.count_nonzero(member) - np.count_nonzero(seen & member[in_block])
    return Comparison(
        series=series,
        speedups=levels[1:],
        numerator=sums[0],
        denominator=sums[1],
        weight=sums[2],
        time=sums[3],
        discount=discount,
        paired=paired,
        pools=tuple(_pool(series, member) for member in members),
        windows=windows.astype(np.int64),
    )


def strata_terms(comparison: Comparison) -> tuple[Floats, Floats]:
    """A and C of every block, each (K, S); zero where a block does not pair."""
    c = comparison
    return ratio_terms(
        (c.numerator[:, 1:], c.denominator[:, 1:], c.weight[:, 1:]),
        (c.numerator[:, :1], c.denominator[:, :1], c.weight[:, :1]),
        c.paired,
    )


def ratio_terms(
    faster: tuple[Floats, Floats, Floats],
    baseline: tuple[Floats, Floats, Floats],
    usable: Bools | bool = True,
) -> tuple[Floats, Floats]:
    """A and C (see the module) from (numerator, denominator, weight) of both; any shape."""
    exposure = faster[2] + baseline[2]
    safe = np.where(exposure > 0, exposure, 1.0)
    usable = usable & (exposure > 0)
    return (
        np.where(usable, faster[0] * baseline[1] / safe, 0.0),
        np.where(usable, baseline[0] * faster[1] / safe, 0.0),
    )


def pool_terms(comparison: Comparison) -> tuple[Floats, Floats]:
    """A and C of the pooled stratum, each (S,)."""
    baseline, *faster = comparison.pools
    pairs = [ratio_terms(_pool_sums(pool), _pool_sums(baseline), pool.size > 0) for pool in faster]
    return np.array([float(a) for a, _ in pairs]), np.array([float(c) for _, c in pairs])


def ratio_sums(comparison: Comparison) -> tuple[Floats, Floats]:
    """ΣA and ΣC over all strata, each (S,). ΣC is also the weight that a speedup deserves in a fit:

    a line through effects 1 − A/C weighted by C is a ratio of sums, Σs(C − A) / Σs²C, so that a
    speedup with hardly a visit, whose own ratio says nothing, cannot bend it.
    """
    a, c = strata_terms(comparison)
    pool_a, pool_c = pool_terms(comparison)
    return a.sum(axis=0) + pool_a, c.sum(axis=0) + pool_c


def log_ratios(comparison: Comparison) -> Floats:
    """log(p_s / p_0) for each speedup, (S,); not finite where nothing was visited on one side."""
    a, c = ratio_sums(comparison)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(a / c), dtype=np.float64)


def effects(log_ratio: Floats) -> Floats:
    """1 − p_s / p_0 from its logarithm, any shape."""
    return np.asarray(-np.expm1(log_ratio), dtype=np.float64)


def _sum_by_cell(values: Floats, row: Ints, column: Ints, shape: tuple[int, int]) -> Floats:
    cells = np.zeros(shape)
    np.add.at(cells, (row, column), values)
    return cells


def _pool_sums(pool: Pool) -> tuple[Floats, Floats, Floats]:
    sums = (pool.numerator.sum(), pool.denominator.sum(), pool.weight.sum())
    return np.asarray(sums[0]), np.asarray(sums[1]), np.asarray(sums[2])


def _pool(series: Series, member: Bools) -> Pool:
    names = ("numerator", "denominator", "weight", "time", "discount")
    return Pool(*(getattr(series, name)[member] for name in names))
