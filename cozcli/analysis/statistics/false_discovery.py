"""Which of many tests to believe (Benjamini and Hochberg 1995), with weights (Genovese et al. 2006)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def adjusted_p(probabilities: Sequence[float]) -> list[float]:
    """p-values for the number of tests: the false discovery rate at which `discoveries` believes each."""
    values = np.asarray(probabilities, dtype=np.float64)
    order = np.argsort(values, kind="stable")[::-1]
    ranks = np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum.accumulate(np.minimum(values[order] * len(values) / ranks, 1.0))
    return [float(each) for each in adjusted]


def discoveries(
    probabilities: Sequence[float], rate: float, weights: Sequence[float] | None = None
) -> list[bool]:
    """Which tests to believe, so that on average at most the part `rate` of those is wrong.

    Args:
        probabilities: p-values. rate: the false discovery rate. weights: above 0, of mean 1; they must not
            depend on the p-values. By default all are 1.

    Of the quotients of p-values and weights, the largest p(k) ≤ rate·k/m is accepted, and all up to it.
    """
    values = np.asarray(probabilities, dtype=np.float64)
    if weights is not None:
        values = values / np.asarray(weights, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    bounds = rate * np.arange(1, len(values) + 1) / max(len(values), 1)
    below = np.flatnonzero(values[order] <= bounds)
    accepted = np.zeros(len(values), dtype=bool)
    if len(below):
        accepted[order[: below[-1] + 1]] = True
    return [bool(each) for each in accepted]
