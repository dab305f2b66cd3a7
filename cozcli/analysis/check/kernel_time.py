"""A warning where much time in the kernel belongs to no line."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.analysis import messages
from cozcli.errors import Problem
from cozcli.profile.profile import Run

#: Of all samples: below, no line can seem much too small.
MIN_SHARE = 0.15


def warn_of_kernel_time(runs: Sequence[Run]) -> list[Problem]:
    """Where perf may not sample the kernel, only some of the samples there are known to belong to a call."""
    known = [run.samples for run in runs if run.samples is not None and run.samples.total > 0]
    total = sum(samples.total for samples in known)
    share = sum(samples.in_kernel for samples in known) / total if total > 0 else 0.0
    return [messages.kernel_time_unknown(share)] if share >= MIN_SHARE else []
