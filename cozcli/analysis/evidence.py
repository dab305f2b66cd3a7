"""Tests on what windows say together, with the block as the independent unit.

Windows of one block share its baseline and its moment, so that their errors go together; errors of
different blocks do not. All checks (queue.py, load.py, transients.py) are a weighted line through the
origin whose standard error is robust to both (clustered: Liang and Zeger 1986).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cozcli.analysis.grouping import Floats, Ints
from cozcli.analysis.intervals import t_quantile, t_tail

#: Fewer independent blocks than this prove nothing.
LEAST_BLOCKS = 5


@dataclass(frozen=True)
class Evidence:
    """A coefficient, its standard error, and the degrees of freedom of the error."""

    estimate: float
    error: float
    freedom: float

    @property
    def above_zero(self) -> float:
        """One-sided p-value of "not above 0"."""
        if self.error <= 0:
            return 0.0 if self.estimate > 0 else 1.0
        return t_tail(self.estimate / self.error, self.freedom)

    @property
    def not_zero(self) -> float:
        """Two-sided p-value of "is 0"."""
        below = Evidence(-self.estimate, self.error, self.freedom)
        return min(1.0, 2 * min(self.above_zero, below.above_zero))

    def within(self, limit: float) -> bool:
        """Does the whole 95 % interval lie between -limit and limit? (An equivalence test.)"""
        return abs(self.estimate) + t_quantile(0.975, self.freedom) * self.error < limit


def through_origin(x: Floats, y: Floats, weights: Floats, block: Ints) -> Evidence | None:
    """The coefficient b of y = b·x + noise; with x = 1, the mean of y.

    Args:
        x, y, weights: one entry per window, (N,). block: which windows belong together, (N,).

    Returns:
        None if fewer than `LEAST_BLOCKS` blocks count (Kish's effective number).
    """
    if len(x) == 0:
        return None
    _, index = np.unique(block, return_inverse=True)
    information = np.bincount(index, weights * x * x)
    total = float(information.sum())
    if total <= 0:
        return None
    # The little added keeps five equal blocks from counting as 4.999….
    effective = total**2 / float(information @ information) + 1e-9
    if effective < LEAST_BLOCKS:
        return None
    estimate = float(weights @ (x * y)) / total
    scores = np.bincount(index, weights * x * (y - estimate * x))
    blocks = len(information)
    variance = float(scores @ scores) / total**2 * blocks / (blocks - 1)
    return Evidence(estimate, float(np.sqrt(variance)), effective - 1)
