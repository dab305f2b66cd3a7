"""Where a program's speed stops rising with load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cozcli.analysis.estimate.percentiles import percentile_interval
from cozcli.analysis.statistics.arrays import Floats

#: A curve that rises by less does not scale at all.
MIN_GAIN = 0.02
#: A curve flattens before its last level only if the last level is so far below the straight line.
MIN_BEND = 0.02
#: It flattens, or never rises, if so many replicates do. It rises to its end if no more than the second bend.
CLEAR, MAYBE = 0.9, 0.5


@dataclass(frozen=True)
class Knee:
    """Where a curve stops rising: `at` (0: it never rises), or None; with a 95 % interval.

    is_clear: False where it may as well be otherwise.
    """

    at: float | None = None
    low: float = 0.0
    high: float = 0.0
    is_clear: bool = True


def find_knee(loads: Floats, speedups: Floats, replicates: Floats) -> Knee:
    """Where a curve through the origin stops rising: the best a·min(load, knee).

    Args:
        loads: (L,), ascending, base first. speedups: (L,). replicates: (L, REPLICATES) of the speedups.
    """
    if loads[-1] <= 0:
        return Knee(is_clear=False)
    variance = np.maximum(replicates.var(axis=1), 1e-5)
    grid = np.linspace(loads[1] / 2, loads[-1], 200)
    shapes = np.minimum(loads[None, :], grid[:, None])
    weighted = shapes / variance
    norm = (weighted * shapes).sum(axis=1)

    # Low loads gain little at best.
    least = min(MIN_GAIN, loads[-1] / 2)
    if speedups.max() < least:
        # The last shape is the straight line.
        gains = loads[-1] * (weighted[-1] @ replicates) / norm[-1]
        return Knee(0.0, 0.0, float(loads[1])) if (gains < least).mean() >= CLEAR else Knee(is_clear=False)

    def fit(curves: Floats) -> tuple[Floats, Floats]:
        """The knees, and how far the straight lines are above the curves at the last load."""
        projected = weighted @ curves
        # The best fit is the one that explains most of the sum of squares.
        best = (projected**2 / norm[:, None]).argmax(axis=0)
        slopes = projected[best, np.arange(curves.shape[1])] / norm[best]
        return grid[best], slopes * (loads[-1] - grid[best])

    (knee,), (lost,) = fit(speedups[:, None])
    knees, losses = fit(replicates)
    bent = float((losses >= MIN_BEND).mean())
    if (loads <= knee + 1e-9).all() or lost < MIN_BEND:
        return Knee(is_clear=bent <= MAYBE)
    if bent < CLEAR:
        return Knee(is_clear=False)
    low, high = percentile_interval(knees)
    return Knee(float(knee), float(low), float(high))
