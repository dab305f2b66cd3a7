"""Which results the user asked to see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cozcli.analysis import messages
from cozcli.analysis.input.locations import matches_line
from cozcli.analysis.result import LineResult
from cozcli.errors import CozError


@dataclass(frozen=True)
class ResultFilter:
    """Every line is analysed all the same: intervals draw on all of them."""

    min_points: int = 1
    line: str | None = None
    progress_point: str | None = None


def apply_filter(results: Sequence[LineResult], result_filter: ResultFilter) -> list[LineResult]:
    """The results asked for.

    Raises:
        CozError: none is left; the message says what there is.
    """
    left = list(results)
    if result_filter.line is not None:
        pattern = result_filter.line
        left = [r for r in left if matches_line(pattern, r.location, r.function)]
        if not left:
            known = sorted({r.location for r in results})
            raise CozError(messages.nothing_matches("line", pattern, known))
    if result_filter.progress_point is not None:
        before, left = left, [r for r in left if r.point == result_filter.progress_point]
        if not left:
            known = sorted({r.point for r in before})
            raise CozError(messages.nothing_matches("progress point", result_filter.progress_point, known))
    enough = [r for r in left if r.speedups >= result_filter.min_points or result_filter.min_points <= 1]
    if not enough:
        best = max(r.speedups for r in left)
        lines = len({r.location for r in left})
        raise CozError(messages.too_few_points(result_filter.min_points, best, lines))
    return enough
