"""A linear mixed model: y = X·θ + block + noise, with a normal prior for each coefficient.

Coefficients come in groups whose variance is estimated from the data (empirical Bayes: that variance makes
them most likely), and so are the variances of blocks and noise. One step solves the model for the variances
that it is given, and returns better ones (MacKay 1992); steps are repeated until nothing changes. In between,
callers may change y, X and the weights, as for a model that is not linear.

With d the prior variance of a coefficient u, C its posterior variance, and γ = 1 − C/d how much of it the
data determine, the likelihood of a group's variance is greatest where Σu²/d² = Σγ/d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from cozcli.analysis.statistics.arrays import Floats, Ints

#: No variance is below this part of 1; y is a logarithm.
MIN_VARIANCE = 1e-10
#: Blocks that scatter by less than this part of the noise of a window might as well not scatter.
NEGLIGIBLE = 1e-3
#: A variance changes by at most this factor in a step.
MAX_STEP = 20.0


@dataclass(frozen=True)
class Group:
    """Coefficients `columns` with prior variances `variance` + `known`, mean 0.

    known: one for each column. expected, strength: what the variance is taken to be before anything is
    measured, as if so many coefficients had shown it; strength 0: it is fixed. most: it is not above.
    """

    columns: slice
    variance: float
    known: Floats
    expected: float = 0.0
    strength: float = 0.0
    most: float = math.inf

    @property
    def prior(self) -> Floats:
        """Prior variance of each coefficient."""
        return self.variance + self.known


@dataclass(frozen=True)
class Variances:
    """Of the noise of a row of weight 1, of blocks, and of the groups."""

    noise: float
    block: float
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Posterior:
    """Coefficients with their covariance, (P,) and (P, P); effects of the blocks; degrees of freedom of
    noise; the logarithm of the marginal likelihood, but for a constant.
    """

    mean: Floats
    covariance: Floats
    block: Floats
    variances: Variances
    freedom: float
    log_likelihood: float


def solve(y: Floats, x: Floats, weight: Floats, block: Ints, given: Variances) -> tuple[Posterior, Variances]:
    """One step.

    Args:
        y, weight: (N,). x: (N, P). block: (N,), numbered from 0 without gaps. given: all variances.

    Returns:
        The posterior under `given`, and the variances for the next step.
    """
    prior = np.concatenate([group.prior for group in given.groups])
    weighted = weight[:, None] * x
    of_block = np.bincount(block, weight)
    sums = sum_by_block(weighted, block, len(of_block))
    # Blocks have a prior, too, and are eliminated first: there may be hundreds.
    shrunk = 1.0 / (of_block + given.noise / given.block)
    sum_y = np.bincount(block, weight * y, len(of_block))
    information = (weighted.T @ x - sums.T @ (shrunk[:, None] * sums)) / given.noise
    right = (weighted.T @ y - sums.T @ (shrunk * sum_y)) / given.noise
    covariance, log_determinant = _inverse(information, prior)
    mean = covariance @ right
    effect = shrunk * (sum_y - sums @ mean)
    spread = shrunk[:, None] * sums
    of_effect = given.noise * shrunk + ((spread @ covariance) * spread).sum(axis=1)

    left = y - x @ mean - effect[block]
    determined = 1 - np.diag(covariance) / prior
    in_blocks = 1 - of_effect / given.block
    freedom = max(len(y) - float(determined.sum()) - float(in_blocks.sum()), 1.0)
    better = Variances(
        noise=max(float(weight @ left**2) / freedom, MIN_VARIANCE),
        block=_next(given.block, effect**2, in_blocks, np.full(len(effect), given.block)),
        groups=tuple(_next_group(group, mean, determined) for group in given.groups),
    )
    log_determinant += float(np.log1p(of_block * given.block / given.noise).sum())
    log_determinant += float(np.log(given.noise / weight).sum())
    log_likelihood = -(log_determinant + float(weight * y @ left) / given.noise) / 2
    return Posterior(mean, covariance, effect, given, freedom, log_likelihood), better


def sum_by_block(values: Floats, block: Ints, blocks: int) -> Floats:
    """Sums of rows, (N, K), by block, which is numbered from 0 without gaps: (blocks, K)."""
    order = np.argsort(block, kind="stable")
    starts = np.searchsorted(block[order], np.arange(blocks))
    return np.asarray(np.add.reduceat(values[order], starts, axis=0))


def _inverse(information: Floats, prior: Floats) -> tuple[Floats, float]:
    """The inverse of information + 1/prior, and the logarithm of the determinant of 1 + prior·information.

    Scaled by the priors: a variance near 0 does no harm.
    """
    scale = np.sqrt(prior)
    scaled = scale[:, None] * information * scale + np.eye(len(prior))
    inverse = np.asarray(scale[:, None] * np.linalg.inv(scaled) * scale)
    return inverse, float(np.linalg.slogdet(scaled)[1])


def _next_group(group: Group, mean: Floats, determined: Floats) -> Group:
    if group.strength == 0:
        return group
    found = mean[group.columns] ** 2, determined[group.columns], group.prior
    variance = _next(group.variance, *found, group.expected, group.strength)
    return replace(group, variance=min(variance, group.most))


def _next(
    variance: float,
    squares: Floats,
    determined: Floats,
    prior: Floats,
    expected: float = 0.0,
    strength: float = 0.0,
) -> float:
    wanted = float((squares / prior**2).sum()) + strength * expected / variance**2
    have = float((np.maximum(determined, 0.0) / prior).sum()) + strength / variance
    ratio = min(max(wanted / max(have, 1e-300), 1 / MAX_STEP), MAX_STEP)
    return max(variance * ratio, MIN_VARIANCE)


def settled(before: Variances, after: Variances, tolerance: float) -> bool:
    """Do all variances agree to within a relative `tolerance`? That of blocks may go on falling to
    nothing.
    """
    pairs = [(before.noise, after.noise)]
    pairs += [(a.variance, b.variance) for a, b in zip(before.groups, after.groups, strict=True)]
    nothing = NEGLIGIBLE * after.noise
    pairs.append((max(before.block, nothing), max(after.block, nothing)))
    return all(abs(a - b) <= tolerance * max(a, b) for a, b in pairs)
