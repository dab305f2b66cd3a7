"""The file of --fixed-lines."""

from __future__ import annotations

import os
import re
from pathlib import Path

from cozcli.errors import CozError, reason_of
from cozcli.launch import messages
from cozcli.launch.fixed_targets import Wanted, is_line


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
        raise CozError(messages.targets.fixed_lines_unreadable(name, reason_of(error))) from None
    wanted: list[Wanted] = []
    invalid: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        entry = re.sub(r"(^|\s)#.*", "", line.partition("\t")[0]).strip()
        if is_line(entry):
            wanted.append(Wanted("line", entry, f"{name}, line {number}"))
        elif entry:
            invalid.append((number, entry))
    if invalid:
        raise CozError(messages.targets.fixed_lines_invalid(name, invalid))
    if not wanted:
        raise CozError(messages.targets.fixed_lines_empty(name))
    return wanted
