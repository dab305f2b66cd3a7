"""The speedup that windows really got, against the one they were to get: chance in sampling, taken out.

A line is charged by the samples that happen to hit it. Where it takes the share q of its thread's time,
the hits of a window of N periods scatter by √((1 − q)/(qN)), 8 % for half of 0.15 s, and so does the delay
of the window, while the line itself ran as long as ever. A window with more delay than its visits call for
seems to be faster by as much, if the line lies on the critical path. With g the delay for each ns of
effective time,

    log p = block + speedup − κ·(g − ḡ) + noise,        ḡ = s·c·r/p_s

c: hits (each a period) for each visit, by all windows of the line with a speedup together. r: delay for each
ns charged, below 1 where several threads run the line together. p_s: mean period at the speedup. One κ for
a line at a point: 1 on the critical path, 0 off it. It is estimated as γ is (speed.py), with a prior of
mean 0 and variance 1, and periods are multiplied by e^(κ(g − ḡ)). (Analysis of covariance;
docs/decisions/estimation.md.)

c itself is known from samples: its relative error is that of the effect, and common to all speedups.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cozcli.analysis.grouping import POOL, THROUGHPUT, Bools, Floats, Series
from cozcli.analysis.speed import LEAST_FREEDOM
from cozcli.analysis.two_way import two_way

#: κ beyond this is not chance in sampling.
LARGEST_EXPONENT = 1.2
#: Standard errors from which a difference between speedups is taken for real.
CLEARLY = 2.0
#: A window that differs by more tells of something else.
LARGEST_DIFFERENCE = 0.5


def correct_for_realised(series: Series) -> Series:
    """The series as if every window had got the delay that its speedup calls for.

    Latency points, windows outside of blocks, and lines of too few windows stay as they are.
    """
    usable = _usable(series)
    if series.kind != THROUGHPUT or np.count_nonzero(usable) < LEAST_FREEDOM:
        return series
    hits = series.hit_share[usable] * series.numerator[usable]
    visits = series.denominator[usable]
    for_each_visit, error = _hits_for_each_visit(hits, visits, series.speedup[usable])
    difference = np.zeros(len(usable))
    difference[usable] = _differences(series, usable, for_each_visit)
    exponent = _exponent(series, difference)
    if exponent <= 0:
        return series
    return replace(
        series, numerator=series.numerator * np.exp(exponent * difference), dose_error=min(error, 1.0)
    )


def _hits_for_each_visit(hits: Floats, visits: Floats, speedup: Floats) -> tuple[Floats, float]:
    """c of each window, (N,), and its relative standard error where it is known best.

    It is one number, or, if the windows say clearly that it depends on the speedup, a line: a program may
    do other work while it is held up.
    """
    mean = hits.sum() / visits.sum()
    centred = speedup - (visits * speedup).sum() / visits.sum()
    information = float((visits * centred**2).sum())
    slope = float((centred * (hits - mean * visits)).sum()) / information if information > 0 else 0.0
    left = hits - (mean + slope * centred) * visits
    windows = len(hits)
    error = float(np.sqrt(windows / (windows - 2) * (left**2).sum())) / float(hits.sum())
    scores = float(np.sqrt(windows / (windows - 2) * ((centred * left) ** 2).sum()))
    of_slope = scores / information if information > 0 else np.inf
    if abs(slope) <= CLEARLY * of_slope:
        return np.full(windows, mean), error
    return np.asarray(np.maximum(mean + slope * centred, 0.0)), error * float(np.sqrt(2))


def _usable(series: Series) -> Bools:
    """Windows with a speedup, in blocks, in which something was visited and delayed."""
    return np.asarray(
        (series.speedup > 0)
        & (series.stratum != POOL)
        & (series.numerator > 0)
        & (series.denominator > 0)
        & (series.hit_share > 0)
        & (series.delay_share > 0)
    )


def _differences(series: Series, usable: Bools, for_each_visit: Floats) -> Floats:
    """g − ḡ of the usable windows."""
    speedup, delay = series.speedup[usable], series.delay_share[usable]
    time, visits = series.numerator[usable], series.denominator[usable]
    charged = series.hit_share[usable] * speedup
    taken = float((delay * time).sum() / (charged * time).sum())
    expected = np.zeros(len(speedup))
    for level in np.unique(speedup):
        at = speedup == level
        period = time[at].sum() / visits[at].sum()
        expected[at] = level * taken * for_each_visit[at] / period
    return np.asarray(np.clip(delay - expected, -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE))


def _exponent(series: Series, difference: Floats) -> float:
    """κ, from windows in blocks, the blocks and speedups projected out."""
    usable = (series.numerator > 0) & (series.denominator > 0) & (series.stratum != POOL)
    if not usable.any():
        return 0.0
    weights = series.discount[usable] * series.time[usable] / series.time[usable].mean()
    layout = two_way(series, usable, weights)
    freedom = np.count_nonzero(usable) - layout.rank
    if freedom < LEAST_FREEDOM:
        return 0.0
    y = layout.residuals(np.log(series.numerator[usable] / series.denominator[usable]))
    x = layout.residuals(-difference[usable])
    products, squares = float(weights @ (x * y)), float(weights @ x**2)
    if squares <= 0:
        return 0.0
    residual = max(float(weights @ y**2) - products**2 / squares, 0.0) / freedom
    return float(np.clip(products / (squares + residual), 0.0, LARGEST_EXPONENT))
