"""The effects of all targets on one progress point, from all windows together.

Time adds up along the critical path, so a window with main target m at speedup s, and companions j at s_j,
has

    p = B · (1 − g_m·s − h_m(s) − Σ g_j·s_j − κ·z) · noise,       B = the period of its block without
    speedups.

g_j: what target j saves for each unit of speedup: a_j·(c + u_j), with a_j its share of the time, c what a
share saves on average (1 in a program of one thread), and u_j by how much this target differs, normal with a
variance that is estimated. So a target that runs in 0.4 % of the time cannot save 15 %, and if nothing is
known of it, its interval says so. A target may also do harm: u_j below −c is possible, but rare.

h_j: how its curve differs from a straight line: an integrated random walk of scale a_j, which is 0 with its
slope at s = 0; its variance is estimated, too.

Where the curve of m becomes flat, something else sets the pace, and companions beside m save less: by the
part ½ + ψ_m of how much less steep the curve is there. (Companions of the thread that m runs in save nothing
then; those of the other thread may save more.)

Pairs of targets m and j that may help only together have a term q·min(a_m, a_j)·min(s_m, s_j) more: exact for
two balanced threads that wait for each other (combined_pairs.py).

z: delay that companions got by chance in their samples, beyond what their speedups call for. The speedups
that were assigned, not those that samples made of them, are the covariates: they are random, and so
independent of whatever else happens in a window, while samples are not. One coefficient κ takes out most of
the chance (docs/decisions/combined_windows.md).

Of a latency, all of that is saved of the time of an operation by itself; how much shorter its queue makes it
is one more number, η (queue_link.py). Windows hardly tell it, so that effects are means over several η, each
weighted by how likely it makes the windows, and their errors include how those differ.

The logarithm of p is fitted: linearised where it stands (Gauss and Newton), by one step of the mixed model
(statistics/mixed_model.py) after another. Windows far off count less (Huber 1964).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cozcli.analysis.estimate.combined_design import (
    BENDS,
    FIXED,
    VARIANCE_LOSS,
    CombinedDesign,
    Pair,
    at_speedups,
    bend_kernel,
)
from cozcli.analysis.estimate.combined_rows import CombinedRows
from cozcli.analysis.estimate.queue_link import QueueLink
from cozcli.analysis.result import THROUGHPUT
from cozcli.analysis.statistics.arrays import Floats
from cozcli.analysis.statistics.mixed_model import Group, Posterior, Variances, settled, solve

#: The prior of c, which is between 0 and 1 but for latencies, and of κ, of mean 0.
MEAN_C, VARIANCE_C, VARIANCE_OF_LATENCIES, VARIANCE_KAPPA = 0.5, 0.5**2, 4.0, 0.5**2
#: Expected standard deviation of u, and of the random walk; each as if seen in so many targets.
EXPECTED_U, EXPECTED_BEND, STRENGTH = 0.25, 0.4, 2.0
#: What two targets save together beyond the sum of each alone, in parts of the smaller share.
VARIANCE_PAIR = 0.5**2
#: Variances above this are not of targets that save a part of their share.
MOST_VARIANCE = 1.0
#: Where less or more than these parts of the time is left, it is treated as if these were.
LEAST, MOST = 0.1, 20.0
#: Behind a queue, a latency may become a hundredth.
LEAST_LATENCY = 0.005
#: The η that are tried for latencies, and the prior of log(1 + η): normal, with this standard deviation.
ETAS, PRIOR_ETA = (0.0, 1.0, 3.0, 8.0), 1.0
#: An η that makes the windows less likely than the best one by this factor is left out.
MIN_LIKELIHOOD = 1e-3
#: Below this part of the period, windows are not more exact in absolute terms.
FULL_WEIGHT = 0.5
#: Residuals beyond so many standard deviations count less.
FAR = 2.5
MAX_STEPS, TOLERANCE = 40, 0.02
#: Windows with a partner are taken to scatter as others do, as if so many had shown it.
EXCESS_STRENGTH = 4.0
#: How many coefficients such windows determine, about.
COEFFICIENTS_OF_PARTNERS = 2
#: Variance of noise before anything is known, and of blocks.
START = 0.03**2


@dataclass(frozen=True)
class CombinedFit:
    """The model with its coefficients, in the order of `CombinedDesign`.

    left: the part of the time that is left in each window, (N,); p/B is `link.relative(left)`. weight: how
    much each counts in the end, residual: of its log period. others: fits with another link, each with its
    likelihood against this one's, at most 1.
    """

    rows: CombinedRows
    design: CombinedDesign
    posterior: Posterior
    link: QueueLink
    left: Floats
    weight: Floats
    residual: Floats
    others: tuple[tuple[float, CombinedFit], ...] = ()

    @property
    def share(self) -> Floats:
        """a of each target, (J,)."""
        return self.design.share

    @property
    def mean_saving(self) -> float:
        """The c of the model."""
        return float(self.posterior.mean[1])

    @property
    def prior_u(self) -> Floats:
        """Prior variance of each u, (J,)."""
        return self.posterior.variances.groups[1].prior

    @property
    def prior_bend(self) -> float:
        """Variance of the random walk of a target of share 1."""
        return self.posterior.variances.groups[2].variance

    @property
    def prior_pair(self) -> Floats:
        """Prior variance of each pair's q."""
        return self.posterior.variances.groups[4].prior

    def may_bend(self, target: int) -> bool:
        """Do windows tell of this target's bends?"""
        return target in self.design.bending

    @property
    def links(self) -> list[tuple[float, CombinedFit]]:
        """All fits that count, each with its weight; the sum is 1."""
        fits = [(1.0, self), *self.others]
        total = sum(likelihood for likelihood, _ in fits)
        return [(likelihood / total, fit) for likelihood, fit in fits]

    def effects(self, target: int, speedups: Floats, around: Floats) -> tuple[Floats, Floats]:
        """A target's effects at S speedups, (S,), and their covariance, (S, S): means over all links.

        around: standard deviation of what it saves, beyond what the windows tell; (S,).
        """
        found = [(weight, *fit._effects_by_link(target, speedups, around)) for weight, fit in self.links]
        value = np.asarray(sum(weight * each for weight, each, _ in found))
        spread = [
            weight * (covariance + np.outer(each - value, each - value)) for weight, each, covariance in found
        ]
        return value, np.asarray(sum(spread))

    def saved(self, target: int, speedups: Floats) -> Floats:
        """What part of the time a target saves at S speedups, (S,)."""
        operator, columns = self._saving(target, speedups)
        return np.asarray(operator @ self.posterior.mean[columns])

    def _effects_by_link(self, target: int, speedups: Floats, around: Floats) -> tuple[Floats, Floats]:
        operator, columns = self._saving(target, speedups)
        covariance = operator @ self.posterior.covariance[np.ix_(columns, columns)] @ operator.T
        covariance += np.outer(around, around)
        if not self.may_bend(target):
            covariance += self.share[target] ** 2 * self.prior_bend * bend_kernel(speedups, speedups)
        left = 1 - operator @ self.posterior.mean[columns]
        slope = self.link.slope(left)
        return 1 - self.link.relative(left), covariance * np.outer(slope, slope)

    def _saving(self, target: int, speedups: Floats) -> tuple[Floats, list[int]]:
        """What the coefficients of some columns count in what a target saves."""
        columns = [1, FIXED + target]
        operator = np.repeat(speedups[:, None], 2, axis=1)
        if self.may_bend(target):
            bends = self.design.bends_of(target)
            columns += range(bends.start, bends.stop)
            operator = np.hstack([operator, at_speedups(self.design.components, speedups)])
        return self.share[target] * operator, columns


def fit_combined(rows: CombinedRows, kind: str = THROUGHPUT, pairs: Sequence[Pair] = ()) -> CombinedFit:
    """Fit all windows of one progress point of this kind; `pairs` may help, or not, only together."""
    if kind == THROUGHPUT:
        return fit_with_link(rows, kind, pairs, QueueLink())
    fits: list[CombinedFit] = []
    logarithms: list[float] = []
    for eta in ETAS:  # each begins where the last one ended, which takes half of the time
        fits.append(fit_with_link(rows, kind, pairs, QueueLink(eta), fits[-1] if fits else None))
        prior = -((math.log1p(eta) / PRIOR_ETA) ** 2) / 2
        logarithms.append(fits[-1].posterior.log_likelihood + prior)
        if logarithms[-1] < max(logarithms) + math.log(MIN_LIKELIHOOD):
            break
    best = int(np.argmax(logarithms))
    likelihood = np.exp(np.array(logarithms) - logarithms[best])
    others = [i for i in range(len(fits)) if i != best and likelihood[i] >= MIN_LIKELIHOOD]
    return replace(fits[best], others=tuple((float(likelihood[i]), fits[i]) for i in others))


def fit_with_link(
    rows: CombinedRows,
    kind: str,
    pairs: Sequence[Pair],
    link: QueueLink,
    near: CombinedFit | None = None,
) -> CombinedFit:
    """The same with one link. near: a fit of the same terms from which to begin."""
    design = CombinedDesign(rows, pairs, 1 + link.eta)
    variances = _start(design, kind, link)
    mean_c = MEAN_C / (1 + link.eta)
    least = LEAST if kind == THROUGHPUT else LEAST_LATENCY
    left, known, far, excess = np.ones(len(rows)), rows.weight, np.ones(1), np.ones(1)
    if near is not None:
        left = link.left(near.link.relative(near.left))
        known = rows.weight * _exactness(link, left)
        design.update(near.posterior.mean, link.relative(left))
        variances = _near(variances, near, link)
    for _ in range(MAX_STEPS):
        weight = known * far / excess
        # log(p/B) as a function of 1 + X·θ, linearised at the last θ.
        steepness = link.log_slope(left)
        response = rows.log_period - np.log(link.relative(left)) + steepness * (left - 1)
        x = design.matrix * steepness[:, None]
        x[:, 0] = 1.0
        posterior, better = solve(response - mean_c * x[:, 1], x, weight, rows.block, variances)
        posterior.mean[1] += mean_c
        is_settled = settled(variances, better, TOLERANCE)
        residual = response - x @ posterior.mean - posterior.block[rows.block]
        excess = _excess(rows, residual, known * far, better.noise)
        far = _nearness(residual, known / excess, better.noise)
        now = np.clip(1 + design.matrix[:, 1:] @ posterior.mean[1:], least, MOST)
        is_settled &= bool(np.abs(np.log(now / left)).max() < TOLERANCE)
        if is_settled:
            break
        left, variances = now, better
        design.update(posterior.mean, link.relative(left))
        known = rows.weight * _exactness(link, left)
    return CombinedFit(rows, design, posterior, link, left, weight, residual)


def _near(start: Variances, fit: CombinedFit, link: QueueLink) -> Variances:
    """What is estimated of variances, as a fit with another link has found it."""
    found, scale = fit.posterior.variances, ((1 + fit.link.eta) / (1 + link.eta)) ** 2
    groups = tuple(
        replace(group, variance=known.variance * scale) if group.strength > 0 else group
        for group, known in zip(start.groups, found.groups, strict=True)
    )
    return Variances(found.noise, start.block, groups)


def _exactness(link: QueueLink, left: Floats) -> Floats:
    """How much a window counts for its period, (N,): much shorter than a baseline, it is no more exact."""
    return np.asarray(np.minimum(link.relative(left) / FULL_WEIGHT, 1.0) ** 2)


def _start(design: CombinedDesign, kind: str, link: QueueLink) -> Variances:
    # Of a throughput point, a target saves about as much as its share, or nothing.
    variance_c, most, pair = VARIANCE_C, MOST_VARIANCE, VARIANCE_PAIR
    if kind != THROUGHPUT:
        variance_c, most, pair = VARIANCE_OF_LATENCIES, math.inf, VARIANCE_OF_LATENCIES
    # Priors are of small effects, which are 1 + η times what is saved: with priors of savings, each η would
    # have another one, and that would decide between them.
    scale = (1 + link.eta) ** 2
    of_shares = np.array([target.share_variance for target in design.rows.targets])
    bends, losses = BENDS * len(design.bending), len(design.bending)
    u, bend = EXPECTED_U**2 / scale, EXPECTED_BEND**2 / scale
    return Variances(
        START,
        START,
        (
            Group(slice(0, FIXED), 0.0, np.array([1e4, variance_c / scale, VARIANCE_KAPPA / scale])),
            Group(slice(FIXED, design.first_bend), u, of_shares / scale, u, STRENGTH, most),
            Group(slice(design.first_bend, design.first_loss), bend, np.zeros(bends), bend, STRENGTH, most),
            Group(slice(design.first_loss, design.first_pair), VARIANCE_LOSS, np.zeros(losses)),
            Group(
                slice(design.first_pair, design.matrix.shape[1]), pair / scale, np.zeros(len(design.pairs))
            ),
        ),
    )


def _excess(rows: CombinedRows, left: Floats, weight: Floats, noise: float) -> Floats:
    """By what factor the variance of each window is larger than it was taken to be, (N,).

    Where a partner is sped up, alone or with the main target, chance in the samples of large targets comes on
    top of the noise of other windows.
    """
    excess = np.ones(len(rows))
    has_partner, is_main_faster = rows.partner.any(axis=1), rows.main_speedup > 0
    for own in (has_partner & is_main_faster, has_partner & ~is_main_faster):
        found = float(weight[own] @ left[own] ** 2) / noise
        freedom = max(int(np.count_nonzero(own)) - COEFFICIENTS_OF_PARTNERS, 0)
        excess[own] = max((EXCESS_STRENGTH + found) / (EXCESS_STRENGTH + freedom), 1.0)
    return excess


def _nearness(left: Floats, weight: Floats, noise: float) -> Floats:
    """How much windows count for how far off they are, (N,)."""
    size = np.abs(left) * np.sqrt(weight / noise)
    return np.asarray(np.minimum(1.0, FAR / np.maximum(size, 1e-12)))
