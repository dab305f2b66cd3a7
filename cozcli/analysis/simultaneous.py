"""Judging many lines at once: which slopes to believe, with intervals that allow for the choice.

Of a hundred lines without effect, five have a 95 % interval that leaves out 0; a reader who looks at the top
of a ranking sees just these. So slopes are chosen by Benjamini and Hochberg's procedure, and the intervals
of the chosen hold at the level 1 − q·R/m, R being chosen of m: of the intervals of chosen lines a
part q at most is wrong (false coverage rate: Benjamini and Yekutieli 2005). Chosen are just those whose
adjusted interval leaves out 0. docs/decisions/estimation.md has the rates found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cozcli.analysis.intervals import LEVEL, t_quantile, t_tail
from cozcli.analysis.ranking import discoveries
from cozcli.analysis.result import LineResult

#: The part of the marked slopes, and of their intervals, that may be wrong.
FALSE_SLOPES = 1 - LEVEL


@dataclass(frozen=True)
class Candidate:
    """A result whose marks are open.

    harm: p-value of "does no harm". freedom: degrees of freedom of the slope. enough: it rests on
    enough blocks to be marked at all.
    """

    result: LineResult
    harm: float
    freedom: float
    enough: bool


def judge(candidates: Sequence[Candidate]) -> list[LineResult]:
    """The results with their marks and adjusted intervals, in the same order.

    Results of too few blocks are never marked and not counted among the m: how many blocks a line has does
    not depend on its slope.
    """
    family = [t for t in candidates if t.enough]
    contention = discoveries([t.harm for t in family])
    significant = discoveries([slope_chance(t) for t in family], FALSE_SLOPES)
    marks = iter(zip(contention, significant, strict=True))
    level = 1 - FALSE_SLOPES * max(sum(significant), 1) / max(len(family), 1)
    judged = []
    for t in candidates:
        harmful, real = next(marks) if t.enough else (False, False)
        low, high = adjusted_interval(t, level)
        judged.append(
            replace(t.result, contention=harmful, significant=real, adjusted_low=low, adjusted_high=high)
        )
    return judged


def slope_chance(candidate: Candidate) -> float:
    """Two-sided p-value of a slope of 0, from the half of the interval that points to 0."""
    r = candidate.result
    distance = r.slope - r.slope_low if r.slope > 0 else r.slope_high - r.slope
    if distance <= 0:
        return 0.0 if r.slope else 1.0
    error = distance / t_quantile(0.5 + LEVEL / 2, candidate.freedom)
    return min(1.0, 2 * t_tail(abs(r.slope) / error, candidate.freedom))


def adjusted_interval(candidate: Candidate, level: float) -> tuple[float, float]:
    """The slope's interval stretched from 95 % to another level, each side by the quantiles of t.

    Replicates have too few values that far out.
    """
    r = candidate.result
    stretch = t_quantile(0.5 + level / 2, candidate.freedom) / t_quantile(0.5 + LEVEL / 2, candidate.freedom)
    return r.slope - stretch * (r.slope - r.slope_low), r.slope + stretch * (r.slope_high - r.slope)
