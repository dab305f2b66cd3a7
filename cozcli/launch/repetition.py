"""Running a program again: so many times, for so long, or until the intervals are narrow enough.

Every run adds to the same profile. A run is never ended: what is asked for is looked at between runs. After a
run that failed or was interrupted there is no other.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from cozcli.errors import CozError
from cozcli.launch import messages
from cozcli.launch.program import Ending
from cozcli.messages import packages_missing

#: How many lines, from the top of the report, must be certain enough for --until.
TOP = 3
#: Runs the command line with the packages that the analysis needs; `coz run` itself goes without.
COMMAND = "import sys; sys.path.insert(0, sys.argv.pop(1)); from cozcli.cli import main; sys.exit(main())"
ROOT = Path(__file__).resolve().parents[2]


class Goal(NamedTuple):
    """What ends a series of runs, whichever comes first. `duration` in seconds, `until` of slope."""

    repeat: int | None = None
    duration: float | None = None
    until: float | None = None

    @property
    def is_single(self) -> bool:
        """Is one run all that is asked for?"""
        return self.duration is None and self.until is None and self.repeat in (None, 1)


class Precision(NamedTuple):
    """Of the top lines: the widest half interval of their slopes, whose it is; None while there is none."""

    half: float | None
    location: str


class Series:
    """Counts runs, and decides after each whether there is to be another."""

    def __init__(self, goal: Goal, profile: Path) -> None:
        """`profile`: where all runs go.

        Raises:
            CozError: --until needs packages which are not there.
        """
        self._goal = goal
        self._profile = profile
        self._begin = time.monotonic()
        self.runs = 0
        if goal.until is not None and _interpret("-c", "import numpy").returncode != 0:
            raise CozError(packages_missing(sys.executable, ["numpy"]))

    def describe(self) -> str:
        """While a run is on: what has been spent, and what is left."""
        spent = time.monotonic() - self._begin
        goal = self._goal
        text = messages.clock(spent)
        if goal.duration is not None and goal.duration > spent:
            text += f" ({messages.clock(goal.duration - spent)} left)"
        if goal.repeat not in (None, 1):
            text += f", run {self.runs + 1} of {goal.repeat}"
        elif not goal.is_single:
            text += f", run {self.runs + 1}"
        return text

    def wants_another(self, ending: Ending) -> tuple[bool, str]:
        """After a run: is there to be another, and what to tell the user (nothing, for a single run)."""
        self.runs += 1
        if self._goal.is_single:
            return False, ""
        failed = (ending.signal or ending.status) and not ending.ended_as_asked
        if ending.interrupted or failed:
            return False, messages.series_broken_off(self.runs, ending.status, ending.signal)
        spent = time.monotonic() - self._begin
        precision = None
        if self._goal.until is not None:
            precision = measure_precision(self._profile)
        text = messages.series_so_far(self.runs, spent, precision, self._goal.until)
        reached = (
            (self._goal.repeat is not None and self.runs >= self._goal.repeat)
            or (self._goal.duration is not None and spent >= self._goal.duration)
            or (
                precision is not None
                and precision.half is not None
                and self._goal.until is not None
                and precision.half <= self._goal.until
            )
        )
        return not reached, text


def measure_precision(profile: Path) -> Precision:
    """Analyse the profile so far. A line of few data among the top ones means that it is too early to say."""
    done = _interpret("-c", COMMAND, str(ROOT), "report", "--json", str(profile))
    try:
        results = json.loads(done.stdout)["results"]
    except (ValueError, KeyError):
        return Precision(None, "")  # no experiments yet, which a further run may change
    top = results[:TOP]
    if not top or any("few data" in result["notes"] for result in top):
        return Precision(None, "")
    halves = [((result["slope_high"] - result["slope_low"]) / 2, result["location"]) for result in top]
    return Precision(*max(halves))


def _interpret(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-P", *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
