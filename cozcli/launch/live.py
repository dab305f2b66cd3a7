"""What `coz run` shows while the program runs: experiments, lines, the leading ones, and the time.

Every two seconds the records that were added to the profile are counted. The leading lines come from `coz
report` itself, in a process of the lowest priority, which begins anew only after a hundred times the
processor time that it took the last time: one per cent of one processor at most, however large the profile
is.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from cozcli.launch.repetition import COMMAND, ROOT
from cozcli.messages import printable
from cozcli.status_row import StatusRow

_TICK = 2.0
#: Where there is no terminal (--live on): a line so often, in seconds.
_LINE_EVERY = 30.0
#: The first analysis, in seconds from the start; the share of a processor that analyses may take.
_FIRST, _SHARE = 10.0, 0.01
_MOST_LEADERS = 3
_IDLE = (
    "import os, contextlib\n"
    "with contextlib.suppress(OSError): os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n"
)


class Leader(NamedTuple):
    """A line, and its effect at a speedup: all three in per cent, `half` of the 95 % interval."""

    name: str
    effect: float
    half: float
    speedup: float


class Counts(NamedTuple):
    """What the profile has from this run or series."""

    experiments: int = 0
    locations: frozenset[str] = frozenset()


class Tail:
    """Counts the experiments that are added to a profile. It reads what is new, and whole lines only."""

    def __init__(self, profile: Path, beginning: int) -> None:
        self._profile = profile
        self._position = beginning
        self._rest = b""
        self._experiments = 0
        self._locations: set[str] = set()

    def read(self) -> Counts:
        """What there is by now."""
        with contextlib.suppress(OSError), self._profile.open("rb") as stream:
            stream.seek(self._position)
            new = stream.read()
            self._position += len(new)
            *lines, self._rest = (self._rest + new).split(b"\n")
            for line in lines:
                self._count(line)
        return Counts(self._experiments, frozenset(self._locations))

    def _count(self, line: bytes) -> None:
        if not line.startswith(b'{"type":"experiment"'):
            return
        try:
            record = json.loads(line)
            location = "" if record.get("kind") == "none" else str(record["location"])
        except (ValueError, KeyError, RecursionError):
            return  # broken off
        self._experiments += 1
        if location:
            self._locations.add(location)


class Analyst:
    """Runs `coz report` now and then, and has the leading lines of the last one."""

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._process: subprocess.Popen[bytes] | None = None
        self._used = 0.0
        self._next = time.monotonic() + _FIRST
        self.leaders: list[Leader] = []

    def look(self) -> None:
        """Take up what is done, and begin anew if it is time."""
        if self._process is not None and self._is_done(self._process):
            self._process = None
        if self._process is None and time.monotonic() >= self._next:
            # Into a file: nobody reads while it runs.
            self._answer = _unnamed_file()
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-c",
                    _IDLE + COMMAND,
                    str(ROOT),
                    "report",
                    "--json",
                    str(self._profile),
                ],
                stdin=subprocess.DEVNULL,
                stdout=self._answer,
                stderr=subprocess.DEVNULL,
            )

    def stop(self) -> None:
        """End what runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            os.close(self._answer)
            self._process = None

    def _is_done(self, process: subprocess.Popen[bytes]) -> bool:
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        if not ended:
            return False
        process.returncode = os.waitstatus_to_exitcode(status)
        used = usage.ru_utime + usage.ru_stime
        self._next = time.monotonic() + max(_FIRST, used / _SHARE)
        with os.fdopen(self._answer, "rb") as stream:
            stream.seek(0)
            text = stream.read()
        with contextlib.suppress(ValueError, KeyError, TypeError):
            self.leaders = leaders_of(json.loads(text)["results"])
        return True


def leaders_of(results: list[dict[str, Any]]) -> list[Leader]:
    """The first of a report, without those of few data: at the measured speedup nearest to 50 %."""
    leaders: list[Leader] = []
    for result in results:
        points = [point for point in result["curve"] if point["speedup"] > 0]
        if len(leaders) == _MOST_LEADERS or "few data" in result["notes"]:
            break
        if points:
            point = min(points, key=lambda point: abs(point["speedup"] - 0.5))
            half = 50 * (point["high"] - point["low"])
            name = result["location"].rpartition("/")[2]
            leaders.append(Leader(name, 100 * point["effect"], half, 100 * point["speedup"]))
    return leaders


def compose(counts: Counts, leaders: list[Leader], times: str, room: int) -> str:
    """One line of at most `room` characters: as many of the leading lines as fit."""
    lines = len(counts.locations)
    text = f"coz: {times}, {counts.experiments:,} experiment{'' if counts.experiments == 1 else 's'}"
    text += f" on {lines:,} line{'' if lines == 1 else 's'}" if lines else ""
    shown = ""
    for leader in leaders:
        before = "; " if shown else "; if faster by "
        speedup = "" if shown and leader.speedup == leaders[0].speedup else f"{leader.speedup:.0f} %: "
        more = f"{before}{speedup}{printable(leader.name)} {leader.effect:+.1f} ±{leader.half:.1f} %"
        if len(text + shown + more) > room:
            break
        shown += more
    return (text + shown)[:room]


class Live:
    """The display of a series of runs: there between `start` and `close` of each, and counting them all."""

    def __init__(self, tail: Tail, analyst: Analyst, times: Callable[[], str], row: StatusRow | None) -> None:
        """`row` None: a line on standard error now and then. `times`: of the series, in words."""
        self._tail = tail
        self._analyst = analyst
        self._times = times
        self.row = row
        self._run: tuple[threading.Thread, threading.Event] | None = None

    def start(self) -> None:
        """The program has been started. Its first two seconds are its own: full-screen programs settle."""
        end = threading.Event()
        thread = threading.Thread(target=self._show, args=(end,), daemon=True)
        self._run = (thread, end)
        thread.start()

    def close(self) -> None:
        """It has ended. An analysis goes on: of short programs, one run is too short for it."""
        if self._run is not None:
            thread, end = self._run
            end.set()
            thread.join()
            self._run = None
        if self.row is not None:
            self.row.release()

    def finish(self) -> None:
        """There is no other run."""
        self._analyst.stop()

    def _show(self, end: threading.Event) -> None:
        last = time.monotonic()
        while not end.wait(_TICK):
            self._analyst.look()
            if self.row is not None:
                self.row.show(self._text(self.row.columns()))
            elif time.monotonic() - last >= _LINE_EVERY:
                last = time.monotonic()
                print(self._text(200), file=sys.stderr, flush=True)

    def _text(self, room: int) -> str:
        return compose(self._tail.read(), self._analyst.leaders, self._times(), room)


def _unnamed_file() -> int:
    import tempfile

    with tempfile.TemporaryFile() as stream:
        return os.dup(stream.fileno())
