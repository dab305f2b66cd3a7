"""Replicates of a series' log ratios: how they might have come out.

Everything uncertain about one series is held in one matrix of replicates of log(p_s / p_0), shape
(REPLICATES, S). Intervals of points, of the slope and of the curve are all read from it, so that they agree.
Derivation and limits: docs/decisions/estimation.md.

* With `MIN_UNITS` or more blocks at every speedup, a cluster bootstrap: blocks are drawn with replacement
  (Efron), all speedups of a block together, and the spread is widened by `small_sample_factor`.
* With fewer, a parametric bootstrap: normal replicates with the covariance that the layout of blocks implies,
  scaled by one variance φ (variance.py). φ is itself drawn from its χ² distribution, which makes them t.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence

import numpy as np

from cozcli.analysis.estimate.block_table import BlockTable, Pool
from cozcli.analysis.estimate.period_ratio import log_ratios, pool_terms, ratio_terms, strata_terms
from cozcli.analysis.estimate.variance import Variance, model_covariance
from cozcli.analysis.input.series import Factor
from cozcli.analysis.statistics.arrays import Floats
from cozcli.analysis.statistics.distributions import LEVEL, normal_quantile, t_quantile
from cozcli.analysis.statistics.weighted import effective_number

REPLICATES = 2000
MIN_UNITS = 6
#: Ratios beyond e^±20 all say the same: nothing is known.
MAX_LOG = 20.0


def draw_replicates(table: BlockTable, variance: Variance) -> tuple[Floats, Floats]:
    """Replicates of the S log ratios.

    Returns:
        Replicates (REPLICATES, S), and the degrees of freedom behind each column (S,). The seed is a
        function of the series' names only, so a filter never changes a number.
    """
    series = table.series
    name = f"{series.location}\0{series.point}\0{series.kind}".encode(errors="replace")
    rng = np.random.default_rng(zlib.crc32(name))
    estimate = log_ratios(table)
    units = table.units
    if units.min() >= MIN_UNITS:
        replicates = _bootstrap(table, rng)
        effective = effective_units(table)
        factor = np.array([small_sample_factor(k) for k in effective], dtype=np.float64)
        spread = np.where(np.isfinite(replicates), replicates, estimate) - estimate
        return _bounded(estimate + spread * factor), effective - 1
    covariance = model_covariance(table) * variance.phi
    normal = rng.standard_normal((REPLICATES, len(estimate)))
    chi = rng.chisquare(variance.freedom, (REPLICATES, 1)) / variance.freedom
    noise: Floats = normal @ _square_root(covariance).T / np.sqrt(chi)
    return _bounded(estimate + noise), np.full(len(estimate), variance.freedom)


def draw_factors(factors: Sequence[Factor], number: int) -> Floats:
    """Relative replicates of the product of factors, (number, 1): lognormal.

    Factors that cannot exceed 1 are drawn singly and cut at 1; the others as one product.
    """
    bounded = [factor for factor in factors if factor.is_at_most_one]
    error = math.hypot(*(factor.relative_error for factor in factors if not factor.is_at_most_one))
    rng = np.random.default_rng(number + 1)
    drawn = np.exp(error * rng.standard_normal((number, 1)))
    rng = np.random.default_rng(number)
    for factor in bounded:
        noise = np.exp(factor.relative_error * rng.standard_normal((number, 1)))
        drawn = np.minimum(noise, 1 / factor.value) * drawn
    return np.asarray(drawn, dtype=np.float64)


def effective_units(table: BlockTable) -> Floats:
    """How many equally heavy tables each speedup rests on, (S,): (Σq)² / Σq² (Kish 1965), at least 2.

    Blocks measured on a slow machine weigh less; where a few weigh most, there are only those few.
    """
    _, weights = strata_terms(table)
    pooled = [min(pool.size, table.pools[0].size) for pool in table.pools[1:]]
    return np.asarray(np.clip(effective_number(weights) + pooled, 2.0, table.units), dtype=np.float64)


def _bootstrap(table: BlockTable, rng: np.random.Generator) -> Floats:
    blocks = len(table.paired)
    a, c = strata_terms(table)
    if blocks:
        drawn = rng.multinomial(blocks, np.full(blocks, 1 / blocks), size=REPLICATES)
        a, c = drawn @ a, drawn @ c
    else:
        a, c = np.zeros((REPLICATES, a.shape[1])), np.zeros((REPLICATES, a.shape[1]))
    if any(p > 0 for p in pool_terms(table)[1]):
        baseline, *faster = (_redraw(pool, rng) for pool in table.pools)
        for column, drawn_pool in enumerate(faster):
            pool_a, pool_c = ratio_terms(drawn_pool, baseline)
            a[:, column] += pool_a
            c[:, column] += pool_c
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(a / c), dtype=np.float64)


def _redraw(pool: Pool, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    if pool.size == 0:
        zero = np.zeros(REPLICATES)
        return zero, zero, zero
    drawn = rng.multinomial(pool.size, np.full(pool.size, 1 / pool.size), size=REPLICATES)
    return drawn @ pool.numerator, drawn @ pool.denominator, drawn @ pool.exposure


def _square_root(covariance: Floats) -> Floats:
    """The Cholesky factor. Unlike eigenvectors it does not depend on the library that computes it."""
    scale = float(np.trace(covariance))
    if scale == 0:  # windows without any scatter, as in synthetic profiles
        return np.zeros_like(covariance)
    ridge = 1e-12 * scale * np.eye(len(covariance))
    return np.asarray(np.linalg.cholesky(covariance + ridge), dtype=np.float64)


def _bounded(log_replicates: Floats) -> Floats:
    """Keep the tails of t with hardly a degree of freedom within what a float can exponentiate."""
    return np.asarray(np.clip(log_replicates, -MAX_LOG, MAX_LOG), dtype=np.float64)


def small_sample_factor(units: float) -> float:
    """By what factor a percentile interval from a bootstrap of `units` blocks is too narrow.

    Drawing k blocks from k understates their variance by (k − 1)/k, and its percentiles are those of the
    normal distribution instead of t with k − 1 degrees of freedom (Hesterberg 2015, §4.1).
    """
    probability = 0.5 + LEVEL / 2
    ratio = float(t_quantile(probability, units - 1)) / normal_quantile(probability)
    return math.sqrt(units / (units - 1)) * ratio
