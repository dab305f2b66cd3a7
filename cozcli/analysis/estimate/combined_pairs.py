"""Pairs of targets that save more, or less, together than each alone: the second bottleneck.

Two threads that wait for each other and need about as long are an example: to speed up either saves nothing,
to speed up both saves all. A pair that was sped up together by much, main target and partner, always has a
term in the model (combined_fit.py), so that the effects of both are those of each alone. Of all other pairs,
two companions or a companion and a main target, the residuals are asked (a score test). There are thousands,
so a pair is tested only if its windows could show it: the largest effect that its shares allow has to be
`MIN_POWER` standard errors. That depends on what was sped up, not on what came of it, and so costs nothing of
the false discovery rate (Bourgon, Gentleman and Huber 2010). Large main effects are not required: balanced
threads have none. What passes gets a term, one after another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cozcli.analysis.estimate.combined_design import Pair
from cozcli.analysis.estimate.combined_fit import CombinedFit, fit_combined, fit_with_link
from cozcli.analysis.estimate.combined_rows import CombinedRows
from cozcli.analysis.estimate.combined_target import environment
from cozcli.analysis.input.series import Factor
from cozcli.analysis.result import THROUGHPUT
from cozcli.analysis.statistics.arrays import Floats
from cozcli.analysis.statistics.distributions import LEVEL, t_quantile, t_tail
from cozcli.analysis.statistics.false_discovery import discoveries
from cozcli.analysis.statistics.mixed_model import sum_by_block

#: The speedup of both that effects of pairs are about. Few lines can be made to take no time, and partners
#: are sped up by as much.
PAIR_SPEEDUP = 0.5
#: The part of the pairs reported that may be none.
MAX_FALSE_PAIRS = 0.05
MIN_POWER = 4.0
#: Windows with both targets sped up without which nothing is said of a pair.
MIN_TOGETHER = 4
#: So many pairs get a term besides those with a partner.
MAX_ADDED = 8
#: Candidates are tested so many at a time.
CHUNK = 512


@dataclass(frozen=True)
class PairEstimate:
    """What both targets at `PAIR_SPEEDUP` save beyond what follows from each alone, with a 95 % interval.

    windows: in which both were sped up.
    """

    pair: Pair
    effect: float
    low: float
    high: float
    windows: int


@dataclass(frozen=True)
class _Tests:
    """Of K pairs, each tested on its own: p-values that there is none, (K,)."""

    pairs: tuple[Pair, ...]
    p: Floats


def fit_with_pairs(rows: CombinedRows, kind: str) -> tuple[CombinedFit, tuple[Pair, ...]]:
    """The fit of all windows of a progress point, and the pairs for which there is evidence."""
    terms = list(_pairs_of_partners(rows))
    fit = fit_combined(rows, kind, terms)
    link = fit.link
    candidates = _candidates(fit)
    for _ in range(MAX_ADDED):
        within, others = _test_terms(fit), _test_candidates(fit, [c for c in candidates if c not in terms])
        if not others.pairs:
            break
        best = int(np.argmin(others.p))
        if not discoveries([*within.p, *others.p], MAX_FALSE_PAIRS)[len(within.pairs) + best]:
            break
        terms.append(others.pairs[best])
        fit = fit_with_link(rows, kind, terms, link)
    if kind != THROUGHPUT and fit.design.pairs != tuple(_pairs_of_partners(rows)):
        fit = fit_combined(rows, kind, terms)
    within = _test_terms(fit)
    untested = max(len(candidates) - (len(terms) - len(_pairs_of_partners(rows))), 0)
    believed = discoveries([*within.p, *[1.0] * untested], MAX_FALSE_PAIRS)
    return fit, tuple(pair for pair, is_one in zip(within.pairs, believed, strict=False) if is_one)


def estimate_pair(fit: CombinedFit, pair: Pair, kind: str, factors: Sequence[Factor] = ()) -> PairEstimate:
    """The estimate of a pair that has a term. `factors`: as in `estimate_combined`."""
    found = [(weight, *_effect_of_pair(each, pair)) for weight, each in fit.links]
    effect = sum(weight * each for weight, each, _ in found)
    variance = sum(weight * (each_variance + (each - effect) ** 2) for weight, each, each_variance in found)
    for factor in factors:
        effect, variance = effect * factor.value, variance * factor.value**2
        variance += (factor.relative_error * effect) ** 2
    half = float(t_quantile(0.5 + LEVEL / 2, _freedom(fit, pair))) * math.sqrt(variance)
    most = math.inf
    if kind == THROUGHPUT:
        most = PAIR_SPEEDUP * min(fit.rows.targets[each].bound for each in pair)
    effect, low, high = (min(max(each, -most), most) for each in (effect, effect - half, effect + half))
    return PairEstimate(pair, effect, low, high, _together(fit.rows, pair))


def _effect_of_pair(fit: CombinedFit, pair: Pair) -> tuple[float, float]:
    """By one link: what the pair's own term changes where both are sped up, and its variance."""
    column = fit.design.first_pair + fit.design.pairs.index(pair)
    unit = PAIR_SPEEDUP * fit.design.smaller_share(pair)
    alone = 1 - np.add(*(fit.saved(target, np.array([PAIR_SPEEDUP])) for target in pair))
    left = alone - unit * float(fit.posterior.mean[column])
    effect = float((fit.link.relative(alone) - fit.link.relative(left))[0])
    variance = unit**2 * float(fit.posterior.covariance[column, column])
    variance += float(environment(fit, np.array([unit]))[0]) ** 2
    return effect, variance * float(fit.link.slope(left)[0]) ** 2


def _together(rows: CombinedRows, pair: Pair) -> int:
    return int(np.count_nonzero((rows.speedups[:, pair] > 0).all(axis=1)))


def _pairs_of_partners(rows: CombinedRows) -> list[Pair]:
    """Each partner with the main target beside it, and with other partners."""
    large = rows.partner.copy()
    with_main = np.flatnonzero(rows.partner.any(axis=1) & (rows.main >= 0) & (rows.main_speedup > 0))
    large[with_main, rows.main[with_main]] = True
    targets = np.flatnonzero(large.any(axis=0))
    seen = large[:, targets].astype(np.float64)
    first, second = np.nonzero(np.triu(seen.T @ seen, 1) >= MIN_TOGETHER)
    return [(int(targets[i]), int(targets[j])) for i, j in zip(first, second, strict=True)]


def _test_terms(fit: CombinedFit) -> _Tests:
    """The pairs that have a term. The prior is taken out of the posterior again."""
    columns = np.arange(fit.design.first_pair, len(fit.posterior.mean))
    variance = np.diag(fit.posterior.covariance)[columns]
    information = np.maximum(1 / variance - 1 / fit.prior_pair, 1e-12)
    score = fit.posterior.mean[columns] / variance
    freedom = np.array([_freedom(fit, pair) for pair in fit.design.pairs])
    return _Tests(fit.design.pairs, _p_values(score, information, freedom))


def _freedom(fit: CombinedFit, pair: Pair) -> float:
    """How well the noise of a pair's windows is known; that of windows with a partner is their own."""
    own = fit.rows.partner[:, pair].any(axis=1).any()
    return (
        min(fit.posterior.freedom, max(_together(fit.rows, pair) - 2.0, 2.0))
        if own
        else fit.posterior.freedom
    )


def _p_values(score: Floats, information: Floats, freedom: float | Floats) -> Floats:
    return np.minimum(2 * t_tail(np.abs(score) / np.sqrt(information), freedom), 1.0)


def _candidates(fit: CombinedFit) -> list[Pair]:
    """Pairs without a term that their windows could show."""
    rows = fit.rows
    precision = fit.weight / fit.posterior.variances.noise * fit.link.log_slope(fit.left) ** 2
    speedups = rows.speedups
    all_targets = np.arange(len(fit.share))
    alone = precision @ (speedups / rows.part_of(all_targets, all_targets) * fit.share) ** 2
    eligible = np.flatnonzero(alone >= MIN_POWER**2)
    found: list[Pair] = []
    for place, i in enumerate(eligible):
        with_it, others = speedups[:, i] > 0, eligible[place + 1 :]
        together = np.minimum(speedups[with_it][:, [i]], speedups[with_it][:, others])
        together /= rows.part_of(np.array([i]), others, with_it)
        largest = np.minimum(fit.share[i], fit.share[others])
        is_shown = (precision[with_it] @ together**2) * largest**2 >= MIN_POWER**2
        is_shown &= np.count_nonzero(together, axis=0) >= MIN_TOGETHER
        found += [(int(i), int(j)) for j in others[is_shown]]
    return [pair for pair in found if pair not in fit.design.pairs]


def _test_candidates(fit: CombinedFit, candidates: Sequence[Pair]) -> _Tests:
    """Score tests of pairs without a term: does what the fit leaves go with both speedups?"""
    tested: list[Pair] = []
    p: list[Floats] = []
    for start in range(0, len(candidates), CHUNK):
        pairs = candidates[start : start + CHUNK]
        score, information = _score(fit, pairs)
        is_shown = information >= MIN_POWER**2
        tested += [pair for pair, shown in zip(pairs, is_shown, strict=True) if shown]
        p.append(_p_values(score[is_shown], information[is_shown], fit.posterior.freedom))
    return _Tests(tuple(tested), np.concatenate(p) if p else np.zeros(0))


def _score(fit: CombinedFit, pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
    """The score of q = 0 for each of K pairs, and its information, given all that the fit estimates."""
    rows, given, weight = fit.rows, fit.posterior.variances, fit.weight
    speedups, index = rows.speedups, np.array(pairs).T
    smaller = np.minimum(fit.share[index[0]], fit.share[index[1]])
    steepness = fit.link.log_slope(fit.left)[:, None]
    together = np.minimum(speedups[:, index[0]], speedups[:, index[1]]) / rows.part_of(*index)
    z = -smaller * together * steepness
    x = fit.design.matrix * steepness
    x[:, 0] = 1.0
    of_block = np.bincount(rows.block, weight)
    shrunk = (1.0 / (of_block + given.noise / given.block))[:, None]
    weighted = weight[:, None] * z
    sum_z, sum_x = (sum_by_block(weight[:, None] * values, rows.block, len(of_block)) for values in (z, x))
    with_x = (x.T @ weighted - sum_x.T @ (shrunk * sum_z)) / given.noise
    information = ((z * weighted).sum(axis=0) - (shrunk * sum_z**2).sum(axis=0)) / given.noise
    information -= (with_x * (fit.posterior.covariance @ with_x)).sum(axis=0)
    return weighted.T @ fit.residual / given.noise, np.maximum(information, 1e-12)
