"""Names of what was sped up: FILE:LINE, FILE:FUNCTION, LINE < CALLER, a region's name, or a wait."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import overload

from cozcli.analysis.input.functions import short_function

#: Between a line and its caller, before the name of a region, and before the line or function that waits, for
#: something outside or for a lock.
CALLED_FROM, REGION, WAIT, LOCK = " < ", "region ", "wait ", "lock "
WAITING = (WAIT, LOCK)
#: Regions, and classes of waits, have names instead of paths.
NAMES = (REGION, f"{WAIT}(", f"{LOCK}(")
#: A caller that is not known.
OUT_OF_SCOPE = "?"
#: The colon between a file and a function.
_FILE_END = re.compile(r"(?<!:):(?!:)")
#: A function with a slash in its name.
_DIVISION = re.compile(r"(?<!:):(?!:)[^/]*\boperator/.*", re.DOTALL)


def common_directory(locations: Sequence[str]) -> str:
    """The directory, with its final slash, that all locations share; empty if only the root.

    Names instead of paths do not count.
    """
    paths = [waits_of(place)[1] for place in locations if not place.startswith(NAMES)]
    parts = {part for location in paths for part in location.split(CALLED_FROM)} - {OUT_OF_SCOPE}
    folders = {os.path.dirname(_DIVISION.sub("", part)) for part in parts}
    if not folders or not all(folder.startswith("/") for folder in folders):
        return ""
    shared = os.path.commonpath(folders)
    return shared + "/" if shared not in ("", "/") else ""


def shorten(location: str, prefix: str) -> str:
    """A location without the directory that all share."""
    kind, place = waits_of(location)
    return kind + CALLED_FROM.join(part.removeprefix(prefix) for part in place.split(CALLED_FROM))


def waits_of(location: str) -> tuple[str, str]:
    """Of a wait, `wait ` or `lock ` and where it is; of anything else, nothing and the location."""
    kind = next((each for each in WAITING if location.startswith(each)), "")
    return kind, location.removeprefix(kind)


def line_number(location: str) -> int:
    """The number at the end of a location; 0 if there is none."""
    place = place_of(location)
    return place[1] if place else 0


def place_of(location: str) -> tuple[str, int] | None:
    """Path and number of FILE:LINE; None of anything else."""
    path, _, number = location.rpartition(":")
    # No file has that many lines, and int() refuses other digits and very long numbers.
    is_line = path != "" and number.isascii() and number.isdigit() and len(number) < 9
    return (path, int(number)) if is_line else None


def matches_line(pattern: str, location: str, function: str) -> bool:
    """Does a user's pattern name this line?

    `%` stands for any text and must then cover the whole location. Without it a pattern names a line
    by the end of its path (`queue.cpp:10`, `src/queue.cpp:10`), a file (`queue.cpp`), or a function by the
    end of its name (`find`, `Cache::find`, `cache.cpp:find`). A call path is named by its line, or by both
    (`queue.cpp:10 < main.cpp:3`); a wait also without `wait`.
    """
    if "%" in pattern:
        expression = ".*".join(re.escape(part) for part in pattern.split("%"))
        return re.fullmatch(expression, location, re.DOTALL) is not None
    if function and pattern and pattern in (function, function.partition("(")[0]):
        return True
    if function and _is_end_of_name(short_function(function), pattern):
        return True
    kind, place = waits_of(location)
    wanted_kind, wanted = waits_of(pattern) if kind else ("", pattern)
    if wanted_kind not in ("", kind):
        return False
    own, *callers = place.split(CALLED_FROM)
    wanted_own, *wanted_callers = wanted.split(CALLED_FROM)
    if wanted_callers and not _each_ends_in(callers, wanted_callers):
        return False
    file = file_of(own, function)
    if any(_ends_in(name, wanted_own) for name in (own, file)):
        return True
    colons = [found.start() for found in _FILE_END.finditer(wanted_own)]
    return any(
        _ends_in(file, wanted_own[:at]) and _is_end_of_name(short_function(function), wanted_own[at + 1 :])
        for at in colons
    )


@overload
def point_named(wanted: str, known: Iterable[str]) -> str: ...
@overload
def point_named(wanted: str | None, known: Iterable[str]) -> str | None: ...
def point_named(wanted: str | None, known: Iterable[str]) -> str | None:
    """The progress point that a user's name means: this one, or the only location that ends in it, with or
    without parameters. A name that means none, or several, stays.
    """
    points = set(known)
    if not wanted or wanted in points:
        return wanted
    found = [name for name in points if name.startswith("/") and _is_end_of_location(name, wanted)]
    return found[0] if len(found) == 1 else wanted


def file_of(place: str, function: str) -> str:
    """The path of FILE:LINE or FILE:FUNCTION."""
    of_function = f":{function}"
    return place.removesuffix(of_function) if place.endswith(of_function) else place.rpartition(":")[0]


def _is_end_of_name(function: str, wanted: str) -> bool:
    """In whole names of functions and of what is around them."""
    name = wanted.replace("(anonymous namespace)::", "")
    names = (function, _without_arguments(function))
    return bool(name) and any(("::" + each).endswith("::" + name) for each in names)


def _without_arguments(function: str) -> str:
    """`ns::f` of `ns::f<int>`."""
    if not function.endswith(">") or "operator" in function:
        return function
    depth = 0
    for at in range(len(function) - 1, 0, -1):
        depth += (function[at] == ">") - (function[at] == "<")
        if depth == 0:
            return function[:at]
    return function


def _is_end_of_location(name: str, wanted: str) -> bool:
    file, _, function = name.partition(":")
    return _ends_in(name, wanted) or _ends_in(f"{file}:{short_function(function)}", wanted)


def _each_ends_in(paths: Sequence[str], ends: Sequence[str]) -> bool:
    return len(paths) == len(ends) and all(map(_ends_in, paths, ends))


def _ends_in(path: str, end: str) -> bool:
    """In whole names of folders and files."""
    return ("/" + path).endswith("/" + end.lstrip("/"))
