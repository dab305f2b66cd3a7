"""Texts of `coz run` about its options, its output, and how the run ended."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import count, signal_name


def clock(seconds: float) -> str:
    """1:05, or 1:01:05."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def no_program(words: Sequence[str] = ()) -> Problem:
    """`coz run` with nothing to run; `words` are what stood there without a separator."""
    meant = " ".join(words) if words else "./program arguments"
    return Problem(
        "no program was given, so there is nothing to profile.",
        f"write it after three dashes: coz run --- {meant}",
    )


def part_of_end_to_end(option: str) -> Problem:
    """--stop-after or --warmup with --end-to-end."""
    return Problem(
        f"{option} profiles a part of the run, and --end-to-end makes the whole run one experiment, so "
        "nothing was started.",
        "leave one of them out.",
    )


def nothing_is_left(option: str) -> Problem:
    """--warmup for as long as the run, or longer."""
    return Problem(
        f"--warmup is not shorter than {option}: nothing would be measured, so nothing was started.",
        f"shorten --warmup, or lengthen {option}.",
    )


def never_certain() -> Problem:
    """--until with --fixed-speedup 0."""
    return Problem(
        "with --fixed-speedup 0 no effect is measured, so that --until would never be reached; nothing was "
        "started.",
        "leave one of them out, or say how long by --repeat or --duration.",
    )


def output_is_directory(name: str) -> Problem:
    """-o DIR."""
    return Problem(f"the output {name} is a directory.", f"name a file: -o {name.rstrip('/')}/profile.coz")


def output_not_a_file(name: str) -> Problem:
    """A device, pipe or socket."""
    return Problem(f"the output {name} is not a regular file.", "choose another with -o FILE.")


def output_not_a_profile(name: str) -> Problem:
    """Something precious, perhaps."""
    return Problem(
        f"the output {name} exists and is not a coz profile; nothing was written to it.",
        "choose another file with -o FILE, or remove it.",
    )


def output_in_use(name: str) -> Problem:
    """Another coz run has it open."""
    return Problem(
        f"another coz run is writing to {name}, and two at once would mix; nothing was started.",
        "choose another file with -o FILE, or wait for its end.",
    )


def output_of_other_form(name: str, form: str) -> Problem:
    """--format classic with a profile of ours."""
    return Problem(
        f"the output {name} holds runs in coz's own format, and --format {form} asks for another.",
        f"choose another file with -o FILE; coz convert writes {name} in that form.",
    )


def output_is_classic(name: str) -> Problem:
    """A classic profile, and no --format classic."""
    return Problem(
        f"the output {name} holds runs in the classic format, and this run would be in coz's own.",
        "choose another file with -o FILE, or add to this one with --format classic.",
    )


def not_converted(name: str, measured: str, form: str, reason: str) -> Problem:
    """The end of a run with --format classic."""
    return Problem(
        f"what was measured could not be added to {name} ({reason}); it is kept in {measured}.",
        f"coz report {measured} reads it; in the other form: coz convert --to {form} -o FILE {measured}",
    )


def appending(name: str) -> str:
    """Said in one line before a run adds to a profile."""
    return f"{name} holds earlier runs; this one is added to them."


def another_build(name: str, program: str) -> Problem:
    """Before a run adds to a profile."""
    return Problem(
        f"{name} holds runs of another build of {program}: line numbers may have moved.",
        f"stop this run and remove {name}, or name another file by -o: one profile would mix both builds.",
    )


def run_summary(experiments: int, lines: int, profile: str, few: bool = False) -> str:
    """The last line of a successful run; `lines` is 0 where only load was amplified.

    `few`: the profile will show hardly more than chance.
    """
    import shlex  # no program waits for it

    what = f"on {count(lines, 'line')}" if lines else "of load alone"
    command = f"coz report {shlex.quote(profile)}"
    return f"{count(experiments, 'experiment')} {what} in {profile}; see them with: {command}" + (
        "   (they are few: run longer, or again, which adds to the profile)" if few else ""
    )


def left_behind(running: int, processes: int) -> Problem:
    """The launched program has ended before processes that it forked."""
    others = "process that it forked was" if running == 1 else "processes that it forked were"
    return Problem(
        f"when the launched program ended, {running} {others} still running (of {processes} in all): the "
        "experiments ended there, and what was measured until then is kept.",
        "keep the program in the foreground until all its processes have ended; for a daemon use --forked.",
    )


def series_so_far(runs: int, spent: float, half: float | None, in_order: bool, until: float | None) -> str:
    """After one of several runs. `half`: the widest half interval of the leading lines, None if unknown."""
    text = f"{count(runs, 'run')}, {spent:.0f} s"
    if until is None:
        return text
    if half is None:
        return f"{text}; too few data to tell how certain the leading lines are"
    order = "" if in_order else ", and not in their order yet"
    return (
        f"{text}; effects of the leading lines are certain to ±{100 * half:.1f} points{order} (wanted: "
        f"±{100 * until:.1f})"
    )


def series_interrupted(runs: int) -> str:
    """Ctrl-C, or a signal to us."""
    return f"run {runs:,} was interrupted, so the program is not run again; what was measured is kept."


def series_broken_off(runs: int, status: int, signal: int) -> Problem:
    """A run that failed is the last one."""
    how = f"was ended by {signal_name(signal)}" if signal else f"ended with status {status}"
    return Problem(
        f"run {runs:,} {how}, which counts as a failure, so the program is not run again; what was measured "
        "is kept.",
        "run it without coz to see whether that happens, too."
        if signal
        else "if it is no failure, start the program from a shell that ends with 0: coz run -b NAME --- "
        "sh -c './NAME; true'",
    )


def series_not_started(problem: Problem) -> Problem:
    """A later run could not be started."""
    return Problem(f"{problem.text} The program is not run again; what was measured is kept.", problem.hint)


def series_unjudged(profile: str, goes_on: bool) -> Problem:
    """The analysis died again and again. `goes_on`: there is another goal."""
    goal = "from now on --repeat or --duration alone ends them"
    what = goal if goes_on else "the program is not run again"
    return Problem(
        f"the analysis that says when runs may end (--until) ended twice without an answer; {what}. What "
        "was measured is kept.",
        f"to see why: coz report {profile}",
    )


def series_fruitless(runs: int, spent: float, visits: int) -> Problem:
    """Further runs would bring nothing, either."""
    why = "" if visits else " or visited a progress point"
    return Problem(
        f"none of {runs:,} runs in {spent:.0f} s finished an experiment{why}; more of the same would hardly "
        "do so, and the program is not run again.",
        "the following says why, and what to do.",
    )


def with_doctor(problem: Problem, program: str) -> Problem:
    """After a run that came to nothing."""
    import shlex  # no program waits for it

    return Problem(problem.text, f"{problem.hint} Also: coz doctor {shlex.quote(program)}".strip())


def series_without_profile(profile: str, reason: str) -> Problem:
    """Between two runs."""
    return Problem(
        f"the program is not run again, since {profile} cannot be read any more ({reason}): perhaps the "
        "program has removed it.",
        "name a profile elsewhere: -o FILE.",
    )


def profile_incomplete(profile: str, reason: str) -> str:
    """The program has run, but the end of the profile could not be written or read."""
    return f"{profile} is not complete ({reason}); what it holds can be reported all the same."
