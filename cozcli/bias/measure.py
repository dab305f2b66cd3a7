"""Makes the runs of a plan, and takes the machine's drift out of their times.

Machines change their speed, by up to half in virtual ones, for seconds at a time. Runs are in random order,
so that a run's neighbours in time are of all kinds: their median says how fast the machine was. Times are
logarithms, so that a difference of 0.01 is one per cent.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cozcli.bias.factors import Movers, Place, layout
from cozcli.bias.plan import MIN_ROUNDS, Plan, Run
from cozcli.compare.instrument import Instrument
from cozcli.compare.personality import randomisation
from cozcli.compare.trial import FailedRunError, Trial, run
from cozcli.errors import Problem

#: Runs before and after one that say how fast the machine was.
_NEIGHBOURS = 10
#: A run that lost a larger share of its wall time is made again, but not more often than that.
_DISTURBED, _ATTEMPTS = 0.05, 3


class Measured(NamedTuple):
    """A run, and its time: logarithm of seconds of processor time, the machine's drift taken out."""

    run: Run
    time: float


class Runner:
    """Runs the program at places. Nothing else may start programs meanwhile: randomisation is the
    thread's."""

    def __init__(self, command: Sequence[str], movers: Movers, stdin: str = os.devnull) -> None:
        self._command, self._movers, self._stdin = command, movers, stdin
        #: Runs that were made, and those of them that were made again.
        self.runs = self.repeated = 0
        #: By Ctrl-C, or a run that failed, after which nothing more is run.
        self.interrupted = False
        self.failure: Problem | None = None

    def trial(self, place: Place, instruments: Sequence[Instrument] = ()) -> Trial:
        """One run that was not disturbed, if the machine allows it.

        Raises:
            CozError: it failed.
        """
        side = self._movers.side(self._command, place)
        with randomisation(place.randomised):
            for attempt in range(_ATTEMPTS):
                self.runs += 1
                self.repeated += attempt > 0
                trial = run(side, layout(place), self._stdin, instruments=instruments)
                if trial.lost <= _DISTURBED:
                    break
        return trial

    def time(self, place: Place) -> float:
        """Logarithm of seconds of processor time."""
        return float(np.log(max(self.trial(place).cpu, 1e-6)))


def measure(runner: Runner, plan: Plan, watch: Callable[[int], None]) -> list[Measured]:
    """Rounds until the time is used; `watch` is told how many runs are done.

    Ctrl-C, and a run that fails, end it with the rounds there are, if these are enough.
    """
    runs: list[Run] = []
    times: list[float] = []
    complete = 0
    begin = time.monotonic()
    try:
        for number, turns in enumerate(plan.order()):
            passed = time.monotonic() - begin
            if number == plan.rounds or (number >= MIN_ROUNDS and passed * (1 + 1 / number) > plan.seconds):
                break
            for turn in turns:
                times.append(runner.time(turn.place))
                runs.append(turn)
                watch(len(times))
            complete = len(times)
    except (KeyboardInterrupt, FailedRunError) as error:
        if complete < MIN_ROUNDS * plan.runs() // plan.rounds:
            raise
        runner.interrupted = True
        runner.failure = error.problem if isinstance(error, FailedRunError) else None
    runs, times = runs[:complete], times[:complete]
    return [Measured(*pair) for pair in zip(runs, without_drift(runs, np.array(times)), strict=True)]


def without_drift(runs: Sequence[Run], times: NDArray[np.float64]) -> list[float]:
    """`times` (n), in the order of the runs, less how slow the machine was around each.

    Places differ by themselves, so what is known of each is taken out before its neighbours are looked at.
    Once only: errors of each would enter the other, and make runs of a place alike.
    """
    keys = [(run.kind, run.level) if run.kind != "aslr" else ("aslr", 0) for run in runs]
    index = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    which = np.array([index[key] for key in keys])
    own = _medians(times - _running_median(times), which, len(index))
    return [float(value) for value in times - _running_median(times - own[which])]


def _medians(values: NDArray[np.float64], which: NDArray[np.int64], number: int) -> NDArray[np.float64]:
    order = np.argsort(which, kind="stable")
    groups = np.split(values[order], np.cumsum(np.bincount(which, minlength=number))[:-1])
    return np.array([np.median(group) for group in groups])


def _running_median(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Median of each value's neighbours; at the ends of those there are.

    Without the value itself: where the machine's speed changes fast, it is often that median; what is left
    would be its place's own median, the same in all of its runs.
    """
    padded = np.pad(values, _NEIGHBOURS, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * _NEIGHBOURS + 1)
    return np.asarray(np.nanmedian(np.delete(windows, _NEIGHBOURS, axis=1), axis=1), np.float64)


def by_level(measured: Sequence[Measured], kind: str) -> dict[int, list[float]]:
    """Times of each place of a kind."""
    found: dict[int, list[float]] = {}
    for each in measured:
        if each.run.kind == kind:
            found.setdefault(each.run.level, []).append(each.time)
    return found
