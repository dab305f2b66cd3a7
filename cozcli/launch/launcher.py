"""`coz run -l NAME`: a launcher, such as mpirun, starts `coz run` where its command names the program."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from cozcli.errors import CozError
from cozcli.launch import messages

#: Where `coz` is, from the folder of this package: in a checkout, and installed.
_COMMANDS = ("build/bin/coz", "../../bin/coz")


def launcher_command(command: Sequence[str], name: str, own: Sequence[str]) -> list[str] | None:
    """The command in which coz, with the arguments `own`, stands before the program.

    name: the first word that is the same is the program, or else the first one to an executable file of that
    name.

    Returns:
        None if the command begins with the program: there is no launcher.

    Raises:
        CozError: no word names the program.
    """
    if name in (command[0], os.path.basename(command[0])):
        return None
    places = [i for i, word in enumerate(command) if word == name]
    places += [i for i, word in enumerate(command) if os.path.basename(word) == name and shutil.which(word)]
    if not places:
        raise CozError(messages.job.no_program_of_launcher(name, command))
    at = places[0]
    return [*command[:at], *_self(), *own, "---", *command[at:]]


def _self() -> list[str]:
    """The command that starts coz."""
    root = Path(__file__).resolve().parents[2]
    for path in (Path(sys.argv[0]), *(root / each for each in _COMMANDS)):
        if path.name == "coz" and os.access(path, os.X_OK) and path.is_file():
            return [os.path.realpath(path)]
    # As this process was started, without its own arguments.
    return [sys.executable, *sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv) + 1]]
