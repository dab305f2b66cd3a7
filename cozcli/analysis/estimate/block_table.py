"""A series as a table of blocks and speedups: each speedup beside the baseline of its block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cozcli.analysis.input.series import Series
from cozcli.analysis.input.windows import POOL
from cozcli.analysis.statistics.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class Pool:
    """The windows of one speedup that are compared by sums instead of in blocks; arrays are (M,)."""

    numerator: Floats
    denominator: Floats
    exposure: Floats
    time: Floats
    weight: Floats

    @property
    def size(self) -> int:
        """Number of windows."""
        return len(self.time)


@dataclass(frozen=True)
class BlockTable:
    """A series as K blocks by S speedups other than 0.

    speedups: (S,), ascending. numerator, denominator, exposure, time: sums over the windows of a cell,
    (K, S + 1), column 0 the baseline. weight: the mean over a cell's windows, likewise. paired: (K, S), does
    the block hold the speedup and a baseline, and a visit in either? pools: S + 1, the first of baselines; a
    speedup without pooled windows has an empty one. windows: how many are used, (S + 1,).
    """

    series: Series
    speedups: Floats
    numerator: Floats
    denominator: Floats
    exposure: Floats
    time: Floats
    weight: Floats
    paired: Bools
    pools: tuple[Pool, ...]
    windows: Ints

    @property
    def units(self) -> Ints:
        """Independent comparisons per speedup, (S,): paired blocks, or pooled windows."""
        pooled = [min(pool.size, self.pools[0].size) for pool in self.pools[1:]]
        return np.asarray(self.paired.sum(axis=0) + np.array(pooled, dtype=np.int64), dtype=np.int64)

    @property
    def total_units(self) -> int:
        """Independent comparisons of any speedup with a baseline: blocks, and windows of the pool."""
        pooled = min(self.pools[0].size, sum(pool.size for pool in self.pools[1:]))
        return int(self.paired.any(axis=1).sum()) + pooled


def arrange_in_blocks(series: Series) -> BlockTable | None:
    """Sum windows by block and speedup, and decide which speedups need the pool.

    A speedup none of whose blocks has a baseline is compared with every baseline there is.

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
        for values in (series.numerator, series.denominator, series.exposure, series.time, series.weight)
    ]
    watched = sums[3] > 0
    visited = (sums[1][:, 1:] > 0) | (sums[1][:, :1] > 0)  # else the block says nothing
    paired = watched[:, 1:] & watched[:, :1] & visited

    pooled = series.stratum == POOL
    members = [pooled & (column == level) for level in range(len(levels))]
    for level in range(1, len(levels)):
        if not paired[:, level - 1].any() and not (members[0].any() and members[level].any()):
            members[level] = column == level
            members[0] = column == 0
    used = np.concatenate([paired.any(axis=1, keepdims=True), paired], axis=1)
    block_windows = _sum_by_cell(np.ones(len(row)), row, column[in_block], used.shape)
    weight = np.where(block_windows > 0, sums[4] / np.maximum(block_windows, 1), 1.0)
    windows = np.where(used, block_windows, 0).sum(axis=0)
    if members[0].any():
        for level, member in enumerate(members):
            seen = used[row, column[in_block]]
            windows[level] += np.count_nonzero(member) - np.count_nonzero(seen & member[in_block])
    return BlockTable(
        series=series,
        speedups=levels[1:],
        numerator=sums[0],
        denominator=sums[1],
        exposure=sums[2],
        time=sums[3],
        weight=weight,
        paired=paired,
        pools=tuple(_pool(series, member) for member in members),
        windows=windows.astype(np.int64),
    )


def _sum_by_cell(values: Floats, row: Ints, column: Ints, shape: tuple[int, int]) -> Floats:
    cells = np.zeros(shape)
    np.add.at(cells, (row, column), values)
    return cells


def _pool(series: Series, member: Bools) -> Pool:
    names = ("numerator", "denominator", "exposure", "time", "weight")
    return Pool(*(getattr(series, name)[member] for name in names))
