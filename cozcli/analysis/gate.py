"""Conditions on effects that end a build: `sqlite3.c:28321 > 10%`.

A condition holds when the effect is beyond the limit with certainty: the bound of its interval that is nearer
to 0 gain is compared, and the intervals are widened for the number of effects that the condition looks at
(Bonferroni), so that of builds without such an effect at most one in forty fails by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cozcli.analysis.condition import Condition
from cozcli.analysis.intervals import widening
from cozcli.analysis.ranking import matches_line
from cozcli.analysis.result import CurvePoint, LineResult, Note
from cozcli.analysis.shape import effect_at

#: Results that fail no build.
UNFIT = (Note.FEW_DATA, Note.LOAD)


@dataclass(frozen=True)
class Verdict:
    """Of one condition: the effect that fulfils it best, if one does; and how many results it looked at.

    `unfit`: results that would count, but rest on few data or are limited by load.
    """

    condition: Condition
    looked_at: int
    unfit: int
    result: LineResult | None = None
    point: CurvePoint | None = None

    @property
    def holds(self) -> bool:
        """Is it fulfilled?"""
        return self.result is not None


def judge_condition(condition: Condition, results: Sequence[LineResult]) -> Verdict:
    """Look at all results that it means."""
    meant = [
        r
        for r in results
        if matches_line(condition.line, r.location, r.function) and condition.point in ("", r.point)
    ]
    fit = [r for r in meant if not set(r.notes) & set(UNFIT)]
    looked_at = [(result, point) for result in fit for point in _points(result, condition)]
    unfit = len(meant) - len(fit)
    factor = widening(len(looked_at))
    best: tuple[float, LineResult, CurvePoint] | None = None
    for result, point in looked_at:
        if condition.above:
            margin = point.effect - factor * (point.effect - point.low) - condition.limit
        else:
            margin = condition.limit - (point.effect + factor * (point.high - point.effect))
        if margin > 0 and (best is None or margin > best[0]):
            best = margin, result, point
    if best is None:
        return Verdict(condition, len(meant), unfit)
    return Verdict(condition, len(meant), unfit, best[1], best[2])


def _points(result: LineResult, condition: Condition) -> list[CurvePoint]:
    if condition.speedup is None:
        return [point for point in result.curve if point.speedup > 0]
    found = effect_at(result, condition.speedup)
    return [CurvePoint(found.speedup, found.effect, found.low, found.high, 0)] if found else []
