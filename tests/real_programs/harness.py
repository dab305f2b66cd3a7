"""What all programs share: running a suite plain and in a second way, and comparing the results test by test.

The second way is profiled, or with the program's functions moved.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sources import MissingError

ROOT = Path(__file__).resolve().parents[2]
COZ = ROOT / "build/bin/coz"


@dataclass(frozen=True)
class Suite:
    """One command that tests something.

    `parse` makes {test: result} of its output. Where `wrapped` is a program that the command starts itself,
    another stands in its place while the suite runs profiled; else the command itself is profiled, or moved.
    """

    command: Sequence[str]
    folder: Path
    progress: Sequence[str]
    parse: Callable[[str], dict[str, str]]
    wrapped: Path | None = None
    as_user: bool = False  # root must not run it


@dataclass(frozen=True)
class Program:
    """`prepare(folder)` fetches and builds below `folder`, and says what version that is."""

    name: str
    prepare: Callable[[Path], tuple[str, list[Suite]]]


@dataclass
class Result:
    """way: the second one, `profiled` or `moved`; `second` are its results."""

    name: str
    version: str
    way: str
    plain: dict[str, str] = field(default_factory=dict)
    second: dict[str, str] = field(default_factory=dict)
    statuses: list[tuple[int, int]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])
    experiments: int = 0

    def differences(self) -> list[str]:
        """Each test whose results differ, with both."""
        found = [
            f"{test}: plain {self.plain.get(test, 'not run')}, {self.way} {self.second.get(test, 'not run')}"
            for test in sorted({*self.plain, *self.second})
            if self.plain.get(test) != self.second.get(test)
        ]
        found += [f"status: plain {a}, {self.way} {b}" for a, b in self.statuses if a != b]
        return found


def compare(program: Program, below: Path, limit: float, layout: str | None) -> Result:
    """Run all suites of a program plainly, and profiled or, with the seed of a layout, with functions moved.

    `limit`: seconds for each command.
    """
    folder = below / program.name
    version, suites = program.prepare(folder)
    result = Result(program.name, version, "moved" if layout else "profiled")
    for index, suite in enumerate(suites):
        profile = folder / f"{index}.coz"
        profile.unlink(missing_ok=True)
        label = f"{index}/" if len(suites) > 1 else ""
        statuses = []
        for second, results in ((False, result.plain), (True, result.second)):
            log = folder / f"{index}.{result.way if second else 'plain'}.log"
            begin = time.monotonic()
            if not second:
                statuses.append(_plain(suite, log, limit))
            elif layout:
                statuses.append(_moved(suite, layout, log, limit))
            else:
                statuses.append(_profiled(suite, profile, log, limit))
            result.seconds[second] += time.monotonic() - begin
            text = log.read_text(errors="replace")
            results.update({label + test: outcome for test, outcome in suite.parse(text).items()})
        result.statuses.append((statuses[0], statuses[1]))
        result.experiments += _experiments(profile)
    return result


def _plain(suite: Suite, log: Path, limit: float) -> int:
    if suite.wrapped:
        _put_in_place(suite.wrapped, [], None, log)
    return _run(suite, list(suite.command), log, limit)


def _profiled(suite: Suite, profile: Path, log: Path, limit: float) -> int:
    if suite.wrapped:
        _put_in_place(suite.wrapped, suite.progress, profile, log)
        return _run(suite, list(suite.command), log, limit)
    profile.touch()
    options = ["-o", str(profile), *suite.progress]
    return _run(suite, [str(COZ), "run", *options, "---", *suite.command], log, limit, profile)


def _moved(suite: Suite, seed: str, log: Path, limit: float) -> int:
    """The command, and what it starts of the same file."""
    if suite.wrapped:
        raise MissingError(f"the suite starts {suite.wrapped.name} itself, which is not moved then")
    return _run(suite, [str(COZ), "layout", "replay", "--seed", seed, *suite.command], log, limit)


def _run(suite: Suite, command: list[str], log: Path, limit: float, profile: Path | None = None) -> int:
    """The command's status; 124 when it took too long. profile: what it writes, if it does."""
    environment = os.environ | {"TERM": "dumb"}
    if suite.as_user and os.getuid() == 0:
        command, environment = _as_nobody(command, suite.folder, profile, environment)
    with log.open("w") as out:
        try:
            return subprocess.run(
                command,
                cwd=suite.folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=environment,
                timeout=limit,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return 124


def _put_in_place(program: Path, progress: Sequence[str], profile: Path | None, log: Path) -> None:
    """Where `program` is: itself, or, with a profile to write, what starts it under the profiler."""
    original = program.with_name(program.name + ".real")
    if not original.exists():
        program.rename(original)
    program.unlink(missing_ok=True)
    if profile is None:
        shutil.copy2(original, program)
        return
    # A test expects the process id and standard error of the server, not ours.
    script = program.with_name(program.name + ".profiled")
    options = " ".join(["-o", str(profile), *progress])
    script.write_text(
        f"#!/bin/sh\nCOZ_TEST_STDERR=3 exec {_python()} -I {ROOT}/tests/real_programs/in_place.py "
        f'{options} --- {original} "$@" 3>&2 2>>{log}.coz\n'
    )
    script.chmod(0o755)
    source = ROOT / "tests/real_programs/in_its_place.c"
    subprocess.run(["cc", "-O1", f'-DSCRIPT="{script}"', "-o", program, source], check=True)


def _python() -> str:
    return os.environ.get("COZ_PYTHON", "/usr/bin/python3")


def _as_nobody(
    command: list[str], folder: Path, profile: Path | None, environment: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    if profile is not None:
        os.chown(profile, nobody.pw_uid, nobody.pw_gid)
    # The checkout's own Python may be where only root can read.
    environment = environment | {
        "COZ_PYTHON": _python(),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "HOME": str(folder),
        "USER": "nobody",
    }
    switch = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    return switch + command, environment


def _experiments(profile: Path) -> int:
    if not profile.exists():
        return 0
    records = (json.loads(line) for line in profile.read_text().splitlines() if line.endswith("}"))
    return sum(record.get("type") == "experiment" for record in records)


def lines_matching(pattern: str) -> Callable[[str], dict[str, str]]:
    """A parser: `pattern` has the groups `test` and `result`. A test that comes again is another."""
    expression = re.compile(pattern, re.MULTILINE)

    def parse(text: str) -> dict[str, str]:
        results: dict[str, str] = {}
        for match in expression.finditer(text.replace("\r", "\n")):
            name, number = match["test"].strip(), 2
            test = name
            while test in results:
                test = f"{name} ({number})"
                number += 1
            results[test] = match["result"].strip()
        return results

    return parse
