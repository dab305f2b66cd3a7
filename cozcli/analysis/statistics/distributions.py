"""Student's t and the normal distribution, by scipy.special.

scipy.stats has the same functions behind an import of half a second, which every report would pay.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

#: The level of every interval that is shown.
LEVEL = 0.95
#: With a small part of one degree of freedom, quantiles of t exceed what a float can hold.
MAX_QUANTILE = 2.0**20


def t_tail(t: ArrayLike, freedom: ArrayLike) -> NDArray[np.float64]:
    """P(T > t) of Student's t; 1 where t is not a number. Arguments broadcast."""
    tail = special.stdtr(freedom, -np.asarray(t, dtype=np.float64))
    return np.asarray(np.where(np.isnan(tail), 1.0, tail), dtype=np.float64)


def t_quantile(probability: float, freedom: ArrayLike) -> NDArray[np.float64]:
    """The t with P(T ≤ t) = probability, which is above ½; at most `MAX_QUANTILE`."""
    quantile = special.stdtrit(freedom, probability)
    return np.asarray(np.fmin(quantile, MAX_QUANTILE), dtype=np.float64)


def normal_quantile(probability: float) -> float:
    """The z with P(Z ≤ z) = probability."""
    return float(special.ndtri(probability))


def normal_tail(z: float) -> float:
    """P(Z > z)."""
    return float(special.ndtr(-z))


def p_from_interval(value: float, low: float, high: float, freedom: float = math.inf) -> float:
    """Two-sided p-value of 0, from the half of the 95 % interval of `value` that points to 0.

    freedom: degrees of freedom of Student's t; infinite for the normal distribution.
    """
    half = value - low if value > 0 else high - value
    if half <= 0:
        return 0.0 if value else 1.0
    if math.isinf(freedom):
        return 2 * normal_tail(abs(value) / half * normal_quantile(0.5 + LEVEL / 2))
    error = half / float(t_quantile(0.5 + LEVEL / 2, freedom))
    return min(1.0, 2 * float(t_tail(abs(value) / error, freedom)))


def bonferroni_factor(number: int, freedom: float = math.inf) -> float:
    """By what half of a 95 % interval grows so that `number` intervals hold together (Bonferroni).

    freedom: degrees of freedom of Student's t; infinite for the normal distribution.
    """
    tail = (1 - LEVEL) / 2
    wide, own = (float(t_quantile(1 - each, freedom)) for each in (tail / max(number, 1), tail))
    return wide / own
