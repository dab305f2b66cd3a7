"""Texts about what an analysis left out, doubts, or did not find."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import count, duration, listed, printable

_WHAT_IS_AWAITED = (
    "if it waits there for a client or a timer, the effects on this point are not real; if for a device that "
    "works for it, such as a disk, they are."
)
NOTHING_IN_COMMON = "the profiles have no line and progress point in common"


def no_baseline(locations: Sequence[str]) -> Problem:
    """Lines that were never measured at speedup 0."""
    return Problem(
        f"{count(len(locations), 'line')} left out for want of a baseline (speedup 0): {listed(locations)}.",
        "run longer, or run the same experiment once more with --fixed-speedup 0 into the same profile.",
    )


def unsettled_windows(number: int, total: int) -> Problem:
    """Windows which closed with delays still owed."""
    return Problem(
        f"in {number:,} of {count(total, 'experiment')} a thread still owed delays when it closed; they are "
        "used, but the effects may be off.",
        "threads that wait long for a processor, or block the signal of samples, cause this; a longer run "
        "helps little.",
    )


def slow_machine(slow: int, total: int, stolen: int = 0) -> Problem:
    """Many windows were measured while something else slowed the processors.

    stolen: in how many of them a hypervisor gave the processors to another guest.
    """
    text = (
        f"in {slow:,} of {count(total, 'experiment')} the machine was over 10 % slower than at its best; the "
        "effects are corrected for it, and such experiments count less."
    )
    if stolen:
        return Problem(
            text,
            f"in {stolen:,} the hypervisor gave the processors to other guests of the host: run at another "
            "time, or on a machine whose processors are its own; the intervals are narrower then.",
        )
    return Problem(
        text,
        "other programs, other guests of the same host, or threads of the program itself that share one core "
        "(hyper-threading) cause this; where they do not, the intervals are narrower.",
    )


def limited_by_load(point: str) -> Problem:
    """Visits keep their pace whatever is delayed."""
    return Problem(
        f"{_same_pace(point)}: something outside the program sets it, and the effects shown there are not "
        "real.",
        "let the client send its next request when it has an answer, or send more than can be served; "
        "or look at latency points.",
    )


def perhaps_limited_by_load(point: str, waits: Sequence[str]) -> Problem:
    """The same, where it may be for a device that the program gives work. `waits`: locations, if known."""
    where = f" ({listed([_short(each) for each in waits], 3)})" if waits else ""
    return Problem(
        f"{_same_pace(point)}, and the program waited part of the time{where}: perhaps something outside "
        "sets the pace.",
        _WHAT_IS_AWAITED if waits else f"{_WHAT_IS_AWAITED} coz run --waits shows where it waits.",
    )


def _same_pace(point: str) -> str:
    return f"visits to {printable(point)!r} came at the same pace per second, however much was delayed"


def _short(wait: str) -> str:
    return f"wait {printable(wait.removeprefix('wait ').rpartition('/')[2])}"


def too_few_cores(share: float, cores: int) -> Problem:
    """Threads were runnable, but waited for a core. cores: that they could use at a time; 0: unknown."""
    had = f" The threads had {count(cores, 'core')}: coz doctor says why." if cores else ""
    return Problem(
        f"threads waited for a core: {share:.2f} s of waiting for each second of running; effects "
        "on throughput are estimated from shares of processor time, and intervals are wide." + had,
        "use no more busy threads than cores, or more cores; other programs on the machine cause it, too.",
    )


def sampling_rate_too_low(achieved: float) -> Problem:
    """The timer came less often than the period says."""
    return Problem(
        f"the timer took only {achieved:.0%} of the samples due: lines were sped up by only that share of "
        "what is shown, and true effects are larger.",
        "allow perf events, which arrive on time: sysctl kernel.perf_event_paranoid=2; or use a longer "
        "--period.",
    )


def costly_switches(point: str, factor: float) -> Problem:
    """A perf event is armed and stopped whenever the kernel changes threads."""
    return Problem(
        f"perf events make it slower to change threads, which adds {factor - 1:.0%} to each visit to "
        f"{printable(point)!r}: a faster line that avoids such changes seems to save up to that much more.",
        "this matters where two threads need about as long before they wait for each other. coz run "
        "--sampling timer does without these events: compare.",
    )


def windows_of_delay_only(number: int) -> Problem:
    """At a speedup near 100 % of a line that runs all the time, nothing else of the program moves."""
    return Problem(
        f"{count(number, 'window')} without a visit, since the selected line ran all the time, and its "
        "delays stopped all other threads; they do not count.",
        "such a line cannot be measured at 100 %; smaller speedups can.",
    )


def lost_operations(point: str, lost: int, begun: int) -> Problem:
    """Operations with identities of which no duration is known."""
    return Problem(
        f"{lost:,} of {count(begun, 'operation')} of {printable(point)!r} could not be followed: quantiles "
        "of the latency are those of the others.",
        "give each open operation an identity of its own, and every COZ_BEGIN_ID its COZ_END_ID; of more "
        "than some 2,000 open at a time not all can be followed.",
    )


def children_unprofiled(processors: float) -> Problem:
    """Without --tree."""
    return Problem(
        f"child processes, which were not profiled, used {processors:.2g} processors on average. They go on "
        "while the program's threads pause, so that lines that run beside them may seem to matter too much.",
        "profile them with the program, if it forks them: coz run --tree.",
    )


def kernel_time_unknown(share: float) -> Problem:
    """Perf excludes the kernel here."""
    return Problem(
        f"{share:.0%} of the processor time was spent in the kernel, for no known line, as in page faults or "
        "waking threads: lines that cause it seem to matter too little.",
        "on Linux 6.15 or newer, let perf sample the kernel: sysctl kernel.perf_event_paranoid=1 (without "
        "breakpoint instructions: --progress-by hardware). Else coz run --sampling timer counts this time "
        "for the line that runs next.",
    )


def point_without_result(point: str) -> Problem:
    """Visited, but in too few windows, or in none that can be compared."""
    return Problem(
        f"{printable(point)} was visited in too few experiments to estimate any effect on it.",
        "run longer; the same -o FILE adds to it.",
    )


def point_visited_unevenly(point: str, missed: float) -> Problem:
    """Some of its windows cannot be used, and chance does not decide which."""
    return Problem(
        f"{printable(point)} is visited rarely, and {missed:.0%} of the experiments had too few visits: "
        "effects on it can be tens of per cent too large.",
        "use a point that is visited more often, or coz run --end-to-end with --fixed-line.",
    )


def load_left_out(arrival_speedup: int, problem: Problem) -> Problem:
    """One of several loads has no results. arrival_speedup: in nanoseconds."""
    return Problem(f"no line has a result {_load(arrival_speedup)}: {problem.text}", problem.hint)


def at_loads(arrival_speedups: Sequence[int], problem: Problem) -> Problem:
    """A warning that is not about all of several loads. arrival_speedups: in nanoseconds."""
    return problem._replace(text=f"{listed([_load(each) for each in arrival_speedups], 3)}: {problem.text}")


def _load(arrival_speedup: int) -> str:
    return f"with arrivals {duration(arrival_speedup)} earlier" if arrival_speedup else "at base load"


def nothing_estimated(experiments: int) -> Problem:
    """Experiments, but not one line with a baseline and a speedup."""
    return Problem(
        f"{count(experiments, 'experiment')}, but no line has both a baseline (speedup 0) and a speedup "
        "with visits to a progress point, so no effect can be computed.",
        "run longer; the same -o adds to the profile.",
    )


def only_baselines(experiments: int) -> Problem:
    """Nothing was ever sped up."""
    return Problem(
        f"{count(experiments, 'experiment')}, all at speedup 0, so there is no effect to compute.",
        "add a run with a speedup to the same profile, as by coz run --fixed-speedup 50 -o FILE.",
    )


def no_line_has_a_result() -> Problem:
    """But progress points have results on load."""
    return Problem(
        "no line has a result: the profile tells only how the program scales.",
        "measure lines, too, by coz amp --lines; where that was done, run longer.",
    )


def no_lines_to_compare() -> Problem:
    """Of two profiles, as of `coz amp` without --lines."""
    return Problem(
        "there is nothing to compare: neither profile has an effect of a line.",
        "coz report shows how each scales; coz amp --lines measures lines, too.",
    )


def nothing_matches(what: str, pattern: str, known: Sequence[str]) -> Problem:
    """A filter that leaves nothing."""
    return Problem(f"no {what} of the profile matches {pattern!r}.", f"it has: {listed(known, 8)}")


def nothing_in_common(programs: Sequence[str], has_lines: bool) -> Problem:
    """Two profiles of which no change can be told. programs: theirs, if these have different names.

    has_lines: they have lines in common, but none that matters.
    """
    names = " (A is of {}, B of {})".format(*map(printable, programs)) if programs else ""
    what = "nothing that the profiles have in common matters" if has_lines else NOTHING_IN_COMMON
    return Problem(
        f"{what}{names}: nothing can be said about a change.",
        "compare profiles of one program, before and after a change; files, functions and progress points "
        "must have kept their names.",
    )


def too_few_points(min_points: int, best: int, lines: int) -> Problem:
    """The --min-points filter leaves nothing."""
    return Problem(
        f"none of {count(lines, 'line')} has {count(min_points, 'different speedup')} or more "
        f"(the best has {best}).",
        f"see what there is with --min-points {max(best, 1)}, or run longer: the same -o adds to it.",
    )
