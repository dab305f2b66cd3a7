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

    `rejected` has a text for each record that was left out.
    """
    if rejected:
        return messages.all_rejected(rejected)
    if not runs:
        return messages.runtime_not_started()
    run = max(runs, key=lambda run: run.samples.total if run.samples else -1)
    samples = run.samples
    if run.record == RunRecord():
        return messages.runtime_not_started()
    if samples is None:
        return messages.ended_before_counting()
    # Of the point that was visited most: one request may visit several.
    visits = max((point.visits for point in samples.points), default=0)
    if run.record.classic:
        return messages.classic_without_experiments()
    if run.record.sampling == "off":
        return messages.sampling_was_off()
    if samples.total == 0 and run.real_time < SHORT_RUN:
        return messages.run_too_short(run.real_time)
    if samples.total == 0:
        return messages.no_samples(samples.duration or samples.run_time)
    if samples.in_scope == 0:
        return messages.nothing_in_scope(samples.total, run.record.scope)
    if visits == 0:
        return messages.no_point_visited()
    discarded = {reason: n for reason, n in samples.discarded.items() if n > 0}
    if run.record.fixed and not discarded and not _is_any_sampled(run):
        return messages.nothing_chosen_ran(run.record.fixed, samples.regions)
    if not discarded and run.real_time < SHORT_RUN:
        return messages.run_too_short(run.real_time)
    if not discarded:
        return messages.no_window_finished(run.real_time)
    reason = max(discarded, key=lambda reason: discarded[reason])
    return messages.windows_discarded(reason, discarded[reason], visits, run.real_time)


def _is_any_sampled(run: Run) -> bool:
    """Was a sample taken in one of the chosen targets? A line under a caller is that line."""
    lines = run.samples.lines if run.samples else ()
    return any(line.location.partition(" < ")[0] in run.record.fixed for line in lines)
