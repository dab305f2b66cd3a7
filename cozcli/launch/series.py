"""Running a program again: so many times, for so long, or until the intervals are narrow enough.

Every run adds to the same profile. Goals are checked between runs, and no run is cut short for them. A run
that failed or was interrupted is the last one; so is one after which it is clear that nothing is measured.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cozcli.errors import CozError, Problem
from cozcli.launch import messages
from cozcli.launch.ending import Ending
from cozcli.messages import packages_missing

if TYPE_CHECKING:
    from cozcli.launch.leading_lines import Analyst

#: Runs without any experiment after which there is no other, if they took so many seconds. A point that was
#: not visited in ten seconds is visited too rarely for any goal. Windows may be rare where runs are short:
#: one in half a minute is what an hour's series can still be made of.
FRUITLESS_RUNS = 5
FRUITLESS_WITHOUT_VISIT, FRUITLESS = 10.0, 30.0
#: How far it is is said so often, in seconds: a hundred short runs are no hundred lines.
SAID_EVERY = 10.0
#: The analysis is begun again where its process died (for lack of memory, say), but not for ever.
MAX_DEATHS = 2


class Goal(NamedTuple):
    """What ends a series of runs, whichever comes first. `duration`: s. `until`: of effects at 50 %."""

    repeat: int | None = None
    duration: float | None = None
    until: float | None = None

    @property
    def is_single(self) -> bool:
        """Is one run all that is asked for?"""
        return self.duration is None and self.until is None and self.repeat in (None, 1)


class RunSeries:
    """Counts runs, and decides after each whether there is to be another."""

    def __init__(self, goal: Goal, profile: Path) -> None:
        """`profile`: where all runs go.

        Raises:
            CozError: --until needs packages which are not there.
        """
        self._goal = goal
        self._profile = profile
        self.runs = 0
        self._deaths = 0
        self._analyst = _start_analyst(profile) if goal.until is not None else None
        self._begin = time.monotonic()
        self._said = 0.0
        self._yield = None if goal.is_single else _Yield(profile)

    def close(self) -> None:
        """There is no other run."""
        if self._analyst is not None:
            self._analyst.close()

    def describe(self) -> str:
        """While a run is on: what has been spent, and what is left."""
        spent = time.monotonic() - self._begin
        goal = self._goal
        text = messages.run.clock(spent)
        if goal.duration is not None and goal.duration > spent:
            text += f" ({messages.run.clock(goal.duration - spent)} left)"
        if goal.repeat not in (None, 1):
            text += f", run {self.runs + 1} of {goal.repeat}"
        elif not goal.is_single:
            text += f", run {self.runs + 1}"
        return text

    def wants_another(self, ending: Ending) -> tuple[bool, str | Problem]:
        """After a run: is there to be another, and what to tell the user, if anything."""
        self.runs += 1
        if self._yield is None:
            return False, ""
        if ending.interrupted:
            return False, messages.run.series_interrupted(self.runs)
        if (ending.signal or ending.status) and not ending.ended_as_asked:
            return False, messages.run.series_broken_off(self.runs, ending.status, ending.signal)
        spent = time.monotonic() - self._begin
        half, in_order = self._measure()
        is_blind = self._deaths == MAX_DEATHS
        if is_blind:
            self._deaths, self._goal = 0, self._goal._replace(until=None)
        reached = (
            (self._goal.repeat is not None and self.runs >= self._goal.repeat)
            or (self._goal.duration is not None and spent >= self._goal.duration)
            or (half is not None and self._goal.until is not None and half <= self._goal.until and in_order)
        )
        if is_blind:
            goes_on = not reached and not self._goal.is_single
            return goes_on, messages.run.series_unjudged(str(self._profile), goes_on)
        self._yield.look()
        if not reached and self.runs >= FRUITLESS_RUNS and self._yield.is_none_after(spent):
            return False, messages.run.series_fruitless(self.runs, spent, self._yield.visits)
        now = time.monotonic()
        if not reached and self._said and now - self._said < SAID_EVERY:
            return True, ""
        self._said = now
        return not reached, messages.run.series_so_far(self.runs, spent, half, in_order, self._goal.until)

    def _measure(self) -> tuple[float | None, bool]:
        """How certain the leading lines' effects are by now, and whether their order is.

        The program waits for it, and for nothing else.
        """
        if self._analyst is None or self._goal.until is None:
            return None, False
        self._analyst.ask()
        leaders = self._analyst.answer(wait=True)
        if leaders is None:  # the process has ended
            self._deaths += 1
            return None, False
        self._deaths = 0
        return leaders.precision, leaders.is_in_order(self._goal.until)


class _Yield:
    """What the runs of a series have brought: experiments, and visits to progress points."""

    def __init__(self, profile: Path) -> None:
        from cozcli.profile.tail import ProfileTail  # which a single run need not wait for

        self._tail = ProfileTail(profile, profile.stat().st_size if profile.exists() else 0)
        self.visits = 0

    def look(self) -> None:
        """After a run."""
        try:
            self._tail.read()
        except OSError:
            return
        samples = None if self._tail.experiments else self._tail.samples
        if samples is not None:
            self.visits += sum(point.visits for point in samples.points)

    def is_none_after(self, spent: float) -> bool:
        """Has there been no experiment, for so long (s) that there will hardly be any?"""
        return not self._tail.experiments and spent >= (FRUITLESS if self.visits else FRUITLESS_WITHOUT_VISIT)


def _start_analyst(profile: Path) -> Analyst:
    from cozcli.launch.leading_lines import Analyst  # which most runs need not wait for

    analyst = Analyst(profile, is_idle=False)
    missing = analyst.missing_packages()
    if missing:
        analyst.close()
        raise CozError(packages_missing(sys.executable, missing))
    return analyst
