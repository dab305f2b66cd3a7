"""What paired runs say: the ratio of B to A, its interval, and a verdict.

Everything is computed from the logarithms of ratios within blocks, d = log(b / a), so that a machine whose
speed changes from block to block changes no pair's ratio.

- The estimate is Hodges and Lehmann's: the median of all averages of two pairs (Walsh averages). Its interval
  inverts Wilcoxon's signed-rank test and is exact for any symmetric distribution (Hollander, Wolfe, Chicken,
  Nonparametric Statistical Methods, section 3.3), at 6 pairs as at 60. A bootstrap interval is not: see
  docs/decisions/compare.md.
- Equivalence is shown by two one-sided tests (Schuirmann 1987): the 90 % interval lies within the margin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from cozcli.compare.result import MIN_PAIRS, Estimate, Verdict

CONFIDENCE = 0.95
#: Two one-sided tests at 5 % each.
EQUIVALENCE_CONFIDENCE = 0.90
#: Up to here the signed-rank distribution is counted out; beyond, the normal one differs by less than 0.1 %.
_MAX_EXACT = 60
#: Standard errors between 0 and an effect that is detected with 80 % power at 5 %, two-sided.
DETECTABLE = 1.960 + 0.842


#: Where more is better.
_MIRRORED: dict[Verdict, Verdict] = {"faster": "slower", "slower": "faster"}


def estimate(pairs: Sequence[tuple[float, float]], margin: float, more_is_better: bool = False) -> Estimate:
    """The comparison of B with A by `pairs` of (a, b), values above 0. `margin`: differences below, as a
    fraction, do not matter. more_is_better: of rates; the ratio stays B over A.

    Raises:
        ValueError: fewer than MIN_PAIRS pairs.
    """
    if len(pairs) < MIN_PAIRS:
        raise ValueError(f"{len(pairs)} pairs are too few")
    d = np.log([b / a for a, b in pairs])
    walsh = _WalshAverages(d)
    low, high = _interval(walsh, CONFIDENCE)
    verdict = verdict_of((low, high), _interval(walsh, EQUIVALENCE_CONFIDENCE), margin)
    better = d > 0 if more_is_better else d < 0
    return Estimate(
        ratio=math.exp(walsh.median()),
        low=math.exp(low),
        high=math.exp(high),
        verdict=_MIRRORED.get(verdict, verdict) if more_is_better else verdict,
        pairs=len(d),
        p=signed_rank_p(d),
        probability_faster=float(np.mean(better) + np.mean(d == 0) / 2),
        minimum_detectable=math.expm1((high - low) / 2 / 1.960 * DETECTABLE),
    )


def half_width(pairs: Sequence[tuple[float, float]]) -> float:
    """Half of the interval, as a fraction of the ratio; infinite with too few pairs."""
    if len(pairs) < MIN_PAIRS:
        return math.inf
    d = np.log([b / a for a, b in pairs])
    low, high = _interval(_WalshAverages(d), CONFIDENCE)
    return (high - low) / 2


def signed_rank_p(d: NDArray[np.float64]) -> float:
    """Wilcoxon's signed-rank test of d = 0, two-sided."""
    from scipy.stats import wilcoxon

    if not d.any():
        return 1.0
    # Zeros and ties make the counted distribution wrong; Pratt's treatment keeps the zeros' ranks.
    exact = len(d) <= _MAX_EXACT and len(np.unique(np.abs(d))) == len(d) and bool(d.all())
    test = wilcoxon(d, zero_method="pratt", method="exact" if exact else "approx")
    return float(test.pvalue)


def verdict_of(interval: tuple[float, float], narrower: tuple[float, float], margin: float) -> Verdict:
    """Of logarithms: the 95 % interval, and the narrower one that shows equivalence."""
    limit = math.log1p(margin)
    if -limit < narrower[0] and narrower[1] < limit:
        return "equivalent"
    if interval[1] < 0:
        return "faster"
    return "slower" if interval[0] > 0 else "inconclusive"


class _WalshAverages:
    """All (d[i] + d[j]) / 2 with i ≤ j, in order. They are counted, not stored: of 10,000 pairs there are 50
    million.
    """

    def __init__(self, d: NDArray[np.float64]) -> None:
        self._d = np.sort(d)
        self.pairs = len(d)
        self.number = self.pairs * (self.pairs + 1) // 2

    def smallest(self, rank: int) -> float:
        """The one that so many others precede, to the precision of numbers."""
        low, high = float(self._d[0]), float(self._d[-1])
        if self._at_most(low) > rank:
            return low
        while low < (middle := (low + high) / 2) < high:
            if self._at_most(middle) > rank:
                high = middle
            else:
                low = middle
        return high

    def median(self) -> float:
        """Of all of them."""
        return (self.smallest((self.number - 1) // 2) + self.smallest(self.number // 2)) / 2

    def _at_most(self, value: float) -> int:
        partners = np.searchsorted(self._d, 2 * value - self._d, side="right")
        return int(np.maximum(partners - np.arange(self.pairs), 0).sum())


def _interval(walsh: _WalshAverages, confidence: float) -> tuple[float, float]:
    left_out = _left_out(walsh.pairs, (1 - confidence) / 2)
    return walsh.smallest(left_out), walsh.smallest(walsh.number - 1 - left_out)


@cache
def _left_out(pairs: int, tail: float) -> int:
    """How many Walsh averages the interval leaves out at each end: the largest k with P(T ≤ k) ≤ tail.

    T is the signed-rank sum: the truth lies below the (k+1)st smallest average if and only if T ≤ k.
    """
    total = pairs * (pairs + 1) // 2
    if pairs > _MAX_EXACT:
        from scipy.stats import norm

        deviation = math.sqrt(total * (2 * pairs + 1) / 12)
        return math.floor(total / 2 + float(norm.ppf(tail)) * deviation - 0.5)
    # ways[t]: how many of the 2ⁿ sign patterns have the rank sum t.
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in range(1, pairs + 1):
        ways[rank:] = ways[rank:] + ways[: total + 1 - rank]
    below = np.cumsum(ways) / 2.0**pairs
    return int(np.searchsorted(below, tail, side="right")) - 1
