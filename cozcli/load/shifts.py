"""Which lines matter more, or less, under load: slopes at the highest load against those at the lowest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cozcli.analysis.result import LineResult


@dataclass(frozen=True)
class Shift:
    """One line and progress point at two loads; `low`, `high`: a 95 % interval of how the slope grows."""

    base: LineResult
    loaded: LineResult
    low: float
    high: float

    @property
    def change(self) -> float:
        """How much the slope grows from base to high load."""
        return self.loaded.slope - self.base.slope

    @property
    def is_certain(self) -> bool:
        """Does the interval leave out 0?"""
        return self.low > 0 or self.high < 0


def find_shifts(results: Sequence[LineResult]) -> list[Shift]:
    """Lines measured at the lowest and the highest load; those that surely change most come first."""
    levels = sorted({result.arrival_speedup for result in results})
    if len(levels) < 2:
        return []
    at = {(result.key, result.arrival_speedup): result for result in results}
    found = [
        _shift(base, at[key, levels[-1]])
        for (key, level), base in at.items()
        if level == levels[0] and (key, levels[-1]) in at
    ]
    return sorted(found, key=_rank)


def _shift(base: LineResult, loaded: LineResult) -> Shift:
    # The two come of different runs.
    change = loaded.slope - base.slope
    down = math.hypot(loaded.slope - loaded.slope_low, base.slope_high - base.slope)
    up = math.hypot(loaded.slope_high - loaded.slope, base.slope - base.slope_low)
    return Shift(base, loaded, change - down, change + up)


def _rank(shift: Shift) -> tuple[float, float, str]:
    surely = max(shift.low, -shift.high, 0.0)
    return -surely, -abs(shift.change), shift.base.location
