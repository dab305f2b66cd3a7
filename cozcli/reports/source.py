"""The source text of the leading lines, where it can be read on this machine.

A profile may come from anyone, and name any file: only ordinary files with the names of source files are
opened, and nothing of them is shown but a few lines, with control characters as escapes.
"""

from __future__ import annotations

import itertools
import os
import re
import stat
from dataclasses import dataclass
from typing import ClassVar

from cozcli.analysis.result import Analysis
from cozcli.messages import printable
from cozcli.reports.base import CALLED_FROM

#: Of how many lines, and how many others around each.
MAX_EXCERPTS, AROUND = 3, 2
#: Nobody writes source files so large, and a report must not take long.
MAX_BYTES = 64 << 20
TAB = 4
#: Ends of names of source files of compiled languages.
SUFFIXES = re.compile(
    r"\.(c|cc|cpp|cxx|c\+\+|cp|h|hh|hpp|hxx|h\+\+|inc|inl|ipp|tcc|tpp|txx|def|i|ii|m|mm|cu|cuh|s|asm|y|l|yy|ll"
    r"|rs|go|zig|d|nim|swift|f|for|f77|f90|f95|f03|f08|ads|adb|pas|ml|hs|cr|odin|v|vala)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Excerpt:
    """Lines of a file around one of them. `newer`: the file was changed after the profile was made."""

    #: Columns of a line shown where the terminal does not say how many there are.
    MAX_WIDTH: ClassVar[int] = 140

    location: str
    number: int
    lines: tuple[tuple[int, str], ...]
    newer: bool


def excerpts(analysis: Analysis) -> list[Excerpt]:
    """Of the first lines by rank whose effect is certain, each once, as far as they can be read."""
    made = max((run.time for run in analysis.runs), default=0)
    locations = dict.fromkeys(
        result.location.partition(CALLED_FROM)[0]
        for result in analysis.results
        if result.significant and result.is_trusted
    )
    found = (read_excerpt(location, made) for location in itertools.islice(locations, MAX_EXCERPTS))
    return [excerpt for excerpt in found if excerpt is not None]


def read_excerpt(location: str, made: int = 0) -> Excerpt | None:
    """The lines around FILE:LINE; None if there is no such line, or no source file to be read.

    `made`: when the profile was, in nanoseconds since 1970; 0 if that is not known.
    """
    path, _, digits = location.rpartition(":")
    if not (path.startswith("/") and digits.isascii() and digits.isdigit() and len(digits) < 9):
        return None
    if not SUFFIXES.fullmatch(os.path.splitext(path)[1]):
        return None
    number = int(digits)
    first = max(number - AROUND, 1)
    try:
        # Without waiting for a writer, should it be a pipe after all.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with os.fdopen(handle, encoding="utf-8", errors="replace", newline="\n") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
                return None
            wanted = list(itertools.islice(stream, first - 1, number + AROUND))
    except (OSError, ValueError):
        return None
    lines = tuple(
        (first + index, printable(text.rstrip("\r\n").expandtabs(TAB))) for index, text in enumerate(wanted)
    )
    if not any(found == number for found, _ in lines):
        return None
    return Excerpt(location, number, lines, 0 < made < status.st_mtime_ns)
