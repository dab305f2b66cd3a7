"""A warning where processes that were not profiled compute beside the program."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.analysis import messages
from cozcli.errors import Problem
from cozcli.profile.profile import Run

#: Of the time of the runs: children that computed for less do not matter.
MIN_SHARE = 0.1


def warn_of_children(runs: Sequence[Run]) -> list[Problem]:
    """Children go on while the program's threads pause."""
    known = [run.samples for run in runs if run.samples is not None]
    duration = sum(samples.duration for samples in known)
    share = sum(samples.children_time for samples in known) / duration if duration > 0 else 0.0
    return [messages.children_unprofiled(share)] if share >= MIN_SHARE else []
