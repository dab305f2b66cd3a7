"""Warnings about windows that could not be used, or that a slow machine measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cozcli.analysis import messages
from cozcli.analysis.input.windows import MAX_UNSETTLED, Windows
from cozcli.errors import Problem
from cozcli.profile.profile import Run

#: Slower than this, a window is called slow in messages: 10 %.
SLOW = math.log(1.1)
#: Users are told if at least this part of the windows was slow.
MIN_SLOW_SHARE = 0.2


def warn_of_windows(windows: Windows, runs: Sequence[Run]) -> list[Problem]:
    """What users should know of the windows of one analysis."""
    experiments = sum(len(run.experiments) for run in runs)
    warnings = []
    if windows.unsettled > MAX_UNSETTLED * len(windows.measured):
        warnings.append(messages.unsettled_windows(windows.unsettled, experiments))
    if delayed := count_windows_of_delay_only(runs):
        warnings.append(messages.windows_of_delay_only(delayed))
    measured = windows.measured
    if slow := count_slow([window.disturbance for window in measured]):
        stolen = count_slow([window.stolen for window in measured])
        warnings.append(messages.slow_machine(slow, len(measured), stolen))
    return warnings


def count_windows_of_delay_only(runs: Sequence[Run]) -> int:
    """How many windows the runtime threw away because nothing but delay happened in them."""
    return sum(run.samples.discarded.get("all_delay", 0) for run in runs if run.samples)


def count_slow(slowness: Sequence[float]) -> int:
    """The number of windows measured on a slow machine, if they are many; else 0."""
    slow = sum(x > SLOW for x in slowness)
    return slow if slow >= MIN_SLOW_SHARE * len(slowness) else 0
