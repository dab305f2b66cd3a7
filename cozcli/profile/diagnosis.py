"""Why a profile holds no experiment: the first cause, in the order of the data flow, that fits."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.profile import messages
from cozcli.profile.profile import Run
from cozcli.profile.records import RunRecord

#: Below this, a run cannot hold a block of windows, whatever the program does.
SHORT_RUN = 1_000_000_000


def explain_no_experiments(runs: Sequence[Run], rejected: Sequence[str] = ()) -> Problem:
    """The cause for the run that came furthest (took most samples), with what to do about it.

    Windows and visits are those of all runs. `rejected` has a text for each record that was left out.
    """
    if rejected:
        return messages.all_rejected(rejected)
    if not runs:
        return messages.runtime_not_started()
    run = max(runs, key=lambda run: run.samples.total if run.samples else -1)
    samples = run.samples
    longest = max(each.real_time for each in runs)
    if run.record == RunRecord():
        return messages.runtime_not_started()
    if samples is None:
        return messages.ended_before_counting()
    visits = sum(map(_visits, runs))
    if run.record.classic:
        return messages.classic_without_experiments()
    if run.record.sampling == "off":
        return messages.sampling_was_off()
    if samples.total == 0 and longest < SHORT_RUN:
        return messages.run_too_short(longest, len(runs))
    if samples.total == 0:
        return messages.no_samples(samples.duration or samples.run_time)
    if samples.in_scope == 0:
        return messages.nothing_in_scope(samples.total, run.record.scope)
    if visits == 0:
        return messages.no_point_visited()
    discarded = _discarded(runs)
    if run.record.fixed and not discarded and not any(map(_is_any_sampled, runs)):
        return messages.nothing_chosen_ran(run.record.fixed, samples.regions)
    if not discarded and longest < SHORT_RUN:
        return messages.run_too_short(longest, len(runs))
    duration = sum(each.real_time for each in runs)
    if not discarded:
        return messages.no_window_finished(duration, len(runs))
    reason = max(discarded, key=lambda reason: discarded[reason])
    return messages.windows_discarded(reason, discarded[reason], visits, duration, len(runs))


def _visits(run: Run) -> int:
    """Of the point that was visited most: one request may visit several."""
    return max((point.visits for point in run.samples.points), default=0) if run.samples else 0


def _discarded(runs: Sequence[Run]) -> dict[str, int]:
    """How many windows all runs together discarded, by the reason."""
    sums: dict[str, int] = {}
    for run in runs:
        for reason, number in run.samples.discarded.items() if run.samples else ():
            if number > 0:
                sums[reason] = sums.get(reason, 0) + number
    return sums


def _is_any_sampled(run: Run) -> bool:
    """Was a sample taken in one of the chosen targets? A line under a caller is that line."""
    lines = run.samples.lines if run.samples else ()
    return any(line.location.partition(" < ")[0] in run.record.fixed for line in lines)
