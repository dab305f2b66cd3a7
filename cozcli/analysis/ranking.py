"""Which results to show and in which order, and which of many tests to believe."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cozcli.analysis.result import LineResult, Note

#: Rate of false discoveries among the lines marked for contention (one-sided).
FALSE_DISCOVERIES = 0.025


def impact(result: LineResult) -> float:
    """What the slope amounts to at least, in either direction, from its adjusted bound nearer to 0.

    A gain ends at 1 (no time left), a slow-down nowhere; the latter counts as what undoing it would
    gain, x / (1 + x), so that a latency which grows without limit does not hide everything else.
    """
    harm = max(-result.adjusted_high, 0.0)
    return max(result.adjusted_low, harm / (1 + harm))


def by_impact(results: Sequence[LineResult]) -> list[LineResult]:
    """Largest certain impact first; where nothing is certain, steepest first.

    Results of few data come after the rest, those with most experiments first: among many of them the
    most extreme are those that met an odd moment.
    """
    return sorted(
        results,
        key=lambda r: (
            Note.FEW_DATA in r.notes,
            -r.experiments if Note.FEW_DATA in r.notes else 0,
            -max(impact(r), 0.0),
            -abs(r.slope),
            r.location,
            r.point,
            r.kind,
        ),
    )


def most_telling(results: Sequence[LineResult], most: int, filled: int) -> tuple[LineResult, ...]:
    """The first `most` of ranked results; those of few data only as long as there are fewer than `filled`."""
    sure = [r for r in results if Note.FEW_DATA not in r.notes][:most]
    unsure = [r for r in results if Note.FEW_DATA in r.notes]
    return (*sure, *unsure[: max(min(most, filled) - len(sure), 0)])


def by_slope(results: Sequence[LineResult]) -> list[LineResult]:
    """Steepest upward first, steepest downward last (dissertation §5.1.6)."""
    return sorted(results, key=lambda r: (-r.slope, r.location, r.point, r.kind))


def matches_line(pattern: str, location: str, function: str) -> bool:
    """Does a user's pattern name this line?

    `%` stands for any text and must then cover the whole location. Without it a pattern names a line
    by the end of its path (`queue.cpp:10`, `src/queue.cpp:10`), a file (`queue.cpp`), or a function.
    """
    if "%" in pattern:
        expression = ".*".join(re.escape(part) for part in pattern.split("%"))
        return re.fullmatch(expression, location, re.DOTALL) is not None
    path = location.rpartition(":")[0]
    return any(("/" + text).endswith("/" + pattern.lstrip("/")) for text in (location, path)) or (
        bool(function) and pattern in (function, function.partition("(")[0])
    )


def discoveries(probabilities: Sequence[float], rate: float = FALSE_DISCOVERIES) -> list[bool]:
    """Benjamini–Hochberg: which of many tests to believe, so that of those a part `rate` is wrong."""
    order = sorted(range(len(probabilities)), key=lambda i: probabilities[i])
    accepted = 0
    for rank, index in enumerate(order, start=1):
        if probabilities[index] <= rate * rank / len(order):
            accepted = rank
    believed = set(order[:accepted])
    return [index in believed for index in range(len(probabilities))]
