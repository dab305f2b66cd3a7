"""Every text about a problem that a user can see: what happened, what follows, what to do.

Functions return a `Problem`; they are grouped by the stage at which the problem shows. Those of
`coz run`, before and around the program, are in `cozcli.launch.messages`.
"""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem

#: How many line numbers, files, … a message names before it says "and N more".
NAMED = 5


def printable(text: str) -> str:
    """Show control characters and lone surrogates as escapes: a profile may hold anything."""
    return "".join(c if c.isprintable() or c == " " else repr(c)[1:-1] for c in text)


def count(number: int, noun: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def seconds(nanoseconds: int) -> str:
    """A duration as a person would say it."""
    if nanoseconds < 1_000_000:
        return "less than 1 ms"
    if nanoseconds < 1_000_000_000:
        return f"{nanoseconds / 1e6:.0f} ms"
    if nanoseconds < 120_000_000_000:
        return f"{nanoseconds / 1e9:.1f} s"
    return f"{nanoseconds / 60e9:.1f} min"


def listed(items: Sequence[object], named: int = NAMED) -> str:
    """`a, b and 3 more`."""
    texts = [str(item) for item in items]
    if len(texts) <= named:
        return ", ".join(texts)
    return f"{', '.join(texts[:named])} and {len(texts) - named} more"


# The interpreter


def packages_missing(python: str, packages: Sequence[str]) -> Problem:
    """`coz report` and `coz plot` need more than Python itself."""
    debian = " ".join(f"python3-{name}" for name in packages)
    return Problem(
        f"the Python interpreter {python} lacks {', '.join(packages)}, which this command needs.",
        f"on Debian: apt-get install {debian}; or name an interpreter that has them: COZ_PYTHON=….",
    )


# Reading a profile


def profile_missing(path: str) -> Problem:
    """No such file."""
    return Problem(
        f"there is no profile {path}, so there is nothing to show.",
        "make one with: coz run --- ./program arguments   (or name the file you have)",
    )


def profile_is_directory(path: str) -> Problem:
    """A directory instead of a file."""
    return Problem(f"{path} is a directory, not a profile.", f"name the file, for example {path}/profile.coz")


def profile_unreadable(path: str, reason: str) -> Problem:
    """The system refused."""
    return Problem(
        f"{path} cannot be read ({reason}), so there is nothing to show.",
        "check its permissions; a profile written by root may need sudo or chown.",
    )


def profile_empty(path: str) -> Problem:
    """Zero bytes: the runtime never wrote its first record."""
    return Problem(
        f"{path} is empty: the profiler did not start in the program.",
        "run it again with coz run; its last line says what went wrong.",
    )


def not_a_profile(path: str) -> Problem:
    """No recognizable record."""
    return Problem(
        f"{path} is not a coz profile: not one line of it is a record of any format that coz reads.",
        "name a file written by coz run -o FILE (default: profile.coz).",
    )


def lines_skipped(path: str, numbers: Sequence[int]) -> Problem:
    """Garbage between the records."""
    return Problem(
        f"{path}: {count(len(numbers), 'line')} skipped that are not records "
        f"(line {listed(numbers)}); the rest was used.",
        "if two programs wrote to this file at once, profile them into files of their own.",
    )


def records_rejected(path: str, rejected: Sequence[tuple[int, str]]) -> Problem:
    """Records with impossible values."""
    shown = [f"{number}: {reason}" for number, reason in rejected]
    return Problem(
        f"{path}: {count(len(rejected), 'record')} left out for impossible values "
        f"(line {listed(shown, 3)}); the rest was used."
    )


def last_line_truncated(path: str, number: int) -> Problem:
    """The program was killed while it wrote."""
    return Problem(
        f"{path}: the last record (line {number}) is incomplete, as when a program is killed; "
        "all before it was used."
    )


def newer_format(version: int) -> Problem:
    """A later version of the tool wrote this."""
    return Problem(
        f"the profile has format version {version}, newer than this coz knows; what it does not know "
        "is ignored.",
        "use the version of coz that made it.",
    )


def several_programs(programs: Sequence[str]) -> Problem:
    """Pooled runs of different programs."""
    return Problem(
        f"the runs are of different programs ({listed(programs)}); lines with the same name are "
        "pooled as if they were one.",
        "report them apart, by giving each its own -o FILE.",
    )


def several_builds(program: str) -> Problem:
    """Pooled runs of different builds."""
    return Problem(
        f"the runs are of different builds of {program}; line numbers may have moved between them.",
        "remove the old profile before profiling a new build.",
    )


# Why there is no experiment


# Merging


def merge_into_input(output: str) -> Problem:
    """The output is one of the inputs."""
    return Problem(
        f"{output} is one of the profiles to be merged, and would be replaced.", "name another file with -o."
    )


def merge_over_other_file(output: str) -> Problem:
    """An existing file that is no profile."""
    return Problem(
        f"{output} exists and is not a coz profile, so it is not replaced.", "name another file with -o."
    )


def merged_twice(first: str, second: str) -> Problem:
    """One file under two names, or named twice."""
    return Problem(
        f"{first} and {second} are the same file; its experiments would count twice, and intervals become "
        "narrower than they are.",
        "name each profile once.",
    )


def run_twice(first: str, second: str) -> Problem:
    """A run that was copied or merged before."""
    return Problem(
        f"a run in {second} is also in {first}; its experiments would count twice, and intervals become "
        "narrower than they are.",
        "leave out one of the two, as when one was already merged from the other.",
    )


# Analysing


def no_baseline(locations: Sequence[str]) -> Problem:
    """Lines that were never measured at speedup 0."""
    return Problem(
        f"{count(len(locations), 'line')} left out for want of a baseline (speedup 0): {listed(locations)}.",
        "run longer, or run the same experiment once more with --fixed-speedup 0 into the same profile.",
    )


def false_load(arrival_speedup: int, lost: float) -> Problem:
    """A load level that was asked for, but not reached."""
    if lost >= 1:
        return Problem(
            f"results with --arrival-speedup {arrival_speedup}ns left out: no request arrived, so "
            "that load was not "
            "amplified.",
            "write COZ_ARRIVAL (or COZ_BEGIN) where a request arrives, or name the place: --arrival "
            "FILE:LINE",
        )
    return Problem(
        f"results with --arrival-speedup {arrival_speedup}ns left out: {lost:.0%} of it could not be "
        "done, because "
        "requests follow each other in a thread too closely; the load was another.",
        "use an --arrival-speedup well below the time between two requests; see docs/commands/amp.md.",
    )


def load_limited(limit: float) -> Problem:
    """More was taken off than the threads that requests arrive in wait."""
    busy = "waits for no more than" if limit > 0 else "hardly waits at all:"
    return Problem(
        f"the thread that requests arrive in {busy} {limit:.0%} of the time between two of them. At higher "
        "loads, some of its computing was taken off as well: if it serves the requests, the program can "
        "take no more than this load, and what is shown beyond is false; if it makes them, as a load "
        "generator in the program does, it holds.",
        "keep to lower loads, or mark arrivals in a thread that only receives or makes requests: "
        "docs/commands/amp.md.",
    )


def no_load_reached() -> Problem:
    """Load was to be amplified, and never was."""
    return Problem(
        "no load that was asked for was reached, and nothing else was measured; there is nothing to show.",
        "coz run says, as it ends, how often requests arrive, and why load was not amplified.",
    )


def clipped_windows(number: int, total: int) -> Problem:
    """Windows in which a delay could not be applied in full."""
    return Problem(
        f"{number:,} of {count(total, 'experiment')} left out: their delays could not be applied in full.",
    )


def unsettled_windows(number: int, total: int) -> Problem:
    """Windows which closed with delays still owed."""
    return Problem(
        f"in {number:,} of {count(total, 'experiment')} a thread still owed delays when it closed; they are "
        "used, but the effects may be off.",
        "threads that sleep or wait for input for long cause this; a longer run helps little.",
    )


def slow_machine(slow: int, total: int, withheld: int = 0) -> Problem:
    """Many windows were measured while something else slowed the processors.

    withheld: in how many of them a hypervisor gave the processors to somebody else.
    """
    text = (
        f"in {slow:,} of {count(total, 'experiment')} the machine was over 10 % slower than at its best; the "
        "effects are corrected for it, and such experiments count less."
    )
    if withheld:
        return Problem(
            text,
            f"in {withheld:,} the hypervisor gave the processors to other guests of the host: run at another "
            "time, or on a machine whose processors are its own; the intervals are narrower then.",
        )
    return Problem(
        text,
        "other programs, other guests of the same host, or threads of the program itself that share one core "
        "(hyper-threading) cause this; where they do not, the intervals are narrower.",
    )


def limited_by_load(point: str, certain: bool) -> Problem:
    """Visits keep their pace whatever is delayed."""
    text = f"visits to {printable(point)!r} came at the same pace per second, however much was delayed"
    if certain:
        return Problem(
            f"{text}: something outside the program sets it, and the effects shown there are not real.",
            "let the client send its next request when it has an answer, or send more than can be served; "
            "or look at latency points.",
        )
    return Problem(
        f"{text}, and the program waited part of the time: perhaps something outside sets the pace.",
        "where it waits for a client or a timer, the effects shown there are not real; where for a device "
        "that it has given work, they are.",
    )


def too_few_cores(share: float) -> Problem:
    """Threads were runnable, but waited for a processor."""
    return Problem(
        f"threads waited for a processor for {share:.0%} of the time that they had one; effects may "
        "be off by tens of points.",
        "use no more busy threads than cores, or more cores; other programs on the machine cause it, too.",
    )


def rare_samples(realised: float) -> Problem:
    """The timer came less often than the period says."""
    return Problem(
        f"the timer took {realised:.0%} of the samples that it should have: lines were sped up by that part "
        "only of what is shown, and effects are larger than they seem.",
        "allow perf events, which come as planned: sysctl kernel.perf_event_paranoid=2; or use a longer "
        "--period.",
    )


def curves_left_out(shown: int, total: int) -> str:
    """A picture of the most telling results only."""
    return f"{shown} of {total} curves drawn, the others rest on few data or rank lower; --top N draws more."


def standing_windows(number: int) -> Problem:
    """At a speedup near 100 % of a line that runs all the time, nothing else of the program moves."""
    return Problem(
        f"{count(number, 'window')} without a visit, since the selected line ran all the time, and its "
        "delays stopped all other threads; they do not count.",
        "such a line cannot be measured at 100 %; smaller speedups tell.",
    )


def nothing_estimated(experiments: int) -> Problem:
    """Experiments, but not one line with a baseline and a speedup."""
    return Problem(
        f"{count(experiments, 'experiment')}, but no line has both a baseline (speedup 0) and a speedup "
        "with visits to a progress point, so no effect can be computed.",
        "run longer; the same -o adds to the profile.",
    )


def condition_without_data(condition: str, unfit: int) -> Problem:
    """A condition for --fail-if that looked at nothing; a misspelt one must not pass unseen."""
    if unfit:
        return Problem(
            f"the condition {condition!r} is not judged: all that it means rests on few data or is limited "
            "by load. It counts as not fulfilled.",
            "run longer; the same -o FILE adds to the profile.",
        )
    return Problem(
        f"no line and progress point of the profile matches the condition {condition!r}, so it cannot hold.",
        "see what there is with: coz report   (a line that takes hardly any time is not in a profile)",
    )


def nothing_matches(what: str, pattern: str, known: Sequence[str]) -> Problem:
    """A filter that leaves nothing."""
    return Problem(f"no {what} of the profile matches {pattern!r}.", f"it has: {listed(known, 8)}")


def too_few_points(min_points: int, best: int, lines: int) -> Problem:
    """The --min-points filter leaves nothing."""
    return Problem(
        f"none of {count(lines, 'line')} has {count(min_points, 'different speedup')} or more "
        f"(the best has {best}).",
        f"see what there is with --min-points {max(best, 1)}, or run longer: the same -o adds to it.",
    )


# Writing


def unknown_picture_format(path: str) -> Problem:
    """A suffix which is not a picture's."""
    return Problem(
        f"cannot tell from the name {path!r} what kind of picture to write.",
        "end it in .png, .svg or .pdf",
    )


def nothing_to_draw() -> Problem:
    """Requests at one load, and no line: coz amp that was stopped early."""
    return Problem(
        "there is no curve to draw: no line was measured, and requests came at one load only.",
        "coz report shows what there is. coz amp, run longer, measures other loads.",
    )


def cannot_write(path: str, reason: str) -> Problem:
    """The system refused to write a file."""
    return Problem(f"{path} cannot be written ({reason}).", "choose another place with -o FILE.")


def output_of_another_user(path: str) -> Problem:
    """An output's name is taken by a stranger's file or link in a folder like /tmp."""
    return Problem(
        f"{path} belongs to another user, in a folder that everybody may write to: "
        "it is not followed or written.",
        "name another file with -o, in a folder of your own.",
    )
