"""Medians with intervals that assume nothing about the distribution, and tables of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """The median of some values, and an interval that holds the true one with this probability."""

    median: float
    low: float
    high: float
    coverage: float

    def text(self, digits: int = 1) -> str:
        """As `1.5 [1.2, 1.9]`."""
        return f"{self.median:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def estimate(values: Sequence[float], wanted: float = 0.95) -> Estimate:
    """The median, and the narrowest pair of order statistics, equally far from both ends, that
    covers the true median with the wanted probability; with too few values, the extremes.

    Raises:
        ValueError: there are no values.
    """
    ordered = sorted(values)
    number = len(ordered)
    if number == 0:
        raise ValueError("no values")
    rank = 0
    for candidate in range((number + 1) // 2):
        if interval_coverage(number, candidate) < wanted:
            break
        rank = candidate
    middle = number // 2
    median = ordered[middle] if number % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return Estimate(median, ordered[rank], ordered[number - 1 - rank], interval_coverage(number, rank))


def interval_coverage(number: int, rank: int) -> float:
    """How often the true median lies between the values of ranks `rank` and `number − 1 − rank`."""
    beyond = float(sum(math.comb(number, below) for below in range(rank + 1))) / float(2**number)
    return max(0.0, 1 - 2 * beyond)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; the first to the left, the others to the right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    text = []
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        text.append("  ".join(cells).rstrip())
    text.insert(1, "-" * max(len(line) for line in text))
    return "\n".join(text)
