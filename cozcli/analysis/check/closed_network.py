"""Threads that share the cores, but never wait for each other: a closed queueing network.

N threads take turns between computing on c cores and waiting for something outside, as in a server with a
thread for each client. A visit takes D of processor time, W of waiting for a core and Z outside. With P the
period of baselines, N·P = D + W + Z. A target of which a part x of D is saved leaves D' = D·(1 − x), and

    effect  =  1 − (D' + W' + Z) / (N·P),        but no period is below D'/c.

W' is that of the machine repairman's model (M/M/c//N; Kleinrock, Queueing Systems I, 1975, section 3.8) for
D' and Z, times W over what the model says for D: schedulers are no queues in order of arrival.

This assumes that threads are alike: target and time are spread evenly over them. (Σt)²/Σt² is the number
of those that share something evenly (Kish, Survey Sampling, 1965). It assumes that Z stays, too: at a device
that all of them wait for in turn, it would grow, and the effect be less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from cozcli.analysis.check.cores import taken_by_others
from cozcli.analysis.input.partners import records_without_partner
from cozcli.analysis.statistics.arrays import Floats
from cozcli.profile.profile import Run
from cozcli.profile.records import ExperimentRecord

#: Threads that wait for each other for more than this share of their time are not independent.
MAX_THREAD_WAIT = 0.02
#: A target belongs to all threads alike if it is spread over this part of them at least.
MIN_SPREAD = 0.75
#: Fewer pairs of samples tell no spread.
MIN_PAIRS = 10.0
#: Where other programs take more than this part of the cores, waiting for one has other causes.
MAX_OTHERS = 0.05
#: Waiting for cores is at most so many times the model's, or less; unless it is this part of the time.
MAX_FACTOR, SMALL_WAIT = 4.0, 0.02
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
    """What baselines say of all threads; None if they wait for each other, or it is not known.

    Nor is it where other programs take much of the cores, or threads wait for cores much more or less than
    the model says.
    """
    known = [
        (run.record.cores, record)
        for run, record in records_without_partner(runs)
        if record.threads and run.record.cores > 0 and record.processor_time > 0 and record.core_wait >= 0
    ]
    cores = {each for each, _ in known}
    baselines = [record for _, record in known if record.speedup == 0]
    if len(cores) != 1 or not baselines:
        return None
    of_cores = cores.pop()
    # Long waits end in any window.
    all_time = sum(_working(record) for _, record in known)
    thread_wait = sum(record.threads.waited for _, record in known if record.threads)
    # Pauses are no time outside.
    length = sum(record.effective_duration for record in baselines)
    number = round(sum(map(_working, baselines)) / length)
    busy = sum(record.processor_time for record in baselines) / length
    waited = sum(record.core_wait for record in baselines) / length
    others = sum(map(taken_by_others, baselines)) / length
    if thread_wait > MAX_THREAD_WAIT * all_time or others > MAX_OTHERS * of_cores:
        return None
    if not 1 < number <= MAX_THREADS or not _is_plausible(number, of_cores, busy, waited):
        return None
    return ClosedNetwork(number, of_cores, busy, waited)


def _working(record: ExperimentRecord) -> float:
    """The time of the threads that work, ns."""
    return record.threads.working * record.effective_duration if record.threads else 0.0


def _is_plausible(threads: int, cores: int, busy: float, waited: float) -> bool:
    modelled = _waiting(threads, cores, busy, max(threads - busy - waited, 0.0))
    if max(modelled, waited) < SMALL_WAIT * threads:
        return True
    return MAX_FACTOR * modelled > waited > modelled / MAX_FACTOR


def locations_of_all_threads(runs: Sequence[Run]) -> frozenset[str]:
    """The targets whose samples are spread evenly over all threads that work."""
    by_location: defaultdict[str, list[ExperimentRecord]] = defaultdict(list)
    for _, record in records_without_partner(runs):
        by_location[record.location].append(record)
    return frozenset(location for location, records in by_location.items() if _is_spread(records))


def _is_spread(records: Sequence[ExperimentRecord]) -> bool:
    """Pairs of samples in one thread, against those that there would be if all threads had as many."""
    found = expected = 0.0
    for record in records:
        if record.threads is None or record.target_samples < 2:
            continue
        pairs = record.target_samples**2
        found += pairs / record.threads.in_target if record.threads.in_target > 0 else 0.0
        expected += pairs / record.threads.working
    return expected >= MIN_PAIRS and MIN_SPREAD * found <= expected
