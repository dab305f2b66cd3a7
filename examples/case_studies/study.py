"""What a case study consists of.

Each has a folder `examples/NAME/` with `study.py`, which defines `STUDY`, and our patches.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
#: The variant that is profiled and compared with; the others are named after their changes.
BEFORE = "before"


@dataclass(frozen=True)
class Run:
    """What one run of a workload has done: units of work, and the seconds they took."""

    units: float
    seconds: float

    @property
    def rate(self) -> float:
        """Units a second."""
        return self.units / self.seconds


@dataclass(frozen=True)
class Change:
    """A patch of ours, and what it replaces.

    `target` is the function whose curve in the causal profile is the prediction; effects of `others`,
    which the change makes faster as well, are added. `symbols` are the functions, as perf names them,
    whose time together the change lessens; `removed` says instead that the change leaves the target out
    altogether, and `with_callees` that what the target calls in libraries counts too, as the causal
    profiler's own samples tell; `symbols` are then functions that the change adds. `lock` says that the
    target is a line that waits for a lock, and that the change removes the lock. With no target, no
    prediction is compared.
    """

    name: str
    patch: str
    what: str
    target: str = ""
    symbols: tuple[str, ...] = ()
    removed: bool = False
    with_callees: bool = False
    lock: bool = False
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A program, a workload of it, and what was tried on it.

    `fetch(folder)` puts the unpatched source into an existing empty folder. `build(source, output)` compiles
    a patched copy. `workload(output, scratch, seconds)` is the command that runs for about so long. Either
    `parse` reads from its output what it has done, or `count` tells from the command how many units that is,
    and it is timed. `coz_options` belong to the profile; `scratch` is a folder in memory where that has the
    room that the workload says it takes.
    """

    name: str
    title: str
    unit: str
    fetch: Callable[[Path], None]
    build: Callable[[Path, Path], None]
    workload: Callable[[Path, Path, float], Sequence[str]]
    coz_options: tuple[str, ...]
    changes: tuple[Change, ...]
    parse: Callable[[str], Run] | None = None
    count: Callable[[list[str]], int] | None = None
    #: Debian packages that the build needs, besides a compiler, make, patch and dpkg-dev.
    packages: tuple[str, ...] = ()
    #: Bytes that a workload of so many seconds writes to `scratch` at most.
    scratch_bytes: Callable[[float], float] = lambda _seconds: 0.0
    #: Seconds, about, of one run under the profiler, which is repeated: for workloads that are not ended by
    #: the clock, and so take longer on a slow machine.
    repeated: float | None = None
    #: Variables of every command that is run.
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.parse is None) == (self.count is None):
            raise ValueError(f"{self.name}: either parse or count")

    @property
    def folder(self) -> Path:
        """Where the study and its patches lie."""
        return ROOT / "examples" / self.name

    @property
    def output(self) -> Path:
        """Where everything that is fetched, built and measured goes."""
        return BUILD / "case_studies" / self.name

    @property
    def predicts_by(self) -> str:
        """The name of the profile that has the effects of functions; empty if no change needs one."""
        if all(change.lock or not change.target for change in self.changes):
            return ""
        return "lines" if "function" in self.coz_options else "functions"

    @property
    def variants(self) -> list[str]:
        """All that is built."""
        return [BEFORE, *(change.name for change in self.changes)]

    def with_time(self, command: list[str]) -> list[str]:
        """The command so that `done` can tell how long it took."""
        return timed(command) if self.count else command

    def done(self, command: list[str], output: str) -> Run:
        """What the command has done, by what it printed `with_time`."""
        if self.count:
            return Run(self.count(command), seconds_of(output))
        assert self.parse
        return self.parse(output)


def printed(output: str) -> Run:
    """Of a program of ours, which prints `N rows in S s …`, or another unit."""
    found = re.search(r"(\d+) \w+ in ([\d.]+) s", output)
    assert found, output
    return Run(float(found[1]), float(found[2]))


def timed(command: Sequence[str]) -> list[str]:
    """The command, and then a line with its seconds, for `seconds_of`."""
    return ["bash", "-c", f"TIMEFORMAT='took %R seconds'; {{ time {shlex.join(command)}; }} 2>&1"]


def seconds_of(output: str) -> float:
    """What a command that was `timed` has taken."""
    found = re.search(r"^took ([\d.]+) seconds$", output, re.MULTILINE)
    assert found, output
    return float(found[1])


def call(command: Sequence[str | Path], log: Path, cwd: Path | None = None) -> None:
    """Run a step; what it prints goes into `log`. Its end is shown where it fails."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as out:
        out.write("$ " + " ".join(str(c) for c in command) + "\n")
        out.flush()
        try:
            done = subprocess.run(command, cwd=cwd, stdout=out, stderr=subprocess.STDOUT, check=False)
        except FileNotFoundError:
            raise SystemExit(f"{command[0]} is missing; please install it and say this again") from None
    if done.returncode != 0:
        raise failure(command, done.returncode, log.read_text(errors="replace"), log)


def failure(command: Sequence[str | Path], status: int, output: str, log: Path) -> SystemExit:
    """What says that a command has failed: the end of its output, and where all of it is."""
    end = "\n".join(output.splitlines()[-15:])
    return SystemExit(f"{command[0]} failed with status {status}; all of its output: {log}\n{end}")
