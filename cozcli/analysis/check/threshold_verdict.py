"""Does an effect exceed a threshold that fails a build: `sqlite3.c:28321 > 10%`?

It must do so beyond chance: the bound of its interval on the threshold's side is compared. Intervals are
widened for the number of effects that the threshold looks at (Bonferroni), so that of builds without such an
effect at most one in forty fails by chance. Where other targets helped with the estimate, the target's own
windows must show that it has an effect at all, likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cozcli.analysis.check.threshold_syntax import Threshold
from cozcli.analysis.estimate.shape import effect_at
from cozcli.analysis.input.locations import matches_line, point_named
from cozcli.analysis.result import MAX_P_OWN, UNFIT, CurvePoint, LineResult
from cozcli.analysis.statistics.distributions import bonferroni_factor


@dataclass(frozen=True)
class Verdict:
    """Of one threshold: the effect that exceeds it most; and how many results it looked at.

    result, point: None if no effect exceeds it. unfit: results that would count, but have few data or are
    limited by load. is_beyond_curves: no other result has an effect at the threshold's speedup.
    """

    threshold: Threshold
    looked_at: int
    unfit: int
    result: LineResult | None = None
    point: CurvePoint | None = None
    is_beyond_curves: bool = False


def check_threshold(threshold: Threshold, results: Sequence[LineResult]) -> Verdict:
    """Look at all results that the threshold names."""
    wanted = point_named(threshold.point, (r.point for r in results))
    named = [
        r for r in results if matches_line(threshold.line, r.location, r.function) and wanted in ("", r.point)
    ]
    fit = [r for r in named if not set(r.marks) & set(UNFIT)]
    proven = [r for r in fit if r.p_own is None or r.p_own * len(fit) <= MAX_P_OWN]
    # An effect of 0 may itself be beyond the limit.
    excluded = threshold.limit >= 0 if threshold.above else threshold.limit <= 0
    candidates = proven if excluded else fit
    looked_at = [(result, point) for result in candidates for point in _points(result, threshold)]
    unfit = len(named) - len(fit)
    known = sum(len(_points(result, threshold)) for result in fit)
    best: tuple[float, LineResult, CurvePoint] | None = None
    for result, point in looked_at:
        factor = bonferroni_factor(known, result.freedom)
        if threshold.above:
            margin = point.effect - factor * (point.effect - point.low) - threshold.limit
        else:
            margin = threshold.limit - (point.effect + factor * (point.high - point.effect))
        if margin > 0 and (best is None or margin > best[0]):
            best = margin, result, point
    if best is None:
        return Verdict(threshold, len(named), unfit, is_beyond_curves=bool(fit) and known == 0)
    return Verdict(threshold, len(named), unfit, best[1], best[2])


def _points(result: LineResult, threshold: Threshold) -> list[CurvePoint]:
    if threshold.speedup is None:
        return [point for point in result.curve if point.speedup > 0]
    found = effect_at(result, threshold.speedup)
    return [CurvePoint(found.speedup, found.effect, found.low, found.high, 0)] if found else []
