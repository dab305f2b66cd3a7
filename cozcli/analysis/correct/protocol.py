"""What every correction looks like.

A correction takes all series of a profile and returns them adjusted, in the same order. It may change their
periods and weights, window by window, or add a `Factor` that multiplies the effects of a series and has a
relative standard error. It knows nothing of the corrections beside it, except for what they write into
`Context`. A series of which it can tell nothing stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cozcli.analysis.input.series import Series
from cozcli.analysis.input.slowness import Response
from cozcli.analysis.input.windows import Window
from cozcli.analysis.result import Overhead, Phase, PointKey
from cozcli.profile.profile import Run

#: p_s/p_0 by location and speedup.
PeriodRatios = dict[tuple[str, float], float]


@dataclass
class Context:
    """What corrections may look at beside the series, and what they found.

    period_ratios: estimates p_s/p_0 from series as they are by then. of_windows_only: leave out errors of
    which more windows could not tell.
    responses: of each progress point to the machine's speed. overheads: what profiling costs each point.
    phases: by location.
    """

    runs: Sequence[Run]
    by_target: Mapping[str, Sequence[Window]]
    period_ratios: Callable[[Sequence[Series]], PeriodRatios]
    of_windows_only: bool = False
    responses: dict[PointKey, Response] = field(default_factory=dict)
    overheads: dict[PointKey, Overhead] = field(default_factory=dict)
    phases: dict[str, Phase] = field(default_factory=dict)


class Correction(Protocol):
    """One of the chain."""

    def adjust(self, all_series: Sequence[Series], context: Context) -> list[Series]:
        """The series corrected, in the same order."""
