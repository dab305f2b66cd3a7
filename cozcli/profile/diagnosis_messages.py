"""Why a run has brought no experiments, as `coz run` and `coz report` say it, each with its remedy."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import count, listed, seconds


def runtime_not_started() -> Problem:
    """No `run` record at all."""
    return Problem(
        "no experiment: the profiler did not start in the program, perhaps because it replaced itself "
        "by another one (exec).",
        "profile the program that does the work, not one that starts it.",
    )


def all_rejected(reasons: Sequence[str]) -> Problem:
    """Records there are, but none that can be believed."""
    return Problem(
        f"no experiment: {count(len(reasons), 'record')} left out for impossible values "
        f"({listed(reasons, 3)}), and no other holds one.",
        "profile again into a new file; this one was changed after it was written, or by another tool.",
    )


def ended_before_counting() -> Problem:
    """A run record and nothing after it."""
    return Problem(
        "no experiment: the program ended or was killed before the first one was finished.",
        "let it run longer: a few seconds at least, better a minute.",
    )


def classic_without_experiments() -> Problem:
    """The classic formats hold no reason."""
    return Problem(
        "no experiment: the classic profile has sample counts only, and does not say why.",
        "profile again with coz run, which tells the reason.",
    )


def no_samples(duration: int) -> Problem:
    """Sampling ran and saw nothing."""
    return Problem(
        f"no experiment: no sample was taken in {seconds(duration)}; the program hardly used a processor.",
        "give it more work, or profile the process that does the work.",
    )


def sampling_was_off() -> Problem:
    """`--sampling off` was given."""
    return Problem(
        "no experiment: nothing was sampled, because sampling was off.",
        "leave out --sampling off.",
    )


def nothing_in_scope(total: int, scope: Sequence[str]) -> Problem:
    """Every sample fell outside the scope."""
    given = f" of {listed(scope)}" if scope else ""
    return Problem(
        f"no experiment: none of {count(total, 'sample')} fell in a line in scope{given}; the time is "
        "spent in other code.",
        "widen the scope with -s (source files) or -b (libraries), and compile that code with -g.",
    )


def no_point_visited() -> Problem:
    """No progress point counted anything."""
    return Problem(
        "no experiment: no progress point was visited, so nothing can be compared.",
        "name a line or function that the program reaches once for each unit of its work: coz run --progress "
        "FILE:LINE; or include coz.h and write COZ_PROGRESS; there.",
    )


def run_too_short(duration: int) -> Problem:
    """The program ended within the first window."""
    return Problem(
        f"no experiment: the program ended after {seconds(duration)}, too soon.",
        "give it more work, a few seconds at least, or run it many times with the same -o.",
    )


def nothing_chosen_ran(locations: Sequence[str], entered: Sequence[str]) -> Problem:
    """Lines, functions or regions were chosen, and none of them was there to be measured."""
    return Problem(
        f"no experiment: the run took no sample in {listed(locations)}, and nothing else was selected.",
        f"regions that the program entered: {listed(entered, 8) or 'none'}; a run without a choice shows "
        "where it spends its time.",
    )


def no_window_finished(duration: int) -> Problem:
    """Long enough, and yet no window was opened or finished."""
    return Problem(
        f"no experiment: no window was finished in {seconds(duration)}.",
        "let it run longer; if that does not help, widen the scope with -s.",
    )


def windows_discarded(reason: str, number: int, visits: int, duration: int) -> Problem:
    """All windows were thrown away; `reason` is the most frequent one."""
    windows = count(number, "window")
    match reason:
        case "few_visits":
            return Problem(
                f"no experiment: {windows} held too few visits to a progress point ({visits} in "
                f"{seconds(duration)}).",
                "put the progress point where it is passed more often, or let the program run longer.",
            )
        case "all_delay":
            return Problem(
                f"no experiment: {windows} without a visit, since the selected line ran all the time, and "
                "its delays stopped all other threads.",
                "choose a smaller --fixed-speedup.",
            )
        case "shutdown":
            return Problem(
                f"no experiment: the program ended before a window was finished ({windows} broken off).",
                "let it run longer: a few seconds at least, better a minute.",
            )
        case _:
            return Problem(f"no experiment: {windows} thrown away ({reason}).", "let the program run longer.")
