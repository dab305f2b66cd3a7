"""The result of a comparison, free of the packages that estimate it."""

from __future__ import annotations

from typing import Literal, NamedTuple

Verdict = Literal["faster", "slower", "equivalent", "inconclusive"]

#: With fewer pairs no interval has 95 %: 2 · 2⁻⁵ is above 5 %.
MIN_PAIRS = 6


class Estimate(NamedTuple):
    """B over A: below 1, B takes less, or its rate is lower.

    p: of Wilcoxon's signed-rank test. probability_faster: share of pairs in which B was better, ties by half.
    minimum_detectable: the smallest change, as a fraction, that so many pairs as noisy as these would have
    told from none in 80 % of cases.
    """

    ratio: float
    low: float
    high: float
    verdict: Verdict
    pairs: int
    p: float
    probability_faster: float
    minimum_detectable: float
