"""Statistics of weighted values."""

from __future__ import annotations

import numpy as np

from cozcli.analysis.statistics.arrays import Floats


def effective_number(weights: Floats) -> Floats:
    """Of columns of `weights`, (N, S): to how many equal ones they amount, (Σw)²/Σw² (Kish 1965), (S,)."""
    squares = (weights**2).sum(axis=0)
    total = weights.sum(axis=0)
    return np.asarray(np.where(squares > 0, total**2 / np.where(squares > 0, squares, 1.0), 0.0))


def weighted_median(values: Floats, weights: Floats) -> float:
    """The value below which half of the weight lies; values and weights are (N,), N > 0."""
    order = np.argsort(values)
    below = np.cumsum(weights[order]) - weights[order] / 2
    return float(np.interp(weights.sum() / 2, below, values[order]))
