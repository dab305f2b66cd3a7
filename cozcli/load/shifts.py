"""Which lines matter more, or less, under load: slopes at the highest load against those at the lowest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cozcli.analysis.result import UNFIT, Analysis, LineResult, Mark
from cozcli.analysis.statistics.distributions import LEVEL, p_from_interval
from cozcli.analysis.statistics.false_discovery import discoveries

#: Of the shifts that are called certain, the part that may be chance.
MAX_FALSE_SHIFTS = 1 - LEVEL


@dataclass(frozen=True)
class Shift:
    """One line and progress point at two loads; `low`, `high`: a 95 % interval of how the slope grows.

    `is_certain`: more than chance, of so many lines.
    """

    base: LineResult
    loaded: LineResult
    low: float
    high: float
    is_certain: bool = False

    @property
    def change(self) -> float:
        """How much the slope grows from base to high load."""
        return self.loaded.slope - self.base.slope

    @property
    def is_fit(self) -> bool:
        """Are both about the program? That data are few, their intervals say."""
        return not {*self.base.marks, *self.loaded.marks} & ({*UNFIT} - {Mark.FEW_DATA})


def selected_shifts(analysis: Analysis) -> list[Shift]:
    """Those of the results that were selected; how many there are in all decides which are certain."""
    keys = {result.key for result in analysis.results}
    return [shift for shift in find_shifts(analysis.all_results) if shift.base.key in keys]


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
    fit = [shift for shift in found if shift.is_fit]
    believed = discoveries([_p_no_shift(shift) for shift in fit], MAX_FALSE_SHIFTS)
    tested = [replace(shift, is_certain=is_certain) for shift, is_certain in zip(fit, believed, strict=True)]
    return sorted(tested + [shift for shift in found if not shift.is_fit], key=_rank)


def _shift(base: LineResult, loaded: LineResult) -> Shift:
    # The two come of different runs.
    change = loaded.slope - base.slope
    down = math.hypot(loaded.slope - loaded.slope_low, base.slope_high - base.slope)
    up = math.hypot(loaded.slope_high - loaded.slope, base.slope - base.slope_low)
    return Shift(base, loaded, change - down, change + up)


def _p_no_shift(shift: Shift) -> float:
    freedom = min(shift.base.freedom, shift.loaded.freedom)
    return p_from_interval(shift.change, shift.low, shift.high, freedom)


def _rank(shift: Shift) -> tuple[bool, float, float, str]:
    surely = max(shift.low, -shift.high, 0.0)
    return not shift.is_certain, -surely, -abs(shift.change), shift.base.location
