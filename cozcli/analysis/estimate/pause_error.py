"""What pauses change beside the relative speed of threads: a part of the uncertainty of every effect.

A virtual speedup by s of a target that runs for the share a of the time pauses others for s·a of it.
Meanwhile cores idle that would be busy, or the other way round; threads wake up earlier or later; two cores
share less. The same program, profiled again, has other effects, by some part of s·a beyond what its windows
tell (docs/decisions/estimation.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.profile.profile import Run

#: A standard deviation, as a part of s·a.
PAUSE_ERROR = 0.015
#: For latencies so many times as much, in parts of the latency that is left: how evenly items come decides
#: how long they wait in queues, and pauses come in lumps of a sampling period.
TIMES_OF_LATENCY = 3.5


def pause_error(runs: Sequence[Run]) -> float:
    """The part of s·a; 0 where no other thread could pause, by those runs that tell."""
    known = [run.samples for run in runs if run.samples and run.samples.threads > 0]
    one_thread = known and all(samples.threads == samples.processes == 1 for samples in known)
    return 0.0 if one_thread else PAUSE_ERROR
