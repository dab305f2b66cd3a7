"""Threads that share the cores, but never wait for each other: a closed queueing network.

N threads take turns between computing on c cores and waiting for something outside, as in a server with a
thread for each client. A visit takes D of processor time, W of waiting for a core and Z outside. With P the
period of baselines, N·P = D + W + Z. A target of which a part x of D is saved leaves D' = D·(1 − x), and

    effect  =  1 − (D' + W' + Z) / (N·P),        but no period is below D'/c.

W' is that of the machine repairman's model (M/M/c//N; Kleinrock, Queueing Systems I, 1975, section 3.8) for
D' and Z, times W over what the model says for D: schedulers are no queues in order of arrival.

So threads are alike: the target and the time are spread evenly over them. The number of those that share
something evenly is (Σt)²/Σt² (Kish, Survey Sampling, 1965).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from cozcli.analysis.input.partners import records_without_partner
from cozcli.analysis.statistics.arrays import Floats
from cozcli.profile.profile import Run
from cozcli.profile.records import ExperimentRecord

#: Threads that wait for each other for more than this share of their time are not independent.
MAX_THREAD_WAIT = 0.02
#: A target belongs to all threads alike if it is spread over this part of them at least.
MIN_SPREAD = 0.75
#: The runtime reads no more threads than these.
MAX_THREADS = 63
_GRID = 201


class ClosedNetwork:
    """threads: N. cores: c. busy, waited: D/P and W/P, so cores in use, and threads that wait for one."""

    def __init__(self, threads: int, cores: int, busy: float, waited: float) -> None:
        outside = max(threads - busy - waited, 0.0)
        factor = waited / modelled if (modelled := _waiting(threads, cores, busy, outside)) > 0 else 1.0
        self._saved = np.linspace(0, 1, _GRID)
        left = busy * (1 - self._saved)
        waiting = factor * np.array([_waiting(threads, cores, each, outside) for each in left])
        period = np.maximum((left + waiting + outside) / threads, left / cores)
        self._effect = 1 - period / period[0]

    def effect(self, saved: float) -> float:
        """Of saving this part of all processor time."""
        return float(np.interp(saved, self._saved, self._effect))


def _waiting(threads: int, cores: int, busy: float, outside: float) -> float:
    """W for a visit, where computing takes `busy` and waiting `outside`."""
    if busy <= 0 or threads <= cores:
        return 0.0
    if outside <= 0:
        return max(threads * busy / cores - busy, 0.0)
    at_cores = np.arange(threads + 1)
    running = np.minimum(at_cores, cores)
    weight: Floats = (
        gammaln(threads + 1)
        - gammaln(threads - at_cores + 1)
        - gammaln(running + 1)
        - (at_cores - running) * np.log(cores)
        + at_cores * np.log(busy / outside)
    )
    chance = np.exp(weight - weight.max())
    rate = float(running @ chance) / busy
    return float((at_cores - running) @ chance) / rate


def network_of(runs: Sequence[Run]) -> ClosedNetwork | None:
    """What baselines say of all threads; None if they wait for each other, or it is not known."""
    found = [
        (run.record.cores, record)
        for run, record in records_without_partner(runs)
        if record.speedup == 0 and record.threads is not None and record.core_wait >= 0
    ]
    cores = {each for each, _ in found}
    length = sum(record.duration for _, record in found)
    if len(cores) != 1 or length <= 0:
        return None
    threads, thread_wait, busy, waited = (
        sum(values) / length for values in zip(*(_of_window(record) for _, record in found), strict=True)
    )
    number = round(threads)
    if not 1 < number <= MAX_THREADS or thread_wait > MAX_THREAD_WAIT * number:
        return None
    return ClosedNetwork(number, cores.pop(), busy, waited)


def _of_window(record: ExperimentRecord) -> tuple[float, float, float, float]:
    """Integrals over the window: threads that work, wait for each other, run, and wait for a core."""
    working, waited = (record.threads.working, record.threads.waited) if record.threads else (0.0, 0)
    return working * record.duration, waited, max(record.processor_time, 0), record.core_wait


def locations_of_all_threads(runs: Sequence[Run]) -> frozenset[str]:
    """The targets whose samples are spread evenly over all threads that work."""
    squares: defaultdict[str, float] = defaultdict(float)
    expected: defaultdict[str, float] = defaultdict(float)
    for _, record in records_without_partner(runs):
        if record.threads is None or record.threads.in_target <= 0:
            continue
        hits = record.target_samples**2
        squares[record.location] += hits / record.threads.in_target
        expected[record.location] += hits / record.threads.working
    return frozenset(
        location for location, found in squares.items() if MIN_SPREAD * found <= expected[location]
    )
