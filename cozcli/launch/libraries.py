"""The libraries that a program loads at its start, those of LD_PRELOAD too, as the dynamic loader lists them
without running the program.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from cozcli.errors import Problem, reason_of
from cozcli.launch import messages
from cozcli.launch.elf import dynamic_tags, read_elf

#: Where systems have their loaders. A program may name any other file as its loader, which is not run.
_LOADERS = re.compile(r"/(usr/)?lib(32|64|x32)?/([a-z0-9_]+-linux-[a-z0-9]+/)?ld-(linux|musl)[a-z0-9_.-]*")
#: DT_AUDIT and DT_DEPAUDIT: libraries that the loader runs even where it is only to make a list.
_RUN_BY_LOADER = frozenset((0x6FFFFEFC, 0x6FFFFEFB))
#: Seconds that a list may take; usual are some milliseconds.
PATIENCE = 20.0


class Libraries(NamedTuple):
    """Real paths, in the loader's order, and why there are none, or less than all."""

    paths: list[str]
    problems: list[Problem]


def loaded_libraries(program: Path, interpreter: str) -> Libraries:
    """Ask the loader that the program names (`interpreter`), if that runs nothing of the program's choice."""
    if not is_known_loader(interpreter):
        return Libraries([], [messages.libraries.unknown_loader(str(program), interpreter)])
    tags = dynamic_tags(program)
    if tags is None or tags & _RUN_BY_LOADER:
        return Libraries([], [messages.libraries.loader_not_asked(str(program), tags is None)])
    try:
        answer = subprocess.run(
            [interpreter, "--list", str(program)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
    except OSError as error:
        reason = reason_of(error)
        return Libraries([], [messages.libraries.libraries_unknown(str(program), interpreter, reason)])
    except subprocess.TimeoutExpired:
        reason = f"no answer within {PATIENCE:.0f} s"
        return Libraries([], [messages.libraries.libraries_unknown(str(program), interpreter, reason)])
    found: dict[str, None] = {}
    for line in answer.stdout.decode(errors="surrogateescape").splitlines():
        # One that was linked by a relative path has that path; the vDSO has none.
        match = re.match(r"\s*(?:.* => )?(.*/.*) \(0x[0-9a-f]+\)$", line)
        if match:
            found[os.path.realpath(match[1])] = None
    return Libraries([path for path in found if path != os.path.realpath(interpreter)], [])


def is_known_loader(interpreter: str) -> bool:
    """Is it where systems have theirs, or that of programs which are trusted already: Python, the shell?"""
    if _LOADERS.fullmatch(interpreter):
        return True
    for trusted in (sys.executable, "/bin/sh"):
        with contextlib.suppress(OSError):
            elf = read_elf(Path(trusted))
            if elf is not None and elf.interpreter == interpreter:
                return True
    return False
