"""`coz` as a user calls it, in a fork of the test's process: which has imported already what commands need.

A new Python would take most of the time of most commands to import numpy, and matplotlib above all.
"""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

import cozcli
from cozcli.cli import main

#: All of whose modules are imported beforehand: those of `coz run` are quick to import.
_PACKAGES = ("cozcli.analysis", "cozcli.commands", "cozcli.load", "cozcli.reports")


def coz(
    *arguments: str, cwd: Path, environment: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    """A command to its end: its status, and what it wrote to its standard output and standard error."""
    _import_what_commands_need()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        process = os.fork()
        if process == 0:
            _be_coz(arguments, cwd, dict(environment), output.fileno(), error.fileno())
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        texts = []
        for file in (output, error):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess(["coz", *arguments], status, *texts)


@cache
def _import_what_commands_need() -> None:
    for module in pkgutil.walk_packages(cozcli.__path__, "cozcli."):
        if module.name.startswith(_PACKAGES):
            import_module(module.name)


def _be_coz(
    arguments: Sequence[str], folder: Path, environment: dict[str, str], output: int, error: int
) -> None:
    """Never returns: what the test's process would do at its end is not the command's."""
    status = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(error, 2)
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        status = main(arguments)
    except SystemExit as end:  # argparse says what is wrong itself
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
