"""Taking the effects of blocks and speedups out of windows: weighted least squares in a two-way layout.

A log period is the sum of its block's, its speedup's, and of what is to be explained. Blocks are many, and
are eliminated first; speedups are at most a few dozen, and are solved for exactly. (Searle: Linear Models,
ch. 7.)
"""

from __future__ import annotations

import numpy as np

from cozcli.analysis.grouping import Bools, Floats, Ints, Series

#: Eigenvalues below this part of the largest are 0: speedups that share no block with others.
NO_INFORMATION = 1e-10


class TwoWay:
    """The layout of N windows with one set of weights.

    Args:
        weights: (N,), above 0. block, level: (N,), counted from 0 without gaps.
    """

    def __init__(self, weights: Floats, block: Ints, level: Ints) -> None:
        self._weights, self._block, self._level = weights, block, level
        blocks, levels = int(block.max()) + 1, int(level.max()) + 1
        self._of_block = np.bincount(block, weights, blocks)
        cells = np.zeros((blocks, levels))
        np.add.at(cells, (block, level), weights)
        self._share = cells / self._of_block[:, None]
        reduced = np.diag(cells.sum(axis=0)) - cells.T @ self._share
        values, vectors = np.linalg.eigh(reduced)
        known = values > NO_INFORMATION * max(float(cells.sum(axis=0).max()), 1e-300)
        self._inverse = (vectors[:, known] / values[known]) @ vectors[:, known].T
        self._values = values[known]

    @property
    def log_determinant(self) -> float:
        """Of the information on blocks and speedups: what restricted likelihoods need."""
        return float(np.log(self._of_block).sum() + np.log(self._values).sum())

    @property
    def rank(self) -> int:
        """How many parameters the layout has."""
        return len(self._of_block) + len(self._values)

    def residuals(self, values: Floats) -> Floats:
        """What is left of `values`, (N,), after the best-fitting blocks and speedups."""
        within = values - self._block_means(values)[self._block]
        levels = len(self._share.T)
        right = np.bincount(self._level, self._weights * within, levels)
        of_level = self._inverse @ right
        left = within - of_level[self._level] + (self._share @ of_level)[self._block]
        return np.asarray(left, dtype=np.float64)

    def _block_means(self, values: Floats) -> Floats:
        return np.bincount(self._block, self._weights * values, len(self._of_block)) / self._of_block


def two_way(series: Series, usable: Bools, weights: Floats) -> TwoWay:
    """The layout of a series' usable windows; `weights` is that of these alone."""
    _, block = np.unique(series.stratum[usable], return_inverse=True)
    _, level = np.unique(series.speedup[usable], return_inverse=True)
    return TwoWay(weights, block, level)
