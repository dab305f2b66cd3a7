"""The estimate of one target from a fit of all of them: effects, slope and curve, with intervals.

All are linear in the coefficients of the fit, so their intervals come from one covariance. What the windows
cannot tell is added: the bends of a target that was never main, the error of factors that corrections put on
effects, how far the program under companions is from the program without, and what pauses change besides
(pause_error.py). No effect is above what the target's share of the time allows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cozcli.analysis.estimate.combined_design import FIXED, at_speedups
from cozcli.analysis.estimate.combined_fit import CombinedFit
from cozcli.analysis.estimate.curve import GRID
from cozcli.analysis.estimate.pause_error import TIMES_OF_LATENCY
from cozcli.analysis.input.series import Factor
from cozcli.analysis.input.targets import Target
from cozcli.analysis.result import THROUGHPUT, CurvePoint, Fit
from cozcli.analysis.statistics.arrays import Floats, Ints
from cozcli.analysis.statistics.distributions import LEVEL, t_quantile, t_tail

#: Every target has effects at these speedups, however they were obtained.
ALWAYS = (0.25, 0.5, 0.75)
#: How far an effect without companions may be from that among them: this part of the dose that it is, as a
#: standard deviation. Of large doses it is limited, by this part of that of all companions together.
ENVIRONMENT, LARGE_DOSE = 0.15, 0.6
#: A target that was sped up in fewer windows than these has few data: as main target, and as a companion.
MIN_MAIN, MIN_COMPANION = 5, 10

#: Targets are marked for being beyond their share if chance would mark any of them as rarely as this.
MAX_FALSE_BEYOND = 0.02
#: The part of priors that is left where own windows are judged. Without any, the unknown has no precision.
VAGUE = 1e-4


@dataclass(frozen=True)
class CombinedEstimate:
    """The slope and the S effects of one target, with 95 % intervals.

    value, low, high, freedom: (S + 1,), the slope first, as in `TargetEstimate`. windows: of the main target
    at each of S speedups; baselines: as main target at speedup 0; companion_windows: as companion above 0.
    bound: of the slope, None for latencies, which no share bounds.
    p_no_effect: two-sided, from this target's own windows, whatever others save. is_beyond: do they show more
    than the share allows?
    """

    target: Target
    speedups: Floats
    value: Floats
    low: Floats
    high: Floats
    freedom: Floats
    windows: Ints
    baselines: int
    companion_windows: int
    bound: float | None
    p_no_effect: float
    is_beyond: bool
    fit: Fit

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """The curve, from speedup 0 on; experiments are windows in which the target was main."""
        rows = zip(self.speedups, self.value[1:], self.low[1:], self.high[1:], self.windows, strict=True)
        return (
            CurvePoint(0.0, 0.0, 0.0, 0.0, self.baselines),
            *(CurvePoint(float(s), float(e), float(low), float(high), int(n)) for s, e, low, high, n in rows),
        )

    @property
    def has_few_data(self) -> bool:
        """Too few windows to tell anything that its share does not."""
        return int(self.windows.sum()) < MIN_MAIN and self.companion_windows < MIN_COMPANION


def estimate_combined(
    fit: CombinedFit, number: int, kind: str, factors: Sequence[Factor] = (), pauses: float = 0.0
) -> CombinedEstimate:
    """The estimate of target `number`.

    Args:
        kind: of the progress point. A share of the time bounds no latency: an operation may be rare.
        factors: what corrections multiply effects by, the phase correction's aside, which the rows have.
        pauses: what pause_error() says.
    """
    rows = fit.rows
    target = rows.targets[number]
    own = (rows.main == number) & ~rows.partner.any(axis=1)
    measured = np.unique(rows.main_speedup[own & (rows.main_speedup > 0)])
    speedups = np.unique(np.concatenate([np.round(measured, 4), ALWAYS]))
    grid = np.linspace(0, max(1.0, float(speedups[-1])), GRID)
    everything = np.concatenate([speedups, grid])
    value, covariance = _effects(fit, number, kind, everything, factors, pauses)
    count = len(speedups)
    slope = _slope(speedups)
    value = np.concatenate([[slope @ value[:count]], value])
    variance = np.concatenate([[slope @ covariance[:count, :count] @ slope], np.diag(covariance)])
    half = float(t_quantile(0.5 + LEVEL / 2, fit.posterior.freedom)) * np.sqrt(np.maximum(variance, 0.0))
    bound = target.bound if kind == THROUGHPUT else None
    if bound is not None:
        most = bound * np.concatenate([[1.0], everything])
    else:  # behind a queue, latency may fall by more than the line's own time, but not below 0
        most = np.concatenate([[np.inf], np.ones_like(everything)])
    p_no_effect, is_beyond = _own_evidence(fit, number, measured if len(measured) else speedups, most[0])
    high = np.minimum(value + half, most)
    value = np.minimum(value, most)
    low = value - half  # not cut: tests rescale this half, and a shorter one would overstate certainty
    at = slice(0, 1 + count)
    return CombinedEstimate(
        target=target,
        speedups=speedups,
        value=value[at],
        low=low[at],
        high=high[at],
        freedom=np.full(1 + count, fit.posterior.freedom),
        windows=np.array([np.count_nonzero(own & (np.abs(rows.main_speedup - s) < 1e-6)) for s in speedups]),
        baselines=int(np.count_nonzero(own & (rows.main_speedup == 0))),
        companion_windows=int(np.count_nonzero((rows.companions[:, number] > 0) & ~rows.partner[:, number])),
        bound=bound,
        p_no_effect=p_no_effect,
        is_beyond=is_beyond,
        fit=Fit(
            2, *(tuple(map(float, each)) for each in (grid, *(v[1 + count :] for v in (value, low, high))))
        ),
    )


def _effects(
    fit: CombinedFit, number: int, kind: str, speedups: Floats, factors: Sequence[Factor], pauses: float
) -> tuple[Floats, Floats]:
    """Effects at the speedups, and their covariance."""
    share = float(fit.share[number])
    around = environment(fit, share * speedups)
    value, covariance = fit.effects(number, speedups, around)
    beside = pauses * min(share, 1.0) * speedups
    if kind != THROUGHPUT:
        beside = beside * TIMES_OF_LATENCY * np.maximum(1 - value, 0.0)
    covariance += np.outer(beside, beside)
    for factor in factors:
        value, covariance = value * factor.value, covariance * factor.value**2
        covariance += factor.relative_error**2 * np.outer(value, value)
    return value, covariance


def environment(fit: CombinedFit, dose: Floats) -> Floats:
    """Standard deviation of what these doses save without companions, against what they save among them."""
    companions = np.where(fit.rows.partner, 0.0, fit.rows.companions)
    around = LARGE_DOSE * float((companions @ fit.share).mean())
    return np.asarray(ENVIRONMENT * dose / (1 + dose / max(around, 1e-9)))


def _own_evidence(fit: CombinedFit, number: int, speedups: Floats, bound: float) -> tuple[float, bool]:
    """What the target's own windows say of its saving for each share: p-value of none; and is it beyond the
    bound?

    Of the curve's beginning and its slope, the one counts for p that is better known: windows of companions
    tell of the former, those of the main target of the latter, where curves may have levelled off. Either may
    be beyond the bound.
    """
    known = [_without_prior(fit, number, speedups[:0])]
    if fit.may_bend(number):
        known.append(_without_prior(fit, number, speedups))
    share = float(fit.share[number])
    beyond = max((saving * share - bound) / (error * share) for saving, error in known)
    freedom = fit.posterior.freedom
    is_beyond = bool(t_tail(beyond, freedom) * len(fit.share) * len(known) < MAX_FALSE_BEYOND)
    saving, error = min(known, key=lambda each: each[1])
    return min(2 * float(t_tail(abs(saving) / error, freedom)), 1.0), is_beyond


def _without_prior(fit: CombinedFit, number: int, speedups: Floats) -> tuple[float, float]:
    """The saving for each share by the slope of the effects at these speedups, and its standard error.

    That is c + u + k·bends; without speedups, the curve's beginning, c + u. For a given c, u and k·bends have
    a posterior covariance V and a prior P, which is taken out, but for a part of `VAGUE`:
    (V⁻¹ − (1 − VAGUE)·P⁻¹)⁻¹. The error is infinite where that is no covariance.
    """
    mean, covariance = fit.posterior.mean, fit.posterior.covariance
    parts, prior = [np.eye(len(mean))[FIXED + number]], [float(fit.prior_u[number])]
    if len(speedups):
        of_bends = _slope(speedups) @ at_speedups(fit.design.components, speedups)
        parts.append(np.zeros(len(mean)))
        parts[1][fit.design.bends_of(number)] = of_bends
        prior.append(fit.prior_bend * float(of_bends @ of_bends))
    scale = np.sqrt(prior)
    contrast = np.array(parts) / scale[:, None]
    spread = contrast @ covariance
    given_c = spread @ contrast.T - np.outer(spread[:, 1], spread[:, 1]) / covariance[1, 1]
    precision = np.linalg.inv(given_c)
    alone = np.linalg.inv(precision - (1 - VAGUE) * np.eye(len(parts)))
    variance = float(scale @ alone @ scale)
    if variance <= 0:
        return 0.0, math.inf
    return fit.mean_saving + float(scale @ alone @ precision @ contrast @ mean), math.sqrt(variance)


def _slope(speedups: Floats) -> Floats:
    """What each effect counts in the slope, (S,): least squares through 0."""
    return np.asarray(speedups / float(speedups @ speedups))
