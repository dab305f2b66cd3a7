"""The machine's speed, taken out of the windows: shared processors run slower for some tenths of a second.

Two measures tell of it, and neither knows anything of the program:

- x, the slowness: the runtime times a fixed piece of work at every sample (`probe_time` of a window), and
  x = log(probe_time / reference), the reference being what the run's fastest windows took;
- z, the stolen time: z = log((busy + stolen)/busy) of the machine's processors, by the kernel's count of what
  a hypervisor withheld from them (`machine_stolen`). The probe is too short to see that.

Periods follow them: within the blocks of each line

    log p = block + speedup + γ·x + σ·z + noise,    Var(noise) = φ/t · (1 + (x/h)² + (z/g)²),

with one γ, σ, h and g for a progress point. γ is 1 if its work slows down as the machine does, 0 if the
machine's speed does not matter, and σ above 1 where threads wake each other, each time later. They are
estimated by weighted least squares over all lines, the blocks and speedups of each projected out (Frisch,
Waugh, Lovell), with a prior of mean 0 and variance 1, so that nothing is corrected without evidence.

h and g say how much less certain a window is for having been slow: half, where x is h. On a machine that is
quiet but for some moments slow windows are worth little; where it is never quiet, they are nearly as good as
the others, and all there is. So h and g are what makes the periods most likely (restricted likelihood:
Patterson, Thompson 1971), near a prior. Periods are divided by e^(γ·x + σ·z), and count by
1/(1 + (x/h)² + (z/g)²). A window is never judged by its own period: that would hide what a program does
rarely.
(Analysis of covariance; docs/decisions/speed_probe.md has the evidence.)
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cozcli.analysis.grouping import Floats, Series
from cozcli.analysis.two_way import two_way

#: A window this much slower than the fastest (as a logarithm) counts half, if nothing is known of its point.
HALF_WEIGHT = 0.05
#: The same for time that was stolen, which periods follow less closely, and which is counted in ticks.
HALF_WEIGHT_STOLEN = 0.15
#: h and g are one of these times the above.
HALF_WEIGHT_STEPS = (0.5, 1.0, 2.0, 4.0, 8.0)
#: The prior of that factor: the standard deviation of its logarithm.
HALF_WEIGHT_PRIOR = math.log(2)
#: γ or σ beyond this is not the machine's speed.
LARGEST_EXPONENT = 2.0
#: With fewer windows beyond the parameters of the fit, everything is left as it was before the data.
LEAST_FREEDOM = 10
#: h and g are told from so many lines at most: those with most windows. More do not change them.
LINES_JUDGED = 40
#: Slower than this, a window is called slow in messages: 10 %.
SLOW = float(np.log(1.1))
#: Users are told when at least this part of the windows was slow.
MENTIONED = 0.2


@dataclass(frozen=True)
class Response:
    """How a progress point's periods respond to the machine's speed.

    slowness, stolen: γ and σ. half_slowness, half_stolen: h and g.
    """

    slowness: float = 0.0
    stolen: float = 0.0
    half_slowness: float = HALF_WEIGHT
    half_stolen: float = HALF_WEIGHT_STOLEN

    def weights(self, slowness: Floats, stolen: Floats) -> Floats:
        """How much windows count, above 0 and up to 1; any shape."""
        doubt = (slowness / self.half_slowness) ** 2 + (stolen / self.half_stolen) ** 2
        return np.asarray(1.0 / (1.0 + doubt), dtype=np.float64)


#: Of a point of which nothing is known, on a machine whose speed does not matter.
NO_RESPONSE = Response()


@dataclass(frozen=True)
class _Fit:
    """A response, and the logarithm of how likely it makes the periods."""

    response: Response
    log_likelihood: float


def responses_of_points(all_series: Sequence[Series]) -> dict[tuple[str, str], Response]:
    """Of each progress point and kind, from all lines."""
    groups: defaultdict[tuple[str, str], list[Series]] = defaultdict(list)
    for series in all_series:
        groups[series.point, series.kind].append(series)
    return {key: response(group) for key, group in groups.items()}


def response(group: Sequence[Series]) -> Response:
    """Of one progress point, from all its lines."""
    judged = sorted(group, key=lambda series: -len(series.speedup))[:LINES_JUDGED]
    best = _fit(judged, NO_RESPONSE)
    if best is None:
        return NO_RESPONSE
    for name, middle in (
        ("half_slowness", HALF_WEIGHT),
        ("half_stolen", HALF_WEIGHT_STOLEN),
        ("half_slowness", HALF_WEIGHT),
    ):
        for factor in HALF_WEIGHT_STEPS:
            tried = replace(best.response, **{name: factor * middle})
            if tried != best.response:
                best = _better(best, _fit(judged, tried))
    whole = _fit(group, best.response)
    return whole.response if whole else NO_RESPONSE


def _better(best: _Fit, other: _Fit | None) -> _Fit:
    return other if other is not None and _posterior(other) > _posterior(best) else best


def _posterior(fit: _Fit) -> float:
    """The logarithm of the probability of h and g, but for a constant."""
    factors = (
        fit.response.half_slowness / HALF_WEIGHT,
        fit.response.half_stolen / HALF_WEIGHT_STOLEN,
    )
    prior = -sum((math.log(factor) / HALF_WEIGHT_PRIOR) ** 2 for factor in factors) / 2
    return fit.log_likelihood + prior


def _fit(group: Sequence[Series], halves: Response) -> _Fit | None:
    """The most likely γ and σ with the h and g of `halves`; None if there are too few windows."""
    products, squares, total = np.zeros(2), np.zeros((2, 2)), 0.0
    freedom, log_determinant = 0, 0.0
    for series in group:
        usable = (series.numerator > 0) & (series.denominator > 0)
        if not usable.any():
            continue
        slowness, stolen, time = series.slowness[usable], series.stolen[usable], series.time[usable]
        weights = halves.weights(slowness, stolen) * time / time.mean()
        layout = two_way(series, usable, weights)
        y = layout.residuals(np.log(series.numerator[usable] / series.denominator[usable]))
        x = np.stack([layout.residuals(values) for values in (slowness, stolen)])
        products += (weights * x) @ y
        squares += (weights * x) @ x.T
        total += float(weights @ y**2)
        freedom += int(np.count_nonzero(usable)) - layout.rank
        log_determinant += layout.log_determinant - float(np.log(weights).sum())
    if freedom < LEAST_FREEDOM:
        return None
    found = _exponents(products, squares, total, freedom)
    left = total - 2 * float(found @ products) + float(found @ squares @ found)
    scatter = math.log(max(left, 1e-300) / freedom)
    return _Fit(
        replace(halves, slowness=float(found[0]), stolen=float(found[1])),
        -(log_determinant + freedom * scatter) / 2,
    )


def _exponents(products: Floats, squares: Floats, total: float, freedom: int) -> Floats:
    """The most likely γ and σ, (2,), neither of them negative.

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
        free &= found >= 0  # what a slower machine made faster is chance: without it
    return np.asarray(np.clip(found, 0.0, LARGEST_EXPONENT), dtype=np.float64)


def slow_machine(slowness: Sequence[float]) -> int:
    """The number of windows measured on a slow machine, if they are many; else 0."""
    slow = sum(x > SLOW for x in slowness)
    return slow if slow >= MENTIONED * len(slowness) else 0


def correct_for_speed(series: Series, of_points: Mapping[tuple[str, str], Response]) -> Series:
    """The series at the reference speed of the machine."""
    own = of_points.get((series.point, series.kind), NO_RESPONSE)
    weights = own.weights(series.slowness, series.stolen)
    speed = np.exp(-own.slowness * series.slowness - own.stolen * series.stolen)
    return replace(
        series,
        numerator=series.numerator * speed * weights,
        denominator=series.denominator * weights,
        time=series.time * weights,
        discount=weights,
    )
