"""Running a program plain and under `coz run`, and what is compared between the two."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
COZ = ROOT / "build/bin/coz"
PROGRAMS = Path(__file__).parent / "programs"


def setting(name: str, default: str) -> str:
    """COZ_TRANSPARENCY_<name> of the environment, or COZ_SURVIVAL_<name>, as it was called before."""
    return os.environ.get(f"COZ_TRANSPARENCY_{name}", os.environ.get(f"COZ_SURVIVAL_{name}", default))


#: Where Debian has the allocators.
LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")

#: Every way of sampling has another signal, or another sender: each row is run in all of them by turns.
MODES = ("perf-trap", "perf-signal", "timer")
#: Seconds after which a program counts as hanging. None works for more than a few.
HANGS = int(setting("HANGS", "120"))


@dataclass(frozen=True)
class Row:
    """One promise: this program does the same with and without the profiler.

    `source` is in programs/, `library` too: it is linked, as lib<stem>.so. `others`: programs that this one
    starts, whose paths follow the arguments, each as (source, compiler flags). `ends`: what the plain run
    must end with, so that a row cannot hold because its program fails early. `sampled`: samples are to be
    found in the profile. `lasts`: the profile is finished as the program ends, and not before: it covers
    so many milliseconds at least, which the program works in its first thread. `visits`:
    of points, in the end, by name. `in_all_modes`: each of
    `modes` in every test, not in turns. `fails`: why the promise is not kept yet (README.md); `runs`: the row
    is run all the same, and must fail; `breaks`: by saying "NO" to this, and in no other way.
    """

    name: str
    source: str
    arguments: tuple[str, ...] = ()
    ends: int = 0
    flags: tuple[str, ...] = ()
    library: str = ""
    others: tuple[tuple[str, tuple[str, ...]], ...] = ()
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    modes: tuple[str, ...] = MODES
    in_all_modes: bool = False
    sampled: bool = True
    lasts: int = 0
    visits: Mapping[str, int] = field(default_factory=dict)
    fails: str = ""
    runs: bool = True
    breaks: str = ""


@dataclass
class Outcome:
    """What can be seen of a run from outside. `left`: files and processes that it leaves behind."""

    status: int
    out: str
    err: str
    left: list[str]

    def differences(self, other: Outcome) -> list[str]:
        mine, theirs = vars(self), vars(other)
        return [f"{name}: {mine[name]!r} plain, {theirs[name]!r} profiled" for name in mine
                if mine[name] != theirs[name]]  # fmt: skip


def run(command: Sequence[object], folder: Path, environment: Mapping[str, str]) -> Outcome:
    """A command to its end, and to the end of everything that has its output open."""
    token = uuid.uuid4().hex
    folder.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, **environment, "TRANSPARENCY_RUN": token},
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=HANGS)
    except subprocess.TimeoutExpired:
        where = _kill_what_is_left(token)
        process.kill()
        out, err = process.communicate()
        text = (out + err).decode(errors="replace")
        raise AssertionError(f"hangs, with threads in {where}; it said {text!r}") from None
    left = sorted(path.name for path in folder.iterdir())
    left += _processes_left(token)
    _kill_what_is_left(token)
    shutil.rmtree(folder)
    own = [line for line in err.decode(errors="replace").splitlines() if not line.startswith("coz: ")]
    return Outcome(process.returncode, out.decode(errors="replace"), "\n".join(own), left)


def records(profile: Path, kind: str) -> list[dict[str, Any]]:
    """The profile's records; each line of it must be a JSON object."""
    found = [json.loads(line) for line in profile.read_text().splitlines()]
    return [record for record in found if record["type"] == kind]


def _processes(token: str) -> list[Path]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        # By its threads: where the first one has left, the process itself shows no environment.
        if any(token.encode() in _bytes(task / "environ") for task in _threads(folder)):
            found.append(folder)
    return found


def _threads(process: Path) -> list[Path]:
    """The folders of its threads; none if the process has ended meanwhile, as those of other tests do."""
    try:
        return list(process.glob("task/*"))
    except OSError:
        return []


def _processes_left(token: str) -> list[str]:
    """After a moment in which they may end."""
    end = time.monotonic() + 3
    while (left := _processes(token)) and time.monotonic() < end:
        time.sleep(0.02)
    return [f"process {_read(folder / 'comm')}" for folder in left]


def _kill_what_is_left(token: str) -> list[str]:
    where = []
    for folder in _processes(token):
        where += [f"{_read(task / 'comm')}: {_read(task / 'wchan')}" for task in _threads(folder)]
        try:
            os.kill(int(folder.name), 9)
        except OSError:
            continue
    return where


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _read(path: Path) -> str:
    return _bytes(path).decode(errors="replace").strip()
