"""`coz run -l NAME`: a launcher, such as mpirun, starts `coz run` where its command names the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from cozcli.errors import CozError
from cozcli.launch import messages


def launcher_command(command: Sequence[str], name: str, own: Sequence[str]) -> list[str] | None:
    """The command in which coz, with the arguments `own`, stands before the program.

    name: the program's path as in the command, or its file's name.

    Returns:
        None if the command begins with the program: there is no launcher.

    Raises:
        CozError: no word names the program.
    """
    at = next((i for i, word in enumerate(command) if name in (word, os.path.basename(word))), None)
    if at is None:
        raise CozError(messages.job.no_program_of_launcher(name, command))
    if at == 0:
        return None
    return [*command[:at], *_self(), *own, "---", *command[at:]]


def _self() -> list[str]:
    """The words before the arguments with which this process was started."""
    return [sys.executable, *sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]]
