"""Does a faster target make the program slower? One p-value for each result (dissertation §5.1.6)."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cozcli.analysis.statistics.arrays import Floats
from cozcli.analysis.statistics.distributions import LEVEL, t_quantile, t_tail

#: Harm up to this is not called contention, however certain: virtual speedup itself is no more exact.
MIN_HARM = 0.02


class Effects(Protocol):
    """The slope and S effects with 95 % intervals, and degrees of freedom; all (S + 1,)."""

    @property
    def value(self) -> Floats:
        """Estimates."""

    @property
    def low(self) -> Floats:
        """Lower bounds."""

    @property
    def high(self) -> Floats:
        """Upper bounds."""

    @property
    def freedom(self) -> Floats:
        """Of each estimate."""


def p_no_contention(estimate: Effects) -> float:
    """One-sided p-value of "neither the slope nor an effect is below −`MIN_HARM`".

    Contention shows in the slope or at one of S speedups. The smallest of S p-values is multiplied by S; the
    smaller of that and the slope's is doubled (Bonferroni).
    """
    # Standard errors are read from the upper half of each interval, the one that points to 0.
    error = (estimate.high - estimate.value) / t_quantile(0.5 + LEVEL / 2, estimate.freedom)
    harm = -estimate.value - MIN_HARM
    known = error > 0
    p = np.where(known, t_tail(harm / np.where(known, error, 1.0), estimate.freedom), harm <= 0)
    of_points = float(p[1:].min()) * (len(p) - 1)
    return min(1.0, 2 * min(float(p[0]), of_points))
