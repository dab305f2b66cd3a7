"""A weighted line through the origin, whose standard error allows for windows of a block that go together.

Windows of one block share its baseline and its moment, so their errors are correlated. Errors of different
blocks are not. The standard error is the cluster-robust one (Liang and Zeger 1986), with blocks as clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cozcli.analysis.statistics.arrays import Floats, Ints
from cozcli.analysis.statistics.distributions import LEVEL, t_quantile, t_tail
from cozcli.analysis.statistics.weighted import effective_number

#: Fewer independent blocks than this prove nothing.
MIN_BLOCKS = 5


@dataclass(frozen=True)
class Coefficient:
    """An estimated coefficient, its standard error, and the degrees of freedom of that error."""

    estimate: float
    error: float
    freedom: float

    @property
    def p_above_zero(self) -> float:
        """One-sided p-value of "not above 0"."""
        if self.error <= 0:
            return 0.0 if self.estimate > 0 else 1.0
        return float(t_tail(self.estimate / self.error, self.freedom))

    @property
    def p_not_zero(self) -> float:
        """Two-sided p-value of "is 0"."""
        below = Coefficient(-self.estimate, self.error, self.freedom)
        return min(1.0, 2 * min(self.p_above_zero, below.p_above_zero))

    @property
    def low(self) -> float:
        """The lower bound of the 95 % interval."""
        return self.estimate - self._half

    def is_within(self, limit: float) -> bool:
        """Does the whole 95 % interval lie between -limit and limit? (An equivalence test.)"""
        return abs(self.estimate) + self._half < limit

    @property
    def _half(self) -> float:
        return float(t_quantile(0.5 + LEVEL / 2, self.freedom)) * self.error


def fit_through_origin(x: Floats, y: Floats, weights: Floats, block: Ints) -> Coefficient | None:
    """The coefficient b of y = b·x + noise; where x is 1, the mean of y.

    Args:
        x, y, weights: one entry for each window, (N,). block: the window's cluster, (N,).

    Returns:
        None if there are fewer than `MIN_BLOCKS` effective blocks (Kish).
    """
    if len(x) == 0:
        return None
    _, index = np.unique(block, return_inverse=True)
    information: Floats = np.bincount(index, weights * x * x).astype(np.float64)
    total = float(information.sum())
    if total <= 0:
        return None
    # The small number keeps five equal blocks from counting as 4.999….
    effective = float(effective_number(information)) + 1e-9
    if effective < MIN_BLOCKS:
        return None
    estimate = float(weights @ (x * y)) / total
    scores = np.bincount(index, weights * x * (y - estimate * x))
    blocks = len(information)
    variance = float(scores @ scores) / total**2 * blocks / (blocks - 1)
    return Coefficient(estimate, float(np.sqrt(variance)), effective - 1)


def fit_groups(x: Floats, y: Floats, weights: Floats, block: Ints, group: Ints) -> list[Coefficient] | None:
    """The coefficients b_g of y = b_g·x + noise, whose noise is alike in all groups.

    A group of few blocks has an error all the same: Var(Σwxy of a block) = σ²·Σwx², with one σ² for all.

    Args:
        x, y, weights: one entry for each window, (N,). block: its cluster, within one group.
        group: 0 to G − 1, each with at least one x that is not 0.

    Returns:
        One for each group; None if the blocks are fewer than `MIN_BLOCKS` − 1 more than the groups.
    """
    _, first, index = np.unique(block, return_index=True, return_inverse=True)
    blocks, groups = len(first), int(group.max()) + 1
    if blocks - groups < MIN_BLOCKS - 1:
        return None
    of_group = np.bincount(group, weights * x * x)
    estimates = np.bincount(group, weights * x * y) / of_group
    scores = np.bincount(index, weights * x * (y - estimates[group] * x))
    variance = float(np.sum(scores**2 / np.bincount(index, weights * x * x))) / (blocks - groups)
    return [
        Coefficient(float(estimate), float(np.sqrt(variance / information)), blocks - groups)
        for estimate, information in zip(estimates, of_group, strict=True)
    ]
