"""The machine's speed, taken out of the windows: shared processors run slower for some tenths of a second.

Two measures tell of it, and neither knows anything of the program:

- x, the slowness: the runtime times a fixed piece of work at every sample (`probe_time` of a window), and
  x = log(probe_time / reference), the reference being what the run's fastest windows took;
- z, the stolen time: z = log((busy + stolen)/busy) of the machine's processors, by the kernel's count of what
  a hypervisor withheld from them (`machine_stolen`). The probe is too short to see that.

Periods follow them: within the blocks of each line

    log p = block + speedup + γ·x + σ·z + noise,

with one γ and one σ for a progress point: 1 if its work slows down as the machine does, 0 if the machine's
speed does not matter, and σ above 1 where threads wake each other, each time later. They are estimated by
weighted least squares over all lines, the blocks and speedups of each projected out (Frisch, Waugh, Lovell),
with a prior of mean 0 and variance 1, so that nothing is corrected without evidence. Periods are then divided
by e^(γ·x + σ·z), and slow windows, whose correction is as uncertain as it is large, count less. A window is
never judged by its own period: that would hide what a program does rarely.
(Analysis of covariance; docs/decisions/speed_probe.md has the evidence.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cozcli.analysis.grouping import Floats, Ints, Series

#: A window this much slower than the fastest (as a logarithm) counts half.
HALF_WEIGHT = 0.05
#: The same for time that was stolen, which periods follow less closely, and which is counted in ticks.
HALF_WEIGHT_STOLEN = 0.15
#: γ or σ beyond this is not the machine's speed.
LARGEST_EXPONENT = 2.0
#: With fewer windows beyond the parameters of the fit, γ and σ are left at 0.
LEAST_FREEDOM = 10
#: Slower than this, a window is called slow in messages: 10 %.
SLOW = float(np.log(1.1))
#: Users are told when at least this part of the windows was slow.
MENTIONED = 0.2
ROUNDS = 100
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Exponents:
    """γ and σ of a progress point: how far its periods follow the machine's slowness and stolen time."""

    slowness: float = 0.0
    stolen: float = 0.0


#: Of a machine whose speed does not matter.
NO_EXPONENTS = Exponents()


def exponents_of_points(all_series: Sequence[Series]) -> dict[tuple[str, str], Exponents]:
    """Of each progress point and kind, from all lines."""
    groups: defaultdict[tuple[str, str], list[Series]] = defaultdict(list)
    for series in all_series:
        groups[series.point, series.kind].append(series)
    return {key: exponents(group) for key, group in groups.items()}


def window_weights(slowness: Floats, stolen: Floats) -> Floats:
    """How much windows count, between 0 and 1; any shape."""
    doubt = (slowness / HALF_WEIGHT) ** 2 + (stolen / HALF_WEIGHT_STOLEN) ** 2
    return np.asarray(1.0 / (1.0 + doubt), dtype=np.float64)


def exponents(group: Sequence[Series]) -> Exponents:
    """Of one progress point, from all its lines."""
    products, squares, total = np.zeros(2), np.zeros((2, 2)), 0.0
    freedom = 0
    for series in group:
        usable = (series.numerator > 0) & (series.denominator > 0)
        if not usable.any():
            continue
        _, block = np.unique(series.stratum[usable], return_inverse=True)
        _, level = np.unique(series.speedup[usable], return_inverse=True)
        slowness, stolen = series.slowness[usable], series.stolen[usable]
        weights = window_weights(slowness, stolen) * series.time[usable] / series.time[usable].mean()
        logs = np.log(series.numerator[usable] / series.denominator[usable])
        y = project_out(logs, weights, block, level)
        x = np.stack([project_out(values, weights, block, level) for values in (slowness, stolen)])
        products += (weights * x) @ y
        squares += (weights * x) @ x.T
        total += float(weights @ y**2)
        freedom += max(len(logs) - int(block.max()) - int(level.max()) - 1, 0)
    if freedom < LEAST_FREEDOM:
        return NO_EXPONENTS
    return Exponents(*_fit(products, squares, total, freedom))


def _fit(products: Floats, squares: Floats, total: float, freedom: int) -> tuple[float, float]:
    """The most likely γ and σ, neither of them negative.

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
    found = np.clip(found, 0.0, LARGEST_EXPONENT)
    return float(found[0]), float(found[1])


def slow_machine(slowness: Sequence[float]) -> int:
    """The number of windows measured on a slow machine, if they are many; else 0."""
    slow = sum(x > SLOW for x in slowness)
    return slow if slow >= MENTIONED * len(slowness) else 0


def correct_for_speed(series: Series, of_points: Mapping[tuple[str, str], Exponents]) -> Series:
    """The series at the reference speed of the machine."""
    weights = window_weights(series.slowness, series.stolen)
    own = of_points.get((series.point, series.kind), NO_EXPONENTS)
    speed = np.exp(-own.slowness * series.slowness - own.stolen * series.stolen)
    return replace(
        series,
        numerator=series.numerator * speed * weights,
        denominator=series.denominator * weights,
        time=series.time * weights,
        discount=weights,
    )


def project_out(values: Floats, weights: Floats, block: Ints, level: Ints) -> Floats:
    """Residuals of a weighted fit of block and speedup effects, by alternating projections."""
    residuals = values.astype(np.float64)
    for _ in range(ROUNDS):
        before = residuals
        for group in (block, level):
            means = np.bincount(group, weights * residuals) / np.bincount(group, weights)
            residuals = residuals - means[group]
        if np.abs(residuals - before).max() < TOLERANCE:
            break
    return residuals
