"""Takes the machine's speed out of periods: shared processors run slower for some tenths of a second.

Two measures tell of it, and neither knows anything of the program (input/slowness.py): the slowness x by the
runtime's probe, and the stolen time z by the kernel's count. Periods follow them. Within the blocks of each
line,

    log p = block + speedup + γ·x + σ·z + noise,    Var(noise) = φ/t · (1 + (x/h)² + (z/g)²),

with one γ, σ, h and g for a progress point. γ is 1 if its work slows down as the machine does, and 0 if the
machine's speed does not matter. σ is above 1 where threads wake each other, each time later. Both are
estimated by weighted least squares over all lines (analysis of covariance), with the fixed effects of blocks
and speedups projected out (Frisch, Waugh, Lovell), and with a prior of mean 0 and variance 1, so that nothing
is corrected without evidence.

h and g say how much less certain a window is for having been slow: it counts half where x is h. On a machine
that is quiet except for some moments, slow windows are worth little. Where it is never quiet, they are nearly
as good as the others, and all there is. So h and g are those that make the periods most likely (restricted
likelihood: Patterson and Thompson 1971), near a prior.

Periods are divided by e^(γ·x + σ·z) and weighted by 1/(1 + (x/h)² + (z/g)²). A window is never weighted by
its own period: that would hide what a program does rarely. docs/decisions/speed_probe.md has the evidence.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cozcli.analysis.correct.protocol import Context
from cozcli.analysis.input.series import Series
from cozcli.analysis.input.slowness import HALF_WEIGHT, HALF_WEIGHT_STOLEN, NO_RESPONSE, Response
from cozcli.analysis.result import PointKey
from cozcli.analysis.statistics.arrays import Floats, Ints
from cozcli.analysis.statistics.fixed_effects import FixedEffects

#: h and g are one of these times what they are taken to be where nothing is known.
HALF_WEIGHT_STEPS = (0.5, 1.0, 2.0, 4.0, 8.0)
#: The prior of that factor: the standard deviation of its logarithm.
HALF_WEIGHT_PRIOR = math.log(2)
#: γ or σ beyond this is not the machine's speed.
MAX_EXPONENT = 2.0
#: With fewer windows beyond the parameters of the fit, nothing is corrected.
MIN_FREEDOM = 10
#: h and g are estimated from at most so many lines, those with most windows. More do not change them.
MAX_LINES = 40


class MachineSpeed:
    """The correction; writes `Context.responses`."""

    def adjust(self, all_series: Sequence[Series], context: Context) -> list[Series]:
        """The series at the reference speed of the machine."""
        context.responses.update(responses_of_points(all_series))
        return [bring_to_full_speed(series, context.responses) for series in all_series]


def bring_to_full_speed(series: Series, responses: Mapping[PointKey, Response]) -> Series:
    """The series as on a machine that is never slow, with windows of slow moments weighted down."""
    own = responses.get(series.key, NO_RESPONSE)
    weight = own.weights(series.slowness, series.stolen)
    speed = np.exp(-own.slowness * series.slowness - own.stolen * series.stolen)
    return replace(
        series,
        numerator=series.numerator * speed * weight,
        denominator=series.denominator * weight,
        time=series.time * weight,
        weight=weight,
    )


def responses_of_points(all_series: Sequence[Series]) -> dict[PointKey, Response]:
    """The response of each progress point and kind, from all lines."""
    groups: defaultdict[PointKey, list[Series]] = defaultdict(list)
    for series in all_series:
        groups[series.key].append(series)
    return {key: estimate_response(group) for key, group in groups.items()}


def estimate_response(group: Sequence[Series]) -> Response:
    """The response of one progress point, from all its lines."""
    ordered = sorted(group, key=lambda series: -len(series.speedup))
    layouts = [_Layout.of(series) for series in ordered if series.has_visits.any()]
    longest = layouts[:MAX_LINES]
    # Of a measure that is always 0 there is nothing to learn.
    steps = [("half_slowness", HALF_WEIGHT)] if any(each.slowness.any() for each in layouts) else []
    if any(each.stolen.any() for each in layouts):
        steps = [*steps, ("half_stolen", HALF_WEIGHT_STOLEN), *steps]
    best = _fit(longest, NO_RESPONSE) if steps else None
    if best is None:
        return NO_RESPONSE
    for name, middle in steps:
        for factor in HALF_WEIGHT_STEPS:
            tried = replace(best.response, **{name: factor * middle})
            if tried != best.response:
                best = _better(best, _fit(longest, tried))
    whole = _fit(layouts, best.response)
    return whole.response if whole else NO_RESPONSE


@dataclass(frozen=True)
class _Layout:
    """The windows of one line with a known period, (N,); `block` and `level` are numbered from 0."""

    log_period: Floats
    slowness: Floats
    stolen: Floats
    exposure: Floats
    block: Ints
    level: Ints

    @staticmethod
    def of(series: Series) -> _Layout:
        usable = series.has_visits
        time = series.time[usable]
        return _Layout(
            log_period=np.log(series.numerator[usable] / series.denominator[usable]),
            slowness=series.slowness[usable],
            stolen=series.stolen[usable],
            exposure=time / time.mean(),
            block=np.unique(series.stratum[usable], return_inverse=True)[1],
            level=np.unique(series.speedup[usable], return_inverse=True)[1],
        )


@dataclass(frozen=True)
class _Fit:
    """A response, and the logarithm of how likely it makes the periods."""

    response: Response
    log_likelihood: float

    @property
    def log_posterior(self) -> float:
        """The logarithm of the probability of h and g, up to a constant."""
        factors = (
            self.response.half_slowness / HALF_WEIGHT,
            self.response.half_stolen / HALF_WEIGHT_STOLEN,
        )
        prior = -sum((math.log(factor) / HALF_WEIGHT_PRIOR) ** 2 for factor in factors) / 2
        return self.log_likelihood + prior


def _better(best: _Fit, other: _Fit | None) -> _Fit:
    return other if other is not None and other.log_posterior > best.log_posterior else best


def _fit(layouts: Sequence[_Layout], halves: Response) -> _Fit | None:
    """The most likely γ and σ with the h and g of `halves`; None if there are too few windows."""
    products, squares, total = np.zeros(2), np.zeros((2, 2)), 0.0
    freedom, log_determinant = 0, 0.0
    for windows in layouts:
        weights = halves.weights(windows.slowness, windows.stolen) * windows.exposure
        effects = FixedEffects(weights, windows.block, windows.level)
        y = effects.residuals(windows.log_period)
        x = np.stack([effects.residuals(values) for values in (windows.slowness, windows.stolen)])
        products += (weights * x) @ y
        squares += (weights * x) @ x.T
        total += float(weights @ y**2)
        freedom += len(weights) - effects.rank
        log_determinant += effects.log_determinant - float(np.log(weights).sum())
    if freedom < MIN_FREEDOM:
        return None
    found = _exponents(products, squares, total, freedom)
    left = total - 2 * float(found @ products) + float(found @ squares @ found)
    scatter = math.log(max(left, 1e-300) / freedom)
    response = replace(halves, slowness=float(found[0]), stolen=float(found[1]))
    return _Fit(response, -(log_determinant + freedom * scatter) / 2)


def _exponents(products: Floats, squares: Floats, total: float, freedom: int) -> Floats:
    """The most likely γ and σ, (2,), neither of them negative: ridge regression with a prior of variance 1.

    products: (2,), squares: (2, 2), total: sums of x·y, x·xᵀ and y² over the windows.
    """
    found = np.zeros(2)
    free = np.diag(squares) > 0
    while free.any():
        own = squares[np.ix_(free, free)]
        exact = np.linalg.lstsq(own, products[free], rcond=None)[0]
        residual = max(total - float(products[free] @ exact), 0.0) / freedom
        found[:] = 0.0
        ridge = own + residual * np.eye(len(own))
        found[free] = np.linalg.lstsq(ridge, products[free], rcond=None)[0]
        if (found >= 0).all():
            break
        free &= found >= 0  # that a slower machine makes the program faster is chance
    return np.asarray(np.clip(found, 0.0, MAX_EXPONENT), dtype=np.float64)
