"""In which order results are shown."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.analysis.result import LineResult, Mark


def impact(result: LineResult) -> float:
    """What the slope amounts to at least, in either direction, from its adjusted bound nearer to 0.

    A gain ends at 1 (no time left), a slow-down nowhere; the latter counts as what undoing it would
    gain, x / (1 + x), so that a latency which grows without limit does not hide everything else.
    """
    harm = max(-result.adjusted_high, 0.0)
    return max(result.adjusted_low, harm / (1 + harm))


def by_impact(results: Sequence[LineResult]) -> list[LineResult]:
    """Largest certain impact first; where nothing is certain, steepest first.

    Results of few data come after the rest, those with most windows first: among many of them the most
    extreme ones are extreme by chance.
    """
    return sorted(
        results,
        key=lambda r: (
            Mark.FEW_DATA in r.marks,
            -r.experiments if Mark.FEW_DATA in r.marks else 0,
            -max(impact(r), 0.0),
            -abs(r.slope),
            r.location,
            r.point,
            r.kind,
        ),
    )


def leading(results: Sequence[LineResult], limit: int, filled: int) -> tuple[LineResult, ...]:
    """The first `limit` of ranked results; those of few data only while there are fewer than `filled`."""
    sure = [r for r in results if Mark.FEW_DATA not in r.marks][:limit]
    unsure = [r for r in results if Mark.FEW_DATA in r.marks]
    return (*sure, *unsure[: max(min(limit, filled) - len(sure), 0)])


def by_slope(results: Sequence[LineResult]) -> list[LineResult]:
    """Steepest upward first, steepest downward last (dissertation §5.1.6)."""
    return sorted(results, key=lambda r: (-r.slope, r.location, r.point, r.kind))
