"""Which of many tests to believe (Benjamini and Hochberg 1995)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def discoveries(probabilities: Sequence[float], rate: float) -> list[bool]:
    """Which tests to believe, so that on average at most the part `rate` of those is wrong.

    Args:
        probabilities: p-values. rate: the false discovery rate.

    The largest p(k) ≤ rate·k/m is accepted, and every p-value up to it.
    """
    values = np.asarray(probabilities, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    bounds = rate * np.arange(1, len(values) + 1) / max(len(values), 1)
    below = np.flatnonzero(values[order] <= bounds)
    accepted = np.zeros(len(values), dtype=bool)
    if len(below):
        accepted[order[: below[-1] + 1]] = True
    return [bool(each) for each in accepted]
