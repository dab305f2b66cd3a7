"""Source lines around the lines of a profile, to be shown beside their results.

A profile is hostile input, and pages are passed on: a made-up profile must not bring private files into a
page. Only regular files with the suffix of a source file are read, and only text.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cozcli.analysis.input.locations import CALLED_FROM, LOCK, WAIT, place_of

#: Lines shown before and after a line; characters of a line; bytes of a file; characters of all excerpts.
AROUND, MAX_LENGTH, MAX_BYTES, MAX_TEXT = 7, 240, 16_000_000, 200_000
_NAMES = (
    "c cc cpp cxx c++ cp h hh hpp hxx h++ inc inl ipp tcc tpp txx def i ii m mm cu cuh cl s asm rs go d f "
    "for f77 f90 f95 f03 f08 adb ads pas pp zig nim swift v vala ml hs cr odin ispc l y ll yy"
)
SUFFIXES = frozenset(f".{name}" for name in _NAMES.split(" "))


def read_sources(locations: Iterable[str], newest_runs: Sequence[int]) -> dict[str, dict[str, Any]]:
    """By path, `{"changed": [bool of each profile], "parts": {"first line": [lines]}}`.

    Files that are not there, or that cannot be read, are left out: the page then shows none. The first
    locations come first, until there is enough text.

    Args:
        newest_runs: when the last run of each profile began, in nanoseconds since 1970, 0 if unknown: of
            files that were written later, lines may have moved.
    """
    wanted: dict[str, set[int]] = {}
    for location in locations:
        own = location.partition(CALLED_FROM)[0].removeprefix(WAIT).removeprefix(LOCK)
        if place := place_of(own):
            wanted.setdefault(place[0], set()).add(place[1])
    room = MAX_TEXT
    sources: dict[str, dict[str, Any]] = {}
    for path, numbers in wanted.items():
        found = read_source(path)
        if found is None:
            continue
        lines, written = found
        parts = _parts(lines, numbers)
        room -= sum(len(line) + 3 for part in parts.values() for line in part)
        if room < 0:
            break
        if parts:
            changed = [0 < newest < written for newest in newest_runs]
            sources[path] = {"changed": changed, "parts": parts}
    return sources


def read_source(path: str) -> tuple[list[str], int] | None:
    """The lines of a source file, and when it was written; None if it is none that may be read."""
    try:
        # What a link points to must be source, too; and a pipe must not make us wait.
        real = os.path.realpath(path)
        if not path.startswith("/") or not _is_source(path) or not _is_source(real):
            return None
        with open(os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
                return None
            content = file.read(MAX_BYTES)
    except (OSError, ValueError):
        return None
    if b"\0" in content:
        return None
    lines = content.removesuffix(b"\n").decode("utf-8", errors="replace").split("\n")
    return lines, status.st_mtime_ns


def _is_source(path: str) -> bool:
    return os.path.splitext(path)[1].lower() in SUFFIXES


def _parts(lines: list[str], numbers: set[int]) -> dict[str, list[str]]:
    """Runs of lines around the numbers; those that touch are one."""
    parts: dict[str, list[str]] = {}
    for first, last in _ranges(sorted(n for n in numbers if n <= len(lines))):
        parts[str(first)] = [line.rstrip("\r")[:MAX_LENGTH] for line in lines[first - 1 : last]]
    return parts


def _ranges(numbers: list[int]) -> Iterator[tuple[int, int]]:
    first = last = 0
    for number in numbers:
        if last and number - AROUND > last + 1:
            yield first, last
            first = 0
        first = first or max(number - AROUND, 1)
        last = number + AROUND
    if last:
        yield first, last
