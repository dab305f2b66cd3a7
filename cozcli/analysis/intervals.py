"""95 % intervals: a bootstrap over blocks, or its parametric form where blocks are few.

Everything uncertain about one series is held in one matrix of replicates: log(p_s / p_0) as it might
have come out, shape (REPLICATES, S). Points, slope and band are read from the same matrix, so that
they agree. Derivation and limits: docs/decisions/estimation.md.

* `MIN_UNITS` or more blocks at every speedup: blocks are drawn with replacement (Efron), all speedups
  of a block together, and the spread about the estimate is widened by `small_sample_factor`.
* fewer: normal replicates with the covariance that the layout of blocks implies, scaled by one
  variance φ (pooled, see `residual_variance`) and by its χ² uncertainty, which makes them t.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from cozcli.analysis.effect import Comparison, Pool, log_ratios, pool_terms, ratio_terms, strata_terms
from cozcli.analysis.grouping import THROUGHPUT, Bools, Floats

REPLICATES = 2000
MIN_UNITS = 6
#: 1 less the weight of a residual, squared: smaller, it is rounding.
ALL_THE_WEIGHT = 1e-12
LEVEL = 0.95
#: Ratios beyond e^±20 all say the same: nothing is known.
LARGEST_LOG = 20.0
#: A line's own residuals count fully; those of other lines as this many degrees of freedom at most.
PRIOR_FREEDOM = 6.0
#: With fewer residuals than this, none can be called extreme.
FEW_RESIDUALS = 20
#: Degrees of freedom granted to the Poisson variance, when not one residual can be computed.
POISSON_FREEDOM = 4.0


@dataclass(frozen=True)
class Variance:
    """Sum of squared residuals in units of φ (nanoseconds), and their degrees of freedom."""

    sum_of_squares: float = 0.0
    freedom: float = 0.0

    @property
    def phi(self) -> float:
        """Variance of a log period measured over one nanosecond."""
        return self.sum_of_squares / self.freedom if self.freedom else 0.0

    def __add__(self, other: Variance) -> Variance:
        return Variance(self.sum_of_squares + other.sum_of_squares, self.freedom + other.freedom)

    def __sub__(self, other: Variance) -> Variance:
        return Variance(
            max(self.sum_of_squares - other.sum_of_squares, 0.0), max(self.freedom - other.freedom, 0.0)
        )


def t_tail(t: float, freedom: float) -> float:
    """P(T > t) of Student's t, by Simpson's rule on the angle θ = atan(t/√ν), density ∝ cos^(ν−1)."""
    if not math.isfinite(t):
        return 0.0 if t > 0 else 1.0
    steps = 400
    angle = np.linspace(0.0, math.atan(abs(t) / math.sqrt(freedom)), steps + 1)
    weights = np.ones(steps + 1)
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    area = float(weights @ np.cos(angle) ** (freedom - 1.0)) * float(angle[1]) / 3.0
    half = math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2)) * math.sqrt(math.pi) / 2
    upper = max(0.5 * (1.0 - area / half), 0.0)
    return upper if t >= 0 else 1.0 - upper


@lru_cache(maxsize=4096)
def t_quantile(probability: float, freedom: float) -> float:
    """The t with P(T ≤ t) = probability (above ½), by bisection."""
    low, high = 0.0, 2.0
    while t_tail(high, freedom) > 1 - probability and high < 1e6:
        low, high = high, 2 * high
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, freedom) > 1 - probability else (low, middle)
    return high


def small_sample_factor(units: float) -> float:
    """How much too narrow a percentile interval from `units` blocks is.

    Drawing k blocks from k understates their variance by (k − 1)/k, and its percentiles are those of
    the normal distribution instead of t with k − 1 degrees of freedom (Hesterberg 2015, §4.1).
    """
    normal = 1.959964
    return math.sqrt(units / (units - 1)) * t_quantile(0.5 + LEVEL / 2, units - 1) / normal


def residual_variance(comparison: Comparison) -> Variance:
    """How much log ratios of blocks, and log periods of pooled windows, scatter about their mean.

    The variance of a log period over time t is taken as φ/t, so that a block's log ratio has
    φ·u with u = 1/t_s + 1/t_0. Half a visit is added on each side, so that none are zero.
    """
    logs, watched = _block_logs(comparison)
    t = comparison.time
    with np.errstate(divide="ignore"):
        precision = np.where(watched, 1.0 / (1.0 / t[:, 1:] + 1.0 / t[:, :1]), 0.0)
    samples = [(logs[:, s], precision[:, s]) for s in range(logs.shape[1])]
    for pool in comparison.pools:
        values, seen = _logs(comparison.series.kind, pool)
        samples.append((values, np.where(seen, pool.time, 0.0)))
    squares, freedom = zip(*(_scatter(*sample) for sample in samples), strict=True)
    total = Variance(_winsorized_sum(np.concatenate(squares)), sum(freedom))
    shared = _independent_part(precision, t[:, 0])
    known = (shared * sum(freedom[: logs.shape[1]]) + sum(freedom[logs.shape[1] :])) / max(
        total.freedom, 1e-9
    )
    return Variance(total.sum_of_squares * known, total.freedom * known)


def _independent_part(precision: Floats, baseline: Floats) -> float:
    """How many independent residuals there are to one, where those of a block share its baseline.

    A sum of correlated squares varies like one of fewer: (tr R)² / tr R² of them (Satterthwaite 1946), R
    being their correlations, √(p_i·p_j)/t_0 between two speedups of a block.

    Args:
        precision: 1/u of each block and speedup, 0 where unused, (K, S). baseline: its time t_0, (K,).
    """
    number = np.count_nonzero(precision, axis=1).sum()
    if number == 0:
        return 1.0
    pairs = precision.sum(axis=1) ** 2 - (precision**2).sum(axis=1)
    squares = np.where(baseline > 0, pairs / np.where(baseline > 0, baseline, 1.0) ** 2, 0.0)
    return float(number / (number + squares.sum()))


def _scatter(values: Floats, precision: Floats) -> tuple[Floats, float]:
    """Squared residuals in units of φ, and their degrees of freedom; entries without precision are unused.

    A mean with weights p has the variance Σp²σ²/(Σp)² however the σ² differ (White 1980), which stands for
    φ/Σp here; E[r²] = σ²(1 − 2h + Σh²) with h = p/Σp, were they equal. Σp·r² instead would let discounted
    windows, which add little to it, count as degrees of freedom: where slow windows are as good as others,
    φ came out at half its size. There are as many residuals as Kish's effective number.
    """
    if np.count_nonzero(precision) < 2:
        return np.zeros(0), 0.0
    total = float(precision.sum())
    h = precision / total
    freedom = 1.0 / float(h @ h) - 1.0
    residuals = values - float(h @ values)
    spread = 1.0 - 2.0 * h + float(h @ h)
    # One that has all the weight is the mean, and tells nothing of the scatter.
    used = (precision > 0) & (spread > ALL_THE_WEIGHT)
    return (freedom * precision * h * residuals**2)[used] / spread[used], freedom


def _winsorized_sum(squares: Floats) -> float:
    """Sum of squared residuals, the largest 5 % cut to the next: one freak window widens only itself.

    The factor makes the sum right for normal residuals: E[min(z², 1.96²)] = 0.913.
    """
    if len(squares) < FEW_RESIDUALS:
        return float(squares.sum())
    return float(np.minimum(squares, np.quantile(squares, 0.95)).sum()) / 0.913


def shrink(own: Variance, others: Variance, comparison: Comparison) -> Variance:
    """A series' φ: its own residuals, helped by those of other lines at the same point.

    With no residual anywhere, visits are taken to be independent (Poisson): φ = one period.
    """
    freedom = min(others.freedom, PRIOR_FREEDOM)
    joined = own + Variance(others.phi * freedom, freedom)
    if joined.freedom > 0:
        return joined
    c = comparison
    visits = c.series.denominator.sum()
    period = float(c.series.time.sum()) / max(float(visits), 1.0)
    return Variance(period * POISSON_FREEDOM, POISSON_FREEDOM)


def model_covariance(comparison: Comparison) -> Floats:
    """Covariance of the S log ratios in units of φ, (S, S).

    Each log ratio is a mean over strata with weights 1/u; speedups that share a block share the
    noise of its baseline.
    """
    t = np.vstack([comparison.time, [float(pool.time.sum()) for pool in comparison.pools]])
    pooled = (t[-1, 1:] > 0) & (t[-1, 0] > 0)
    paired = np.vstack([comparison.paired, pooled])
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(t > 0, 1.0 / t, 0.0)
        share = np.where(paired, 1.0 / (inverse[:, 1:] + inverse[:, :1]), 0.0)
    total = share.sum(axis=0)
    share = share / np.where(total > 0, total, 1.0)
    own = np.diag((share**2 * inverse[:, 1:]).sum(axis=0))
    return np.asarray(own + share.T @ (share * inverse[:, :1]), dtype=np.float64)


def draw_replicates(comparison: Comparison, variance: Variance) -> tuple[Floats, Floats]:
    """Replicates of the S log ratios.

    Returns:
        Replicates (REPLICATES, S), and the degrees of freedom behind each column (S,). The seed is a
        function of the series' names only, so a filter never changes a number.
    """
    series = comparison.series
    name = f"{series.location}\0{series.point}\0{series.kind}".encode(errors="replace")
    rng = np.random.default_rng(zlib.crc32(name))
    estimate = log_ratios(comparison)
    units = comparison.units
    if units.min() >= MIN_UNITS:
        replicates = _bootstrap(comparison, rng)
        effective = effective_units(comparison)
        factor = np.array([small_sample_factor(k) for k in effective], dtype=np.float64)
        spread = np.where(np.isfinite(replicates), replicates, estimate) - estimate
        return _bounded(estimate + spread * factor), effective - 1
    covariance = model_covariance(comparison) * variance.phi
    normal = rng.standard_normal((REPLICATES, len(estimate)))
    chi = rng.chisquare(variance.freedom, (REPLICATES, 1)) / variance.freedom
    noise: Floats = normal @ _square_root(covariance).T / np.sqrt(chi)
    return _bounded(estimate + noise), np.full(len(estimate), variance.freedom)


def percentile_interval(replicates: Floats) -> tuple[Floats, Floats]:
    """The 95 % percentile interval of each column."""
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(replicates, [tail, 100 - tail], axis=0)
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)


def effective_units(comparison: Comparison) -> Floats:
    """How many equally heavy comparisons each speedup rests on, (S,): (Σq)² / Σq² (Kish 1965), at least 2.

    Blocks measured on a slow machine weigh less; where a few weigh most, there are only those few.
    """
    _, weights = strata_terms(comparison)
    squares = (weights**2).sum(axis=0)
    kish = np.where(squares > 0, weights.sum(axis=0) ** 2 / np.where(squares > 0, squares, 1.0), 0.0)
    pooled = [min(pool.size, comparison.pools[0].size) for pool in comparison.pools[1:]]
    return np.asarray(np.clip(kish + pooled, 2.0, comparison.units), dtype=np.float64)


def _bootstrap(comparison: Comparison, rng: np.random.Generator) -> Floats:
    blocks = len(comparison.paired)
    a, c = strata_terms(comparison)
    if blocks:
        drawn = rng.multinomial(blocks, np.full(blocks, 1 / blocks), size=REPLICATES)
        a, c = drawn @ a, drawn @ c
    else:
        a, c = np.zeros((REPLICATES, a.shape[1])), np.zeros((REPLICATES, a.shape[1]))
    if any(p > 0 for p in pool_terms(comparison)[1]):
        baseline, *faster = (_redraw(pool, rng) for pool in comparison.pools)
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
    return drawn @ pool.numerator, drawn @ pool.denominator, drawn @ pool.weight


def _block_logs(comparison: Comparison) -> tuple[Floats, Bools]:
    values, seen = _logs(comparison.series.kind, comparison)
    watched = comparison.paired & seen[:, 1:] & seen[:, :1]
    return np.where(watched, values[:, 1:] - values[:, :1], 0.0), watched


def _logs(kind: str, of: Comparison | Pool) -> tuple[Floats, Bools]:
    """Log of numerator / denominator, and where it can be used. Half a visit counts as visits do."""
    numerator, denominator = of.numerator, of.denominator
    if kind == THROUGHPUT:
        seen = numerator > 0
        denominator = denominator + 0.5 * of.discount
    else:
        seen = (numerator > 0) & (denominator > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(seen, np.log(numerator / denominator), 0.0)
    return np.asarray(logs, dtype=np.float64), np.asarray(seen)


def _square_root(covariance: Floats) -> Floats:
    """The Cholesky factor: unlike eigenvectors it is the same whichever library computes it."""
    scale = float(np.trace(covariance))
    if scale == 0:  # windows without any scatter, as in made-up profiles
        return np.zeros_like(covariance)
    ridge = 1e-12 * scale * np.eye(len(covariance))
    return np.asarray(np.linalg.cholesky(covariance + ridge), dtype=np.float64)


def _bounded(log_replicates: Floats) -> Floats:
    """Keep the tails of t with hardly a degree of freedom within what a float can exponentiate."""
    return np.asarray(np.clip(log_replicates, -LARGEST_LOG, LARGEST_LOG), dtype=np.float64)


def widening(number: int) -> float:
    """By what a half interval grows when `number` of them shall hold together (Bonferroni)."""
    tail = (1 - LEVEL) / 2
    normal = NormalDist()
    return normal.inv_cdf(1 - tail / max(number, 1)) / normal.inv_cdf(1 - tail)
