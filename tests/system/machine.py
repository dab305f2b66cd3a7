"""How much of the machine a test had. On a shared machine, others may take processors away.

Then a test that compares shares of samples or effects with a number may fail for no fault of the profiler.
Such a test is marked `measured`, and runs again if it fails while the machine was disturbed. If it fails on
an undisturbed machine, it has failed.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass

#: Seconds between two measurements, and how late one may be: the programs of the test itself run, too.
_EVERY, _GRACE = 0.025, 0.005
#: Iterations of the loop whose processor time, about 50 µs, shows the machine's speed.
_ITERATIONS = 2000


@dataclass(frozen=True)
class Disturbance:
    """What others did to the machine during a test."""

    stolen: float  #: share of the processors' time that the hypervisor says it gave to others
    late: float  #: share of the time by which a sleeping thread woke up late
    slow: float  #: processor time of the same work, as a multiple of the smallest seen

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
    """Measures all the time, which takes a few thousandths of a processor."""

    def __init__(self) -> None:
        super().__init__(name="machine-watch", daemon=True)
        self._lock = threading.Lock()
        self._smallest = float("inf")
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
            for _ in range(_ITERATIONS):
                pass
            used = time.thread_time() - used
            with self._lock:
                self._late += late
                if used > 0:  # clocks of virtual machines may stand still
                    self._costs.append(used)
                    self._smallest = min(self._smallest, used)

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
            slow = costs[len(costs) // 2] / self._smallest if costs else 1.0
            return Disturbance(stolen, self._late / took, slow)
