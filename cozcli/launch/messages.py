"""What `coz run` tells a user: why a program was not started, and how its run ended.

Like `cozcli.messages`, of which this is a part: what happened, what follows, what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cozcli.errors import Problem
from cozcli.messages import count, listed

if TYPE_CHECKING:
    from cozcli.launch.repetition import Precision

if TYPE_CHECKING:
    from cozcli.launch.fixed_targets import Missing


def clock(seconds: float) -> str:
    """1:05, or 1:01:05."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def stop_after_end_to_end() -> Problem:
    """--stop-after with --end-to-end."""
    return Problem(
        "--stop-after ends the profiling before the program, and --end-to-end makes its whole run one "
        "experiment, so nothing was started.",
        "leave one of them out.",
    )


def no_program(words: Sequence[str] = ()) -> Problem:
    """`coz run` with nothing to run; `words` are what stood there without a separator."""
    meant = " ".join(words) if words else "./program arguments"
    return Problem(
        "no program was given, so there is nothing to profile.",
        f"write it after three dashes: coz run --- {meant}",
    )


def lines_of_what(words: Sequence[str]) -> Problem:
    """`coz lines` with no program, or with several words that may be one."""
    if not words:
        return Problem("no program was given, so there is nothing to list.", "coz lines ./program")
    return Problem(
        f"one program was expected, not {' '.join(words)}.",
        f"leave its arguments out: coz lines {words[0]}",
    )


def no_line_matches(granularity: str, pattern: str) -> Problem:
    """`coz lines --line` with nothing to show."""
    return Problem(
        f"no {granularity} in scope matches {pattern!r}.",
        "see all with coz lines without --line; widen the scope with -s or -b.",
    )


def no_debug_info(binary: str, noticed: Sequence[str] = ()) -> Problem:
    """No line table. `noticed`: what the helper had to say while it looked for debug information."""
    return Problem(
        _with(f"{binary} has no debug information, so its lines are not known.", noticed),
        "compile it with -g (and -O2: optimization stays on), do not strip it, or install its -dbg package; "
        "without all that, coz run --granularity function measures whole functions.",
    )


def no_functions(binary: str, noticed: Sequence[str] = ()) -> Problem:
    """Not even by symbols or the unwind table."""
    return Problem(
        _with(
            f"{binary} has neither debug information nor symbols nor an unwind table, so its functions are "
            "not known.",
            noticed,
        ),
        "compile it with -g, or at least do not strip it of everything.",
    )


def binary_left_out(binary: str, functions: bool, noticed: Sequence[str] = ()) -> Problem:
    """One of several binaries in scope has none."""
    text = f"{binary} is in the binary scope but has no debug information; its lines cannot be selected."
    if functions:
        text = f"{binary} is in the binary scope but none of its functions is known; it is left out."
    return Problem(_with(text, noticed))


def debug_info_warning(binary: str, text: str) -> Problem:
    """Something that the helper noticed."""
    return Problem(f"{binary}: {text}")


def helper_failed(what: str, reason: str) -> Problem:
    """coz-linetable could not do its work."""
    return Problem(
        f"reading the lines of {what} failed: {reason.rstrip('.')}.",
        "check free space and permissions of the cache (XDG_CACHE_HOME, default ~/.cache).",
    )


def unreadable_debug_info(what: str, reason: str) -> Problem:
    """coz-linetable crashed, or came to its limits: the file is damaged, or made to do that."""
    return Problem(
        f"reading the lines of {what} failed: {reason.rstrip('.')}. "
        "Nothing else was harmed: it is a process of its own.",
        "compile it anew; or leave it out, by naming others with -b. "
        "Of a file that you trust, please report it.",
    )


def binary_scope_empty(patterns: Sequence[str], existing: Sequence[str]) -> Problem:
    """-b matches no loaded binary."""
    return Problem(
        f"no binary matches -b {listed(patterns)}, so there is nothing to profile.",
        f"% stands for any text, MAIN for the program. There are: {listed(existing, 8)}. Of what the program "
        "starts, coz run alone knows: name that itself here, as in coz lines OTHER or coz doctor OTHER.",
    )


def binary_scope_empty_yet(patterns: Sequence[str], existing: Sequence[str]) -> Problem:
    """-b matches nothing that is loaded at the start, but perhaps what comes later."""
    return Problem(
        f"nothing that is loaded at the start matches -b {listed(patterns)}; until a library that does is "
        "loaded, nothing is profiled.",
        f"if none is: % stands for any text, MAIN for the program. There are: {listed(existing, 8)}",
    )


def binary_scope_stayed_empty(patterns: Sequence[str]) -> Problem:
    """No library that came later did either."""
    return Problem(
        f"the program loaded no library that matches -b {listed(patterns)}.",
        "% stands for any text, and a pattern must cover the whole path, as in -b '%/libfoo.so%'.",
    )


def source_scope_empty_yet(patterns: Sequence[str], later: Sequence[str], what: str) -> Problem:
    """-s matches no source file of what is loaded at the start."""
    given = f"-s {listed(patterns)}" if patterns else "the default scope"
    return Problem(
        f"no source {what} that is there at the start matches {given}; until a library that has some is "
        f"loaded (-b {listed(later)}), nothing is profiled."
    )


def line_not_found_yet(line: str, later: Sequence[str]) -> Problem:
    """--fixed-line names no line of what is loaded at the start."""
    return Problem(
        f"there is no line {line} at the start; it is selected once a library that has it is loaded "
        f"(-b {listed(later)})."
    )


def line_never_came(line: str, nearest: Sequence[str]) -> Problem:
    """No library that was loaded later had it either."""
    hint = f"the nearest with code: {listed(nearest)}" if nearest else ""
    return Problem(f"no library that was loaded had a line {line}, so nothing was sped up.", hint)


def module_out_of_scope(binary: str, patterns: Sequence[str], what: str) -> Problem:
    """-s matches no source file of a library that was loaded later."""
    given = f"-s {listed(patterns)}" if patterns else "the default scope"
    return Problem(f"{binary} was loaded, but no source {what} of it matches {given}.")


def module_without_lines(binary: str, functions: bool, noticed: Sequence[str] = ()) -> Problem:
    """A library that was loaded later has no debug information."""
    text = f"{binary} was loaded, but has no debug information; its lines cannot be selected."
    if functions:
        text = f"{binary} was loaded, but none of its functions is known; it is left out."
    return Problem(_with(text, noticed))


def module_left_out(problem: Problem) -> Problem:
    """No table could be made of a library that was loaded later."""
    return Problem(f"{problem.text} Nothing of it is profiled.", problem.hint)


def table_socket_failed(reason: str) -> Problem:
    """No socket, as where all descriptors are used."""
    return Problem(f"libraries that the program loads later are not profiled ({reason}).")


def source_scope_empty(patterns: Sequence[str], existing: Sequence[str], what: str = "line") -> Problem:
    """-s matches no source file."""
    given = f"-s {listed(patterns)}" if patterns else "the default scope"
    return Problem(
        f"no source {what} matches {given}, so there is nothing to profile.",
        f"choose source files with -s PATTERN, % stands for any text; there are: "
        f"{listed(existing, 8) or 'no source files at all'}",
    )


def fixed_not_found(missing: Sequence[Missing], existing: Sequence[str]) -> Problem:
    """Names of lines that have no code, or of functions that there are not."""
    is_line = missing[0].wanted.kind == "line"
    what = "line" if is_line else "function"
    if len(missing) == 1:
        ((wanted, nearest),) = missing
        name = f"{what} {wanted.text}" + (f" ({wanted.origin})" if wanted.origin else "")
        if nearest:
            text = f"there is no code on {name}." if is_line else f"there is no {name}."
            return Problem(text, f"the nearest with code: {listed(nearest, 8)}")
        text = f"there is no {name}."
    else:
        text = f"{len(missing)} of the {what}s that were chosen are not there: "
        text += "; ".join(_missing_with_nearest(one) for one in missing) + "."
    if is_line:
        return Problem(
            text, f"files with code: {listed(existing, 8) or 'none'}; coz lines lists their lines."
        )
    return Problem(text, "coz lines --granularity function lists what there is.")


def _missing_with_nearest(missing: Missing) -> str:
    notes = [missing.wanted.origin] if missing.wanted.origin else []
    notes += [f"nearest: {listed(missing.nearest)}"] if missing.nearest else ["nothing near"]
    return f"{missing.wanted.text} ({'; '.join(notes)})"


def fixed_out_of_scope(locations: Sequence[str]) -> Problem:
    """Chosen, but samples there are those of their callers."""
    is_or_are = "is" if len(locations) == 1 else "are"
    return Problem(
        f"{listed(locations, 8)} {is_or_are} out of scope: what is sampled there counts for its caller.",
        "add the file to the scope with -s, beside the program's own files if they are to stay in it.",
    )


def fixed_needs_granularity(option: str, granularity: str) -> Problem:
    """--fixed-line with functions, --fixed-function with lines."""
    if option == "--fixed-function":
        return Problem(
            f"--fixed-function chooses functions, but experiments are on {granularity}s.",
            "add --granularity function.",
        )
    return Problem(
        f"{option} chooses lines, but experiments are on functions.",
        "choose a function with --fixed-function NAME, or leave out --granularity function.",
    )


def too_many_fixed(number: int) -> Problem:
    """They are handed over in one variable of the environment."""
    return Problem(
        f"{number:,} chosen lines are more than can be handed to the program.",
        "choose whole files with -s, or fewer lines.",
    )


def fixed_lines_unreadable(name: str, reason: str) -> Problem:
    """--fixed-lines FILE."""
    return Problem(f"{name} cannot be read ({reason}), so no lines were chosen.", "check the name.")


def fixed_lines_odd(name: str, odd: Sequence[tuple[int, str]]) -> Problem:
    """Lines of the file that are no FILE:LINE."""
    texts = "; ".join(f"line {number} is {text!r}" for number, text in odd[:8])
    more = f"; and {len(odd) - 8} more" if len(odd) > 8 else ""
    return Problem(
        f"{name} has lines that are not FILE:LINE: {texts}{more}.",
        "write one a line, as in queue.cpp:10; # begins a comment. coz lines prints such lines.",
    )


def fixed_lines_empty(name: str) -> Problem:
    """Nothing but comments."""
    return Problem(f"{name} lists no line.", "write one a line, as in queue.cpp:10.")


def never_sampled(locations: Sequence[str]) -> Problem:
    """Chosen and there, but the program spent no time in them."""
    return Problem(
        f"no sample was taken in {listed(locations, 8)}: no time is spent there in this run, or it was too "
        "short to say."
    )


def never_entered(names: Sequence[str], entered: Sequence[str]) -> Problem:
    """--fixed-region with a name that the program never used."""
    regions = "region" if len(names) == 1 else "regions"
    return Problem(
        f"the program never entered the {regions} {listed(names, 8)}, so nothing was measured there.",
        f"regions that it entered: {listed(entered, 8) or 'none'}",
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


def appending(name: str) -> str:
    """Said in one line before a run adds to a profile."""
    return f"{name} holds earlier runs; this one is added to them."


def runtime_missing(place: str) -> Problem:
    """Not built."""
    return Problem(
        f"libcoz.so and coz-linetable were not found (looked in {place} and above).",
        "build them with make in the checkout, or install coz.",
    )


def library_path_unusable(path: str) -> Problem:
    """LD_PRELOAD has no quoting."""
    return Problem(
        f"{path} cannot be preloaded: the dynamic linker splits such paths at spaces and colons.",
        "move or install coz to a directory without them.",
    )


def run_summary(experiments: int, lines: int, profile: str, few: bool = False) -> str:
    """The last line of a successful run; `lines` is 0 where only load was amplified.

    `few`: the profile will show hardly more than chance.
    """
    what = f"on {count(lines, 'line')}" if lines else "of load alone"
    return f"{count(experiments, 'experiment')} {what} in {profile}; see them with: coz report {profile}" + (
        "   (they are few: run longer, or again, which adds to the profile)" if few else ""
    )


def series_so_far(runs: int, spent: float, precision: Precision | None, until: float | None) -> str:
    """After one of several runs."""
    text = f"{count(runs, 'run')}, {spent:.0f} s"
    if precision is None or until is None:
        return text
    if precision.half is None:
        return f"{text}; too few data to tell how certain the leading lines are"
    return (
        f"{text}; slopes of the leading lines are certain to ±{100 * precision.half:.1f} points "
        f"(wanted: ±{100 * until:.1f})"
    )


def series_broken_off(runs: int, status: int, signal: int) -> str:
    """A run that failed, or was interrupted, is the last one."""
    how = (
        f"ended by signal {signal}"
        if signal
        else f"ended with status {status}"
        if status
        else "was interrupted"
    )
    return f"run {runs} {how}; there is no other"


def with_doctor(problem: Problem, program: str) -> Problem:
    """After a run that came to nothing."""
    return Problem(problem.text, f"{problem.hint} Also: coz doctor {program}".strip())


def profile_incomplete(profile: str, reason: str) -> str:
    """The program has run, but the end of the profile could not be written or read."""
    return f"{profile} is not complete ({reason}); what it holds can be reported all the same."


def _with(text: str, noticed: Sequence[str]) -> str:
    return " ".join([text, *map(_sentence, noticed)])


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
