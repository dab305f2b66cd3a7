"""Slope and smooth curve of the effects of one line. Both pass through the origin: no speedup, no effect."""

from __future__ import annotations

import numpy as np

from cozcli.analysis.estimate.percentiles import percentile_interval
from cozcli.analysis.result import Fit
from cozcli.analysis.statistics.arrays import Floats

#: A parabola needs this many speedups; with fewer the curve is a line.
MIN_POINTS_OF_PARABOLA = 4
GRID = 41
#: Effects below this are fitted as log(1 − effect).
STEEP = -1.0
#: Beyond this, an effect is one of a millionth of the time remaining.
MAX_EFFECT = 1 - 1e-6


def slope_operator(speedups: Floats, weights: Floats) -> Floats:
    """Weights c, (S,), such that c·effects is the weighted least-squares slope through the origin."""
    return np.asarray(weights * speedups / float(weights @ speedups**2), dtype=np.float64)


def fit_curve(speedups: Floats, weights: Floats, effect: Floats, replicates: Floats) -> Fit:
    """Weighted least-squares polynomial without constant, with the band of its replicates.

    Args:
        speedups: (S,). weights: ΣC of `period_ratio.ratio_sums`, (S,).
        effect: (S,). replicates: effects as they might have come out, (B, S).

    Returns:
        The curve from 0 to the largest speedup measured; it is not extended beyond.
    """
    degree = 2 if len(speedups) >= MIN_POINTS_OF_PARABOLA else 1
    powers = np.arange(1, degree + 1)
    design = speedups[:, None] ** powers
    root = np.sqrt(weights / weights.max())[:, None]
    operator = np.linalg.pinv(design * root) * root.T
    grid = np.linspace(0.0, float(speedups[-1]), GRID)
    at_grid = grid[:, None] ** powers
    # A slow-down of several times (a queue that grows) is no parabola; its logarithm nearly is.
    steep = bool(effect.min() < STEEP)
    if steep:
        # The logarithm of a replicate without any time left would not be finite.
        effect, replicates = (np.log1p(-np.minimum(each, MAX_EFFECT)) for each in (effect, replicates))
    fitted = at_grid @ (operator @ effect)
    low, high = percentile_interval((at_grid @ (operator @ replicates.T)).T)
    if steep:
        fitted, low, high = -np.expm1(fitted), -np.expm1(high), -np.expm1(low)
    return Fit(degree, _tuple(grid), _tuple(fitted), _tuple(low), _tuple(high))


def value_at(fit: Fit, speedup: float) -> tuple[float, float, float] | None:
    """Effect, low and high of the curve at a speedup; None beyond the last one measured."""
    if speedup > fit.speedup[-1] + 1e-9:
        return None
    effect, low, high = (
        float(np.interp(speedup, fit.speedup, column)) for column in (fit.effect, fit.low, fit.high)
    )
    return effect, low, high


def _tuple(values: Floats) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
