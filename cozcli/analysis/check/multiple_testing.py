"""Which of many results to believe, with intervals that allow for the choice.

Of a hundred lines without effect, five have a 95 % interval that leaves out 0; a reader who looks at the top
of a ranking sees just these. So slopes are chosen by the procedure of Benjamini and Hochberg. If R of m
slopes are chosen, their intervals are widened to level 1 − q·R/m; on average at most a fraction q of them
misses the truth (false coverage rate: Benjamini and Yekutieli 2005). Chosen are exactly those whose adjusted
interval leaves out 0. docs/decisions/estimation.md has the rates found.

Where combined windows test hundreds of targets, most have next to no time that could be saved. So tests
have weights: half by the target's share of time, half equal. For a target of weight w the level is 1 −
q·w·R/m, but not below 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cozcli.analysis.result import LineResult
from cozcli.analysis.statistics.distributions import LEVEL, p_from_interval, t_quantile
from cozcli.analysis.statistics.false_discovery import discoveries

#: The part of the marked slopes, and of their intervals, that may be wrong.
MAX_FALSE_SLOPES = 1 - LEVEL
#: The part of the lines marked for contention that may be wrong (one-sided).
MAX_FALSE_CONTENTION = 0.025
#: Of results that are not tested: contention, significance, weight.
_UNTESTED = (False, False, 1.0)


@dataclass(frozen=True)
class Candidate:
    """A result that is not tested yet.

    p_no_contention: see contention.py. is_testable: has it enough blocks, and a pace that lasts?
    """

    result: LineResult
    p_no_contention: float
    is_testable: bool


def decide_significance(candidates: Sequence[Candidate]) -> list[LineResult]:
    """The results with their significance and adjusted intervals, in the same order.

    Results that cannot be tested are never significant and not counted among the m: how many blocks a line
    has does not depend on its slope.
    """
    family = [each for each in candidates if each.is_testable]
    contention = discoveries([each.p_no_contention for each in family], MAX_FALSE_CONTENTION)
    weights = weights_of(family)
    chances = [p_no_slope(each) for each in family]
    # However large its weight, none is believed that would not be if it were the only one.
    alone = [p if p <= MAX_FALSE_SLOPES else math.inf for p in chances]
    significant = discoveries(alone, MAX_FALSE_SLOPES, weights)
    outcomes = iter(zip(contention, significant, weights, strict=True))
    allowed = MAX_FALSE_SLOPES * max(sum(significant), 1) / max(len(family), 1)
    tested = []
    for each in candidates:
        has_contention, is_significant, weight = next(outcomes) if each.is_testable else _UNTESTED
        low, high = adjusted_interval(each, 1 - min(allowed * weight, MAX_FALSE_SLOPES))
        if each.result.p_own is not None and not is_significant:
            low, high = min(low, 0.0), max(high, 0.0)
        if each.result.is_combined and each.result.bound is not None:
            high = min(high, each.result.bound)
        tested.append(
            replace(
                each.result,
                contention=has_contention,
                significant=is_significant,
                adjusted_low=low,
                adjusted_high=high,
            )
        )
    return tested


def weights_of(family: Sequence[Candidate]) -> list[float]:
    """Of mean 1: half by the share of time, half equal; all equal without combined windows."""
    shares = [each.result.share if each.result.is_combined else None for each in family]
    known = [share for share in shares if share is not None]
    mean = sum(known) / len(known) if known else 0.0
    return [1.0 if share is None or mean <= 0 else 0.5 + 0.5 * share / mean for share in shares]


def p_no_slope(candidate: Candidate) -> float:
    """Two-sided p-value of a slope of 0, from the half of the interval that points to 0; not below that of
    the target's own windows.
    """
    r = candidate.result
    return max(p_from_interval(r.slope, r.slope_low, r.slope_high, r.freedom), r.p_own or 0.0)


def adjusted_interval(candidate: Candidate, level: float) -> tuple[float, float]:
    """The slope's interval scaled from 95 % to another level, each side by the ratio of quantiles of t.

    2,000 replicates have too few values that far out.
    """
    r = candidate.result
    wide, own = (float(t_quantile(0.5 + each / 2, r.freedom)) for each in (level, LEVEL))
    scale = wide / own
    return r.slope - scale * (r.slope - r.slope_low), r.slope + scale * (r.slope_high - r.slope)
