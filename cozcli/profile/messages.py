"""Texts about reading and merging profiles, and about profiles without experiments."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import count, listed, seconds


def profile_missing(path: str) -> Problem:
    """No such file."""
    return Problem(
        f"there is no profile {path}.",
        "make one with: coz run --- ./program arguments   (or name the file you have)",
    )


def profile_is_directory(path: str) -> Problem:
    """A directory instead of a file."""
    return Problem(f"{path} is a directory, not a profile.", f"name the file, for example {path}/profile.coz")


def profile_not_a_file(path: str) -> Problem:
    """A named pipe."""
    return Problem(f"{path} is not a regular file, so it was not read.", "name a file written by coz run.")


def profile_unreadable(path: str, reason: str) -> Problem:
    """The system refused."""
    return Problem(
        f"{path} cannot be read ({reason}).",
        "check its permissions; a profile written by root may need sudo or chown.",
    )


def profile_empty(path: str) -> Problem:
    """Zero bytes: the runtime never wrote its first record."""
    return Problem(
        f"{path} is an empty file: the run ended before the profiler started in the program, or what was "
        "written is lost.",
        "profile again; the last line of coz run says what went wrong.",
    )


def not_a_profile(path: str) -> Problem:
    """No recognizable record."""
    return Problem(
        f"{path} is not a coz profile: not one line of it is a record of any format that coz reads.",
        "name a file written by coz run -o FILE (default: profile.coz).",
    )


def first_record_cut(path: str) -> Problem:
    """The beginning of a record, and nothing else."""
    return Problem(
        f"{path} breaks off within its first record, so there is nothing in it to report.",
        "if it was copied, copy it again; else profile again.",
    )


def nothing_told(problem: Problem, cut: Sequence[str]) -> Problem:
    """Why there is no result of a profile that breaks off. cut: where it does."""
    if not cut:
        return problem
    return Problem(
        f"{problem.text} {listed(cut)}: the program was killed, or a part of the file is missing.",
        problem.hint,
    )


def companions_unknown(path: str, lost: int) -> Problem:
    """Records of targets are missing, with damaged lines."""
    return Problem(
        f"{path}: {count(lost, 'experiment')} left out, of which it is not known what was sped up: the "
        "records that name it are damaged.",
        "copy the profile again, or measure anew.",
    )


def run_starts_lost(path: str, number: int) -> Problem:
    """`run` records are missing or damaged."""
    return Problem(
        f"{path}: the record that begins {count(number, 'run')} is damaged or missing. Program, sampling "
        "period and number of cores are those of another run of the file; if it has none, the default "
        "period is assumed, and lack of cores is not noticed.",
        "copy the profile again, or measure anew.",
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


def merge_of_pipe(path: str) -> Problem:
    """An input can be read only once."""
    return Problem(f"{path} is a pipe, of which nothing can be merged.", "write it to a file first.")


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


def run_left_out(first: str, second: str) -> Problem:
    """Where profiles are pooled."""
    return Problem(f"a run in {second} is also in {first}; it counts once.")


def run_in_both(before: str, after: str) -> Problem:
    """Where profiles are compared."""
    return Problem(
        f"a run in {after} is also in {before}: what changed is shown too small, with wrong intervals.",
        "compare profiles that have no run in common: give each a file of its own (-o).",
    )


def runtime_not_started() -> Problem:
    """No `run` record at all."""
    return Problem(
        "no experiment: the profiler did not start in the program, perhaps because it replaced itself "
        "by another one (exec).",
        "profile the program that does the work, not one that starts it: coz run -b NAME --- …",
    )


def all_rejected(reasons: Sequence[str]) -> Problem:
    """Records there are, but none that can be believed."""
    return Problem(
        f"no experiment: {count(len(reasons), 'record')} left out for impossible values "
        f"({listed(reasons, 3)}), and no other holds one.",
        "profile again into a new file; this one was changed after it was written, or by another tool.",
    )


def converted_loads() -> Problem:
    """Runs under different loads in a form that knows no load."""
    return Problem(
        "the runs were measured under different loads; the classic form has no field for load, so that its "
        "readers mix them.",
        "profile one load into a file of its own.",
    )


def converted_companions() -> Problem:
    """Combined windows in a form that knows one target for each."""
    return Problem(
        "experiments also sped up other targets; the classic form does not record that, so that its "
        "readers take what that saved for noise.",
        "for them, measure by coz run --format classic, which speeds up one target at a time.",
    )


def ended_before_counting() -> Problem:
    """A run record and nothing after it."""
    return Problem(
        "no experiment: the program ended or was killed before the first one was finished.",
        "let it run longer: a few seconds at least, better a minute. If it becomes another program (exec), "
        "profile that one.",
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
        "FILE:LINE; or include coz.h and write COZ_PROGRESS; there. If processes that the program forks come "
        "to its points: coz run --tree.",
    )


def run_too_short(duration: int, runs: int = 1) -> Problem:
    """The program ended within the first window; if it ran several times, the longest run did."""
    if runs == 1:
        return Problem(
            f"no experiment: the program ended after {seconds(duration)}, too soon.",
            "give it more work, a few seconds at least, or run it many times with the same -o.",
        )
    return Problem(
        f"no experiment: the longest of {runs:,} runs ended after {seconds(duration)}, too soon.",
        "give the program more work, a few seconds at least, or let it repeat its work itself.",
    )


def nothing_chosen_ran(locations: Sequence[str], entered: Sequence[str]) -> Problem:
    """Lines, functions, regions or waits were chosen, and none of them was there to be measured."""
    if all(location.startswith(("wait ", "lock ")) for location in locations):
        places = [location.partition(" ")[2] for location in locations]
        return Problem(
            f"no experiment: no thread was seen to wait at {listed(places)}, and nothing else was selected.",
            "coz run --waits shows where threads wait. Waits at conditions and semaphores cannot be sped up: "
            "what the other thread does there can be.",
        )
    return Problem(
        f"no experiment: the run took no sample in {listed(locations)}, and nothing else was selected.",
        f"regions that the program entered: {listed(entered, 8) or 'none'}; a run without a choice shows "
        "where it spends its time.",
    )


def no_window_finished(duration: int, runs: int = 1) -> Problem:
    """Long enough, and yet no window was opened or finished. `duration`: of all runs."""
    return Problem(
        f"no experiment: no window was finished in {seconds(duration)}{_in_runs(runs)}.",
        "let it run longer; if that does not help, widen the scope with -s.",
    )


def windows_discarded(reason: str, number: int, visits: int, duration: int, runs: int = 1) -> Problem:
    """All windows of all runs were thrown away; `reason` is the most frequent one."""
    windows = count(number, "window")
    match reason:
        case "few_visits":
            return Problem(
                f"no experiment: {windows} held too few visits to a progress point ({visits} in "
                f"{seconds(duration)}{_in_runs(runs)}).",
                "put the progress point where it is passed more often, or let the program run longer.",
            )
        case "all_delay":
            return Problem(
                f"no experiment: {windows} without a visit{_in_runs(runs)}, since the selected line ran all "
                "the time, and its delays stopped all other threads.",
                "choose a smaller --fixed-speedup.",
            )
        case "shutdown":
            return Problem(
                f"no experiment: the program ended before a window was finished ({windows} broken off"
                f"{_in_runs(runs)}).",
                "let it run longer: a few seconds at least, better a minute.",
            )
        case "standstill":
            return Problem(
                f"no experiment: the program was stopped in {windows}{_in_runs(runs)}, as by Ctrl-Z.",
                "let it run without a stop.",
            )
        case _:
            return Problem(
                f"no experiment: {windows} thrown away{_in_runs(runs)} ({reason}).",
                "let the program run longer.",
            )


def _in_runs(runs: int) -> str:
    """Numbers are sums over several runs."""
    return f", in {runs:,} runs together" if runs > 1 else ""
