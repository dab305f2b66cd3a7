"""What `coz run` tells a user: why a program was not started, and how its run ended.

Like `cozcli.messages`, of which this is a part: what happened, what follows, what to do.
"""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import count, listed


def no_program(words: Sequence[str] = ()) -> Problem:
    """`coz run` with nothing to run; `words` are what stood there without a separator."""
    meant = " ".join(words) if words else "./program arguments"
    return Problem(
        "no program was given, so there is nothing to profile.",
        f"write it after three dashes: coz run --- {meant}",
    )


def program_not_found(name: str, here: bool = False) -> Problem:
    """Neither a file nor on PATH."""
    if here:
        return Problem(f"{name} is not on PATH, so it was not started.", f"did you mean ./{name}?")
    hint = "check the path." if "/" in name else "check the name, and PATH."
    return Problem(f"{name}: no such program, so nothing was started.", hint)


def program_is_directory(name: str) -> Problem:
    """A directory is not a program."""
    return Problem(f"{name} is a directory, not a program.", "name the executable in it.")


def not_executable(name: str) -> Problem:
    """No permission to execute."""
    return Problem(f"{name} may not be executed.", f"if it is the program: chmod +x {name}")


def program_unreadable(path: str, reason: str) -> Problem:
    """Execute permission without read permission."""
    return Problem(
        f"{path} cannot be read ({reason}), and without its debug information it cannot be profiled.",
        "make it readable.",
    )


def program_is_script(path: str, interpreter: str) -> Problem:
    """A script instead of a binary."""
    return Problem(
        f"{path} is a script (run by {interpreter or 'an interpreter'}): it has no lines that coz could "
        "speed up.",
        "profile the compiled program that the script starts: coz run --- ./program arguments",
    )


def not_elf(path: str) -> Problem:
    """Executable bit, but not an executable."""
    return Problem(f"{path} is not an ELF executable.", "name the compiled program.")


def wrong_architecture(path: str, machine: str, bits: int, here: str) -> Problem:
    """Built for another processor."""
    return Problem(
        f"{path} is a {bits}-bit {machine} program; coz here profiles 64-bit {here} programs.",
        f"compile it for {here}.",
    )


def static_binary(path: str) -> Problem:
    """No dynamic linker, no preloading."""
    return Problem(
        f"{path} is linked statically: the profiler's library cannot be loaded into it.",
        "link it without -static (Rust musl targets, Go: see docs/troubleshooting.md).",
    )


def privileged_binary(path: str) -> Problem:
    """setuid, setgid or capabilities."""
    return Problem(
        f"{path} is setuid, setgid or has file capabilities: the system does not load the profiler's "
        "library into it.",
        "profile a copy without them (cp makes one), as a user who may do what it does.",
    )


def no_debug_info(binary: str, noticed: Sequence[str] = ()) -> Problem:
    """No line table. `noticed`: what the helper had to say while it looked for debug information."""
    return Problem(
        " ".join(
            [f"{binary} has no debug information, so its lines are not known.", *map(_sentence, noticed)]
        ),
        "compile it with -g (and -O2: optimization stays on), do not strip it, or install its -dbg package.",
    )


def binary_left_out(binary: str, noticed: Sequence[str] = ()) -> Problem:
    """One of several binaries in scope has none."""
    text = f"{binary} is in the binary scope but has no debug information; its lines cannot be selected."
    return Problem(" ".join([text, *map(_sentence, noticed)]))


def debug_info_warning(binary: str, text: str) -> Problem:
    """Something that the helper noticed."""
    return Problem(f"{binary}: {text}")


def helper_failed(what: str, reason: str) -> Problem:
    """coz-linetable could not do its work."""
    return Problem(
        f"reading the lines of {what} failed: {reason.rstrip('.')}.",
        "check free space and permissions of the cache (XDG_CACHE_HOME, default ~/.cache).",
    )


def binary_scope_empty(patterns: Sequence[str], existing: Sequence[str]) -> Problem:
    """-b matches no loaded binary."""
    return Problem(
        f"no binary matches -b {listed(patterns)}, so there is nothing to profile.",
        f"% stands for any text, MAIN for the program. There are: {listed(existing, 8)}",
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


def source_scope_empty_yet(patterns: Sequence[str], later: Sequence[str]) -> Problem:
    """-s matches no source file of what is loaded at the start."""
    given = f"-s {listed(patterns)}" if patterns else "the default scope"
    return Problem(
        f"no source line that is there at the start matches {given}; until a library that has some is "
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


def module_out_of_scope(binary: str, patterns: Sequence[str]) -> Problem:
    """-s matches no source file of a library that was loaded later."""
    given = f"-s {listed(patterns)}" if patterns else "the default scope"
    return Problem(f"{binary} was loaded, but no source line of it matches {given}.")


def module_without_lines(binary: str, noticed: Sequence[str] = ()) -> Problem:
    """A library that was loaded later has no debug information."""
    text = f"{binary} was loaded, but has no debug information; its lines cannot be selected."
    return Problem(" ".join([text, *map(_sentence, noticed)]))


def module_left_out(problem: Problem) -> Problem:
    """No table could be made of a library that was loaded later."""
    return Problem(f"{problem.text} Nothing of it is profiled.", problem.hint)


def table_socket_failed(reason: str) -> Problem:
    """No socket, as where all descriptors are used."""
    return Problem(f"libraries that the program loads later are not profiled ({reason}).")


def source_scope_empty(patterns: Sequence[str], existing: Sequence[str]) -> Problem:
    """-s matches no source file."""
    given = f"-s {listed(patterns)}" if patterns else "the default scope"
    return Problem(
        f"no source line matches {given}, so there is nothing to profile.",
        f"choose source files with -s PATTERN, % stands for any text; there are: "
        f"{listed(existing, 8) or 'no source files at all'}",
    )


def line_not_found(line: str, nearest: Sequence[str], existing: Sequence[str]) -> Problem:
    """--fixed-line names no line with code."""
    if nearest:
        return Problem(f"there is no code on line {line}.", f"the nearest with code: {listed(nearest)}")
    return Problem(f"there is no line {line}.", f"files with code: {listed(existing, 8) or 'none'}")


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


def exec_failed(program: str, reason: str) -> Problem:
    """The system refused after all."""
    return Problem(f"{program} could not be started ({reason}).", "start it without coz to see why.")


def run_summary(experiments: int, lines: int, profile: str) -> str:
    """The last line of a successful run."""
    return (
        f"{count(experiments, 'experiment')} on {count(lines, 'line')} in {profile}; "
        f"see them with: coz report {profile}"
    )


def profile_incomplete(profile: str, reason: str) -> str:
    """The program has run, but the end of the profile could not be written or read."""
    return f"{profile} is not complete ({reason}); what it holds can be reported all the same."


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
