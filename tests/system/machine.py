"""How much of the machine a test had. On a shared one, others may take its processors away.

What a test compares with a number (shares of samples, effects) is not to be had then: such a test is
marked `measured`, and is run again if it fails while the machine was disturbed. One that fails on an
undisturbed machine has failed.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass

#: Seconds between two looks; what a look may come late by, since programs of the test's own run, too.
_EVERY, _GRACE = 0.025, 0.005
#: Turns of the loop whose processor time tells the speed: some 50 µs.
_TURNS = 2000


@dataclass(frozen=True)
class Disturbance:
    """What others did to the machine in a stretch of time."""

    stolen: float  #: share of the processors' time that the hypervisor says it gave to others
    late: float  #: share of the time by which a sleeping thread woke up late
    slow: float  #: processor time of the same work, as a multiple of the least seen

    def __bool__(self) -> bool:
        return self.stolen > 0.05 or self.late > 0.05 or self.slow > 3

    def __str__(self) -> str:
        lost = f"stolen {self.stolen:.0%}, woken late {self.late:.0%}"
        return f"{lost}, {self.slow:.1f} times as slow as at its best"


def _stolen_seconds() -> float:
    with open("/proc/stat") as file:
        fields = file.readline().split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else 0.0


class MachineWatch(threading.Thread):
    """Looks at the machine all the time; takes a few thousandths of a processor."""

    def __init__(self) -> None:
        super().__init__(name="machine-watch", daemon=True)
        self._lock = threading.Lock()
        self._least = float("inf")
        self._reset()

    def _reset(self) -> None:
        self._start, self._stolen_before = time.monotonic(), _stolen_seconds()
        self._late = 0.0
        self._costs: list[float] = []

    def run(self) -> None:
        """Until the process ends."""
        while True:
            before = time.monotonic()
            time.sleep(_EVERY)
            late = max(0.0, time.monotonic() - before - _EVERY - _GRACE)
            used = time.thread_time()
            for _ in range(_TURNS):
                pass
            used = time.thread_time() - used
            with self._lock:
                self._late += late
                if used > 0:  # clocks of virtual machines may stand still
                    self._costs.append(used)
                    self._least = min(self._least, used)

    def begin(self) -> None:
        """A test begins."""
        with self._lock:
            self._reset()

    def disturbance(self) -> Disturbance:
        """Since begin()."""
        with self._lock:
            took = max(time.monotonic() - self._start, 1e-3)
            stolen = (_stolen_seconds() - self._stolen_before) / took / (os.cpu_count() or 1)
            costs = sorted(self._costs)
            slow = costs[len(costs) // 2] / self._least if costs else 1.0
            return Disturbance(stolen, self._late / took, slow)
