"""Fixed effects of blocks and speedups: weighted least squares with two factors.

A log period is the sum of its block's effect, its speedup's effect, and what is to be explained. Blocks are
many and are eliminated first. Speedups are at most a few dozen, and their equations are solved exactly.
(Searle: Linear Models, ch. 7. A dense design solved by a library takes seconds where blocks are hundreds.)
"""

from __future__ import annotations

import numpy as np

from cozcli.analysis.statistics.arrays import Floats, Ints

#: Eigenvalues below this part of the largest are 0: speedups that share no block with others.
MIN_INFORMATION = 1e-10


class FixedEffects:
    """The layout of N windows with one set of weights.

    Args:
        weights: (N,), above 0. block, level: (N,), numbered from 0 without gaps.
    """

    def __init__(self, weights: Floats, block: Ints, level: Ints) -> None:
        self._weights, self._block, self._level = weights, block, level
        blocks, levels = int(block.max()) + 1, int(level.max()) + 1
        self._of_block = np.bincount(block, weights, blocks)
        cells = np.bincount(block * levels + level, weights, blocks * levels).reshape(blocks, levels)
        self._share = cells / self._of_block[:, None]
        of_level = cells.sum(axis=0)
        reduced = np.diag(of_level) - cells.T @ self._share
        values, vectors = np.linalg.eigh(reduced)
        known = values > MIN_INFORMATION * max(float(of_level.max()), 1e-300)
        self._inverse = (vectors[:, known] / values[known]) @ vectors[:, known].T
        self._values = values[known]

    @property
    def log_determinant(self) -> float:
        """Of the information on blocks and speedups, as restricted likelihoods need it; up to a constant."""
        return float(np.log(self._of_block).sum() + np.log(self._values).sum())

    @property
    def rank(self) -> int:
        """How many parameters the layout has."""
        return len(self._of_block) + len(self._values)

    def residuals(self, values: Floats) -> Floats:
        """What remains of `values`, (N,), after the best-fitting effects of blocks and speedups."""
        means = np.bincount(self._block, self._weights * values, len(self._of_block)) / self._of_block
        within = values - means[self._block]
        right = np.bincount(self._level, self._weights * within, self._share.shape[1])
        of_level = self._inverse @ right
        left = within - of_level[self._level] + (self._share @ of_level)[self._block]
        return np.asarray(left, dtype=np.float64)


def fit_fixed_effects(stratum: Ints, speedup: Floats, weights: Floats) -> FixedEffects:
    """The layout of windows given by any labels of their blocks and their speedups; all (N,)."""
    _, block = np.unique(stratum, return_inverse=True)
    _, level = np.unique(speedup, return_inverse=True)
    return FixedEffects(weights, block, level)
