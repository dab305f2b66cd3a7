"""Runs a program as `coz run` does, but in place of itself: `in_place.py OPTIONS --- PROGRAM ARGUMENTS`.

Test suites that start servers look for their process id and send them signals. Everything up to the start
is `coz run`'s own; what it would have said after the program's end is not said. With COZ_TEST_STDERR=3,
descriptor 3 is the program's standard error, and 2 only ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cozcli import cli
from cozcli.commands import run as coz_run


def become(program: Path, arguments: Sequence[str], environment: Mapping[str, str], *_: Any) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    own = dict(environment)
    if descriptor := own.pop("COZ_TEST_STDERR", ""):
        os.dup2(int(descriptor), 2)
        os.close(int(descriptor))
    os.execve(program, list(arguments), {**own, "COZ_PROCESS": str(os.getpid())})


if __name__ == "__main__":
    coz_run.run_program = become
    sys.exit(cli.main(["run", *sys.argv[1:]]))
