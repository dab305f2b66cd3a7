"""Runs whose pauses slept beside runs whose pauses kept the processor (--busy-pauses).

While threads sleep, caches cool, so that the two show different capacities: at a load of both, only what was
measured with busy pauses counts. At base load nobody pauses.
"""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.profile.profile import Run


def levels_of_both_pauses(runs: Sequence[Run]) -> frozenset[int]:
    """The arrival speedups at which both were measured."""
    busy, idle = (
        {
            record.arrivals.speedup
            for run in runs
            if run.record.busy_pauses == is_busy
            for record in run.experiments
            if record.arrivals and record.arrivals.speedup
        }
        for is_busy in (True, False)
    )
    return frozenset(busy & idle)


def with_equal_pauses(runs: Sequence[Run]) -> list[Run]:
    """The runs in their order, without the windows that do not count."""
    both = levels_of_both_pauses(runs)
    return [_without(run, both) if both and not run.record.busy_pauses else run for run in runs]


def _without(run: Run, levels: frozenset[int]) -> Run:
    kept = [
        record for record in run.experiments if not record.arrivals or record.arrivals.speedup not in levels
    ]
    return Run(run.record, run.source, kept, run.samples)
