"""How much log periods scatter, from residuals within blocks.

The variance of a log period measured over time t is taken as φ/t, so that a block's log ratio has variance
φ·u with u = 1/t_s + 1/t_0. One φ (nanoseconds) is estimated for each series, helped by other lines'
residuals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cozcli.analysis.estimate.block_table import BlockTable, Pool
from cozcli.analysis.result import THROUGHPUT
from cozcli.analysis.statistics.arrays import Bools, Floats

#: If 1 − 2h + Σh² (see `_scatter`) is below this, the residual is rounding.
MIN_SPREAD = 1e-12
#: A line's own residuals count fully; those of other lines as this many degrees of freedom at most.
PRIOR_FREEDOM = 6.0
#: With fewer residuals than this, none can be called extreme.
MIN_RESIDUALS = 20
#: Degrees of freedom granted to the Poisson variance, if not one residual can be computed.
POISSON_FREEDOM = 4.0
#: E[min(z², 1.96²)] of a standard normal z.
WINSORIZED_MEAN = 0.913


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


def residual_variance(table: BlockTable) -> Variance:
    """How much log ratios of blocks, and log periods of pooled windows, scatter about their mean.

    Half a visit is added on each side, so that none are zero.
    """
    logs, watched = _block_logs(table)
    t = table.time
    with np.errstate(divide="ignore"):
        precision = np.where(watched, 1.0 / (1.0 / t[:, 1:] + 1.0 / t[:, :1]), 0.0)
    samples = [(logs[:, s], precision[:, s]) for s in range(logs.shape[1])]
    for pool in table.pools:
        values, seen = _logs(table.series.kind, pool)
        samples.append((values, np.where(seen, pool.time, 0.0)))
    squares, freedom = zip(*(_scatter(*sample) for sample in samples), strict=True)
    total = Variance(_winsorized_sum(np.concatenate(squares)), sum(freedom))
    shared = _independent_part(precision, t[:, 0])
    known = (shared * sum(freedom[: logs.shape[1]]) + sum(freedom[logs.shape[1] :])) / max(
        total.freedom, 1e-9
    )
    return Variance(total.sum_of_squares * known, total.freedom * known)


def _independent_part(precision: Floats, baseline: Floats) -> float:
    """The share of residuals that are independent, since those of a block share its baseline.

    A sum of correlated squares varies like one of (tr R)² / tr R² independent squares (Satterthwaite 1946).
    R holds their correlations, √(p_i·p_j)/t_0 between two speedups of a block.

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
    φ/Σp here. If they are equal, E[r²] = σ²(1 − 2h + Σh²) with h = p/Σp. The plain sum Σp·r² would let
    windows of little weight, which add little to it, count as full degrees of freedom: where slow windows are
    as good as others, φ came out at half its size. The number of residuals is Kish's effective number.
    """
    if np.count_nonzero(precision) < 2:
        return np.zeros(0), 0.0
    total = float(precision.sum())
    h = precision / total
    freedom = 1.0 / float(h @ h) - 1.0
    residuals = values - float(h @ values)
    spread = 1.0 - 2.0 * h + float(h @ h)
    # A value with all the weight is the mean, and says nothing of the scatter.
    used = (precision > 0) & (spread > MIN_SPREAD)
    return (freedom * precision * h * residuals**2)[used] / spread[used], freedom


def _winsorized_sum(squares: Floats) -> float:
    """Sum of squared residuals, the largest 5 % cut to the next, so that one extreme window widens no others.

    The factor makes the sum right for normal residuals.
    """
    if len(squares) < MIN_RESIDUALS:
        return float(squares.sum())
    return float(np.minimum(squares, np.quantile(squares, 0.95)).sum()) / WINSORIZED_MEAN


def shrink(own: Variance, others: Variance, table: BlockTable) -> Variance:
    """A series' φ: its own residuals, helped by those of other lines at the same point.

    Without a residual anywhere, visits are taken to be independent (Poisson): φ = one period.
    """
    freedom = min(others.freedom, PRIOR_FREEDOM)
    joined = own + Variance(others.phi * freedom, freedom)
    if joined.freedom > 0:
        return joined
    visits = float(table.series.denominator.sum())
    period = float(table.series.time.sum()) / max(visits, 1.0)
    return Variance(period * POISSON_FREEDOM, POISSON_FREEDOM)


def model_covariance(table: BlockTable) -> Floats:
    """Covariance of the S log ratios in units of φ, (S, S).

    Each log ratio is a mean over strata with weights 1/u; speedups that share a block share the
    noise of its baseline.
    """
    t = np.vstack([table.time, [float(pool.time.sum()) for pool in table.pools]])
    pooled = (t[-1, 1:] > 0) & (t[-1, 0] > 0)
    paired = np.vstack([table.paired, pooled])
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(t > 0, 1.0 / t, 0.0)
        share = np.where(paired, 1.0 / (inverse[:, 1:] + inverse[:, :1]), 0.0)
    total = share.sum(axis=0)
    share = share / np.where(total > 0, total, 1.0)
    own = np.diag((share**2 * inverse[:, 1:]).sum(axis=0))
    return np.asarray(own + share.T @ (share * inverse[:, :1]), dtype=np.float64)


def _block_logs(table: BlockTable) -> tuple[Floats, Bools]:
    values, seen = _logs(table.series.kind, table)
    watched = table.paired & seen[:, 1:] & seen[:, :1]
    return np.where(watched, values[:, 1:] - values[:, :1], 0.0), watched


def _logs(kind: str, of: BlockTable | Pool) -> tuple[Floats, Bools]:
    """Log of numerator / denominator, and where it is known. The half visit is weighted as the window is."""
    numerator, denominator = of.numerator, of.denominator
    if kind == THROUGHPUT:
        seen = numerator > 0
        denominator = denominator + 0.5 * of.weight
    else:
        seen = (numerator > 0) & (denominator > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(seen, np.log(numerator / denominator), 0.0)
    return np.asarray(logs, dtype=np.float64), np.asarray(seen)
