"""The machine's speed, taken out of the windows: shared processors run slower for some tenths of a second.

The runtime times a fixed piece of work at every sample (`probe_time` of a window; it knows nothing of the
program). A window's slowness is x = log(probe_time / reference), the reference being what the run's fastest
windows took. Periods follow it: within the blocks of each line

    log p = block + speedup + γ·x + noise,

with one γ for a progress point: 1 if its work slows down as the probe does, 0 if the machine's speed does not
matter. γ is estimated by weighted least squares over all lines, the blocks and speedups of each projected
out (Frisch, Waugh, Lovell), with a prior of mean 0 and variance 1, so that nothing is corrected without
evidence. Periods are then divided by e^(γ·x), and slow windows, whose correction is as uncertain as it is
large, count less. A window is never judged by its own period: that would hide what a program does rarely.
(Analysis of covariance; docs/decisions/speed_probe.md has the evidence.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from cozcli.analysis.grouping import Floats, Ints, Series

#: A window this much slower than the fastest (as a logarithm) counts half.
HALF_WEIGHT = 0.05
#: γ beyond this is not the machine's speed.
LARGEST_EXPONENT = 2.0
#: With fewer windows beyond the parameters of the fit, γ is left at 0.
LEAST_FREEDOM = 10
#: Slower than this, a window is called slow in messages: 10 %.
SLOW = float(np.log(1.1))
#: Users are told when at least this part of the windows was slow.
MENTIONED = 0.2
ROUNDS = 100
TOLERANCE = 1e-9


def exponents_of_points(all_series: Sequence[Series]) -> dict[tuple[str, str], float]:
    """γ of each progress point and kind, from all lines."""
    groups: defaultdict[tuple[str, str], list[Series]] = defaultdict(list)
    for series in all_series:
        groups[series.point, series.kind].append(series)
    return {key: exponent(group) for key, group in groups.items()}


def window_weights(slowness: Floats) -> Floats:
    """How much windows count, between 0 and 1; any shape."""
    return np.asarray(1.0 / (1.0 + (slowness / HALF_WEIGHT) ** 2), dtype=np.float64)


def exponent(group: Sequence[Series]) -> float:
    """γ of one progress point, from all its lines."""
    products = squares = total = 0.0
    freedom = 0
    for series in group:
        usable = (series.numerator > 0) & (series.denominator > 0)
        if not usable.any():
            continue
        _, block = np.unique(series.stratum[usable], return_inverse=True)
        _, level = np.unique(series.speedup[usable], return_inverse=True)
        weights = window_weights(series.slowness[usable]) * series.time[usable] / series.time[usable].mean()
        logs = np.log(series.numerator[usable] / series.denominator[usable])
        y = project_out(logs, weights, block, level)
        x = project_out(series.slowness[usable], weights, block, level)
        products += float(weights @ (x * y))
        squares += float(weights @ x**2)
        total += float(weights @ y**2)
        freedom += max(len(logs) - int(block.max()) - int(level.max()) - 1, 0)
    if freedom < LEAST_FREEDOM or squares == 0:
        return 0.0
    residual = max(total - products**2 / squares, 0.0) / freedom
    return float(np.clip(products / (squares + residual), 0.0, LARGEST_EXPONENT))


def slow_machine(slowness: Sequence[float]) -> int:
    """The number of windows measured on a slow machine, if they are many; else 0."""
    slow = sum(x > SLOW for x in slowness)
    return slow if slow >= MENTIONED * len(slowness) else 0


def correct_for_speed(series: Series, exponents: Mapping[tuple[str, str], float]) -> Series:
    """The series at the reference speed of the machine."""
    weights = window_weights(series.slowness)
    speed = np.exp(-exponents.get((series.point, series.kind), 0.0) * series.slowness)
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
