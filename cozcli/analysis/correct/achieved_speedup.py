"""Takes chance in sampling out of periods: a window does not get exactly the speedup that it was to get.

A line is charged for the samples that happen to fall into it. Where it takes the share q of its thread's
time, the samples in a window of N periods scatter by √((1 − q)/(qN)), 8 % for q = ½ and 0.15 s. So does the
window's delay, while the line itself runs as long as ever. If a window happened to get more delay than its
visits justify, its period comes out too short by that much. With g the delay for each ns of effective time,

    log p = block + speedup − κ·(g − ḡ) + noise,        ḡ = s·c·r/p_s

c: time in the line (samples times the sampling period) for each visit, by all windows of the line with a
speedup together. r: delay for each ns charged, below 1 where several threads run the line at once; by
speedup, as threads that have become faster wait more, and run at once less often. p_s: mean period at the
speedup. κ is one number for a line and a point: 1 on the critical path, 0 off it. It is
estimated as γ is (machine_speed.py), with a prior of mean 0 and variance 1, and periods are multiplied by
e^(κ(g − ḡ)). (Analysis of covariance; docs/decisions/estimation.md.)

c itself is known from samples only. Its relative error is that of all effects of the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cozcli.analysis.correct.protocol import Context
from cozcli.analysis.input.locations import WAITING
from cozcli.analysis.input.series import Factor, Series
from cozcli.analysis.input.windows import POOL
from cozcli.analysis.result import THROUGHPUT
from cozcli.analysis.statistics.arrays import Bools, Floats
from cozcli.analysis.statistics.fixed_effects import fit_fixed_effects

#: With fewer windows beyond the parameters of the fit, nothing is corrected.
MIN_FREEDOM = 10
#: κ beyond this is not chance in sampling.
MAX_EXPONENT = 1.2
#: Standard errors from which a difference between speedups is taken for real.
MIN_DEVIATIONS = 2.0
#: The same for differences from a straight line, of which there is one for each speedup.
SURE_DEVIATIONS = 4.0
#: Fewer windows do not tell how far their mean may be off.
MIN_WINDOWS = 4
#: With more delay for each effective ns there is hardly any effective time, and shares of it tell nothing.
MAX_DELAY_SHARE = 20.0
#: A window whose delay differs by more has another reason for it.
MAX_DIFFERENCE = 0.5


class AchievedSpeedup:
    """The correction."""

    def adjust(self, all_series: Sequence[Series], context: Context) -> list[Series]:
        """The series as if every window had got the delay that its speedup calls for."""
        return [correct_for_achieved_speedup(series) for series in all_series]


def correct_for_achieved_speedup(series: Series) -> Series:
    """One series.

    Latency points, windows outside of blocks, and lines of too few windows stay as they are. So do waits:
    they are charged for all of their time, without chance, and where several threads wait for the same, the
    time for each visit depends on the speedup.
    """
    if series.location.startswith(WAITING):
        return series
    usable = _usable(series)
    if series.kind != THROUGHPUT or np.count_nonzero(usable) < MIN_FREEDOM:
        return series
    in_target = series.target_share[usable] * series.numerator[usable]
    visits = series.denominator[usable]
    for_each_visit, error = _time_for_each_visit(in_target, visits, series.speedup[usable])
    difference = np.zeros(len(usable))
    difference[usable] = _differences(series, usable, for_each_visit)
    exponent = _exponent(series, difference)
    if exponent <= 0:
        return series
    corrected = replace(series, numerator=series.numerator * np.exp(exponent * difference))
    return corrected.multiplied(Factor(1.0, min(error, 1.0)))


def _time_for_each_visit(in_target: Floats, visits: Floats, speedup: Floats) -> tuple[Floats, float]:
    """c of each window, (N,), and its relative standard error where it is known best.

    It is one number. If the windows say clearly that it depends on the speedup, it is a straight line: a
    program may do other work while it is held up. If they say clearly that it is none, each speedup has its
    own: where other threads make visits without the line, c is the larger the fewer these are.
    """
    mean = in_target.sum() / visits.sum()
    centred = speedup - (visits * speedup).sum() / visits.sum()
    information = float((visits * centred**2).sum())
    slope = float((centred * (in_target - mean * visits)).sum()) / information if information > 0 else 0.0
    left = in_target - (mean + slope * centred) * visits
    windows = len(in_target)
    error = float(np.sqrt(windows / (windows - 2) * (left**2).sum())) / float(in_target.sum())
    scores = float(np.sqrt(windows / (windows - 2) * ((centred * left) ** 2).sum()))
    of_slope = scores / information if information > 0 else np.inf
    if abs(slope) <= MIN_DEVIATIONS * of_slope:
        return np.full(windows, mean), error
    line = np.asarray(np.maximum(mean + slope * centred, 0.0))
    own = _if_not_straight(in_target, visits, speedup, line)
    return (line if own is None else own), error * float(np.sqrt(2))


def _if_not_straight(in_target: Floats, visits: Floats, speedup: Floats, line: Floats) -> Floats | None:
    """c by its own mean at each speedup, if one of these is surely not on the line."""
    own = np.zeros(len(in_target))
    is_straight = True
    for level in np.unique(speedup):
        at = speedup == level
        number = np.count_nonzero(at)
        own[at] = in_target[at].sum() / visits[at].sum()
        if number >= MIN_WINDOWS:
            left = in_target[at] - own[at] * visits[at]
            deviation = np.sqrt(number / (number - 1) * (left**2).sum())
            is_straight &= bool(abs((in_target - line * visits)[at].sum()) <= SURE_DEVIATIONS * deviation)
    return None if is_straight else own


def _usable(series: Series) -> Bools:
    """Windows with a speedup, in blocks, in which something was visited and delayed.

    Where another stage sets the lasting pace, chance in the samples of this one does not change it.
    """
    return np.asarray(
        (series.speedup > 0)
        & ~series.lasting
        & (series.stratum != POOL)
        & series.has_visits
        & (series.target_share > 0)
        & (series.delay_share > 0)
        & (series.delay_share < MAX_DELAY_SHARE)
    )


def _differences(series: Series, usable: Bools, for_each_visit: Floats) -> Floats:
    """g − ḡ of the usable windows."""
    speedup, delay = series.speedup[usable], series.delay_share[usable]
    time, visits = series.numerator[usable], series.denominator[usable]
    charged = series.target_share[usable] * speedup
    expected = np.zeros(len(speedup))
    for level in np.unique(speedup):
        at = speedup == level
        period = time[at].sum() / visits[at].sum()
        for_each_charge = (delay * time)[at].sum() / (charged * time)[at].sum()
        expected[at] = level * for_each_charge * for_each_visit[at] / period
    return np.asarray(np.clip(delay - expected, -MAX_DIFFERENCE, MAX_DIFFERENCE))


def _exponent(series: Series, difference: Floats) -> float:
    """κ, from windows in blocks, with the fixed effects of blocks and speedups projected out."""
    usable = series.has_visits & (series.stratum != POOL) & (series.delay_share < MAX_DELAY_SHARE)
    if not usable.any():
        return 0.0
    # The time is weighted already (machine_speed.py).
    weights = series.time[usable] / series.time[usable].mean()
    effects = fit_fixed_effects(series.stratum[usable], series.speedup[usable], weights)
    freedom = np.count_nonzero(usable) - effects.rank
    if freedom < MIN_FREEDOM:
        return 0.0
    y = effects.residuals(np.log(series.numerator[usable] / series.denominator[usable]))
    x = effects.residuals(-difference[usable])
    products, squares = float(weights @ (x * y)), float(weights @ x**2)
    if squares <= 0:
        return 0.0
    residual = max(float(weights @ y**2) - products**2 / squares, 0.0) / freedom
    return float(np.clip(products / (squares + residual), 0.0, MAX_EXPONENT))
