"""What experiments are to be on, where the user chose it: lines, functions, regions."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cozcli.errors import CozError
from cozcli.launch import messages

#: The runtime cuts names of regions at this.
LONGEST_REGION = 127


class FixedTarget(NamedTuple):
    """A target as the profile names it. `kind` is line, function or region."""

    kind: str
    name: str

    @property
    def location(self) -> str:
        """As in results; those of lines under a caller begin with it."""
        return f"region {self.name[:LONGEST_REGION]}" if self.kind == "region" else self.name


class Wanted(NamedTuple):
    """A line or function as the user wrote it; `origin` says where, if not on the command line."""

    kind: str
    text: str
    origin: str = ""


class Missing(NamedTuple):
    """A wanted line or function that there is not, and what comes nearest."""

    wanted: Wanted
    nearest: Sequence[str] = ()


def is_line(text: str) -> bool:
    """Is it FILE:LINE?"""
    return re.fullmatch(r"[^\n\t]+:0*[1-9][0-9]{0,8}", text) is not None


def read_fixed_lines(name: str) -> list[Wanted]:
    """The lines that a file lists: FILE:LINE, one a line.

    What follows a tab, or `#` at the start or after a space, is ignored, so that the file may be what
    `coz lines` printed.

    Raises:
        CozError: the file cannot be read, lists nothing, or holds something else; with the numbers of
            all such lines.
    """
    try:
        text = os.fsdecode(Path(name).read_bytes())
    except OSError as error:
        raise CozError(messages.fixed_lines_unreadable(name, error.strerror or str(error))) from None
    wanted: list[Wanted] = []
    odd: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        entry = re.sub(r"(^|\s)#.*", "", line.partition("\t")[0]).strip()
        if is_line(entry):
            wanted.append(Wanted("line", entry, f"{name}, line {number}"))
        elif entry:
            odd.append((number, entry))
    if odd:
        raise CozError(messages.fixed_lines_odd(name, odd))
    if not wanted:
        raise CozError(messages.fixed_lines_empty(name))
    return wanted
