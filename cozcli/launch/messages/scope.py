"""Texts about debug information, and about the source files and binaries in scope."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import listed, starts_others

#: Programs that are run for the sake of what they start or load.
_INTERPRETER = (
    r"(ba|da|a|k|z|c|tc|fi)?sh|busybox|env|g?make|ninja|(python|perl|ruby|php|lua)[0-9.]*|node|java"
)

#: Programs that start another one in some way.
_LAUNCHER = (
    r"mpi(run|exec)(\..+)?|(orte|prte|s|ap|js)run|nice|nohup|setsid|stdbuf|time|timeout|taskset|chrt|numactl"
)

_WITH_DEBUG_INFO = "compile it with -g, or choose other binaries with -b."


def no_debug_info(binary: str, noticed: Sequence[str] = ()) -> Problem:
    """No line table. `noticed`: what the helper had to say while it looked for debug information."""
    text = _with(f"{binary} has no debug information, so its lines are not known.", noticed)
    if re.fullmatch(_INTERPRETER, binary.rpartition("/")[2]):
        return Problem(text, f"{starts_others(f'{binary} …')}; for a library that it loads: -b NAME.so")
    if re.fullmatch(_LAUNCHER, binary.rpartition("/")[2]):
        return Problem(text, f"name the program that it starts: coz run -l PROGRAM --- {binary} … PROGRAM …")
    return Problem(
        text,
        "compile it with -g (and -O2: optimization stays on), do not strip it, or install its -dbg "
        "package; without all that, coz run --granularity function measures whole functions.",
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
    return Problem(_with(text, noticed), _WITH_DEBUG_INFO)


def debug_info_warning(binary: str, text: str) -> Problem:
    """Something that the helper noticed."""
    return Problem(f"{binary}: {text}")


def helper_failed(what: str, reason: str) -> Problem:
    """coz-linetable could not do its work."""
    return Problem(
        f"reading the lines of {what} failed: {reason.rstrip('.')}.",
        "check free space and permissions of the cache (XDG_CACHE_HOME, default ~/.cache).",
    )


def no_cache_folder(what: str) -> Problem:
    """Neither HOME nor XDG_CACHE_HOME."""
    return Problem(
        f"the lines of {what} cannot be kept: neither HOME nor XDG_CACHE_HOME is set, so that there is no "
        "folder for them.",
        "set one of them to a folder of your own: XDG_CACHE_HOME=/var/tmp/me coz run …",
    )


def unreadable_debug_info(what: str, reason: str) -> Problem:
    """coz-linetable crashed, or came to its limits: the file is damaged, or made to do that."""
    return Problem(
        f"reading the lines of {what} failed: {reason.rstrip('.')}. Nothing else was harmed, since a "
        "process of its own reads them.",
        "compile it anew, or leave it out by naming others with -b. If you trust the file, please report it.",
    )


def binary_scope_empty(patterns: Sequence[str], existing: Sequence[str]) -> Problem:
    """-b matches no loaded binary."""
    return Problem(
        f"no binary matches -b {listed(patterns)}, so there is nothing to profile.",
        f"% stands for any text, MAIN for the program. There are: {listed(existing, 8)}. A program that "
        "this one starts is known to coz run only: name it itself, as in coz lines OTHER or coz doctor "
        "OTHER.",
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
        f"the program loaded no library that matches -b {listed(patterns)}, so none was profiled.",
        "% stands for any text, and a pattern must cover the whole path, as in -b '%/libfoo.so%'.",
    )


def source_scope_empty_yet(patterns: Sequence[str], later: Sequence[str], what: str) -> Problem:
    """-s matches no source file of what is loaded at the start."""
    given = f"-s {listed(patterns)}" if patterns else "the default scope"
    return Problem(
        f"no source {what} that is there at the start matches {given}; until a library that has some is "
        f"loaded (-b {listed(later)}), nothing is profiled.",
        "if none has: choose source files with -s PATTERN (% stands for any text); coz lines lists them.",
    )


def module_out_of_scope(binary: str, patterns: Sequence[str], what: str) -> Problem:
    """-s matches no source file of a library that was loaded later."""
    given = f"-s {listed(patterns)}" if patterns else "the default scope"
    return Problem(
        f"{binary} was loaded, but no source {what} of it matches {given}, so nothing of it is profiled.",
        "add its source files with -s PATTERN, % stands for any text.",
    )


def module_without_lines(binary: str, functions: bool, noticed: Sequence[str] = ()) -> Problem:
    """A library that was loaded later has no debug information."""
    text = f"{binary} was loaded, but has no debug information; its lines cannot be selected."
    if functions:
        text = f"{binary} was loaded, but none of its functions is known; it is left out."
    return Problem(_with(text, noticed), _WITH_DEBUG_INFO)


def module_left_out(problem: Problem) -> Problem:
    """No table could be made of a library that was loaded later."""
    return Problem(f"{problem.text} Nothing of it is profiled.", problem.hint)


def table_socket_failed(reason: str) -> Problem:
    """No socket, as where all descriptors are used."""
    return Problem(
        f"no socket could be made ({reason}), so libraries that the program loads later are not profiled.",
        "allow more open files: ulimit -n 65536",
    )


def source_scope_empty(patterns: Sequence[str], existing: Sequence[str], what: str = "line") -> Problem:
    """-s matches no source file."""
    given = f"-s {listed(patterns)}" if patterns else "the default scope"
    return Problem(
        f"no source {what} matches {given}, so there is nothing to profile.",
        "choose source files with -s PATTERN, % stands for any text; there are: "
        f"{listed(existing, 8) or 'no source files at all'}",
    )


def _with(text: str, noticed: Sequence[str]) -> str:
    return " ".join([text, *map(_sentence, noticed)])


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
