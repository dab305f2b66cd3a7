"""What a change has gained: from pairs of runs, before and after, that were made in turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Gain:
    """Time saved for each unit of work, as a fraction of the time before, with its 95 % interval.

    That is the scale of Coz's effects. `p` is the probability of so much either way by chance. Interval and
    p are of one test: the interval leaves 0 out where p is below 5 %. `before` and `after` are medians of
    all rates; the effect is that of pairs, which their quotient need not equal.
    """

    effect: float
    low: float
    high: float
    p: float
    before: float
    after: float
    pairs: int

    @property
    def significant(self) -> bool:
        """Is it certain at 5 %?"""
        return self.p < 0.05


def gain(before: Sequence[float], after: Sequence[float]) -> Gain:
    """Of rates (units a second) before and after, pair by pair: runs that were next to each other.

    Wilcoxon's signed ranks of the logarithms of the pairs' ratios, with their estimate (Hodges and Lehmann,
    1963): pairs cancel what drifts, and a run that something else has spoilt counts as one, however bad.
    With fewer than six pairs nothing can be certain: then the interval is that of all pairs.
    """
    if len(before) != len(after) or not before:
        raise ValueError("as many rates after the change as before it, and at least one")
    logs = np.log(np.asarray(before) / np.asarray(after))  # of times: the reverse of rates
    pairs = len(logs)
    first, second = np.triu_indices(pairs)
    means = np.sort((logs[first] + logs[second]) / 2)  # of each two pairs, and each with itself
    chances = np.cumsum(rank_sums(pairs))
    # So many rank sums are less likely than 2.5 %; the mean at that place from either end is the bound.
    cut = max(1, int(np.searchsorted(chances, 0.025, side="right")))
    positive = (means > 0).sum() + (means == 0).sum() / 2
    rarer = int(min(positive, len(means) - positive))
    low, effect, high = 1 - np.exp([means[-cut], np.median(means), means[cut - 1]])
    return Gain(
        effect=float(effect),
        low=float(low),
        high=float(high),
        p=float(min(1.0, 2 * chances[rarer])),
        before=float(np.median(before)),
        after=float(np.median(after)),
        pairs=pairs,
    )


def rank_sums(pairs: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The probability of each sum, 0 and up, of ranks 1 to `pairs`, each counted or not by chance.

    `scipy.stats.wilcoxon` has p, but neither an interval nor this distribution, from which its bounds come.
    """
    chances = np.zeros(pairs * (pairs + 1) // 2 + 1)
    chances[0] = 1.0
    for rank in range(1, pairs + 1):
        shifted = np.zeros_like(chances)
        shifted[rank:] = chances[:-rank]
        chances = (chances + shifted) / 2
    return chances
