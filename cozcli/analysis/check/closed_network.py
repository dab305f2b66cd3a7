"""Threads that share the cores, but never wait for each other: a closed queueing network.

Each of N threads takes turns between computing on c cores and waiting for something outside, as in a server
with a thread for each client. A cycle of thread i takes D_i of processor time, W_i of waiting for a core and
Z_i outside. A target that takes less of some D_i leaves more of the cores to all; a thread that never waits
outside leaves nothing. Schedulers share in one of two ways, of which baselines tell:

* All who wait for cores have the same part of their time, since one that has slept gets more afterwards
  (Linux before 6.6). That part rises: T'_i = max(D'_i/θ, D'_i + Z_i).
* At the cores each gets the part g_i = D_i/(D_i + W_i) of one, which rises: T'_i = D'_i/min(θ·g_i, 1) + Z_i.

θ is such that Σ D'_i/T'_i = U', the cores in use. U'/U is that of cores of which each of n threads at them
has min(n, c)/n. Such a network has a product form (Baskett, Chandy, Muntz and Palacios, J. ACM 22, 1975): the
set S of threads is at the cores with a probability proportional to

    |S|! / Π_{k ≤ |S|} min(k, c)  ·  Π_{i in S} D_i  ·  Π_{i not in S} Z_i

If threads are alike, this is the machine repairman's model. It assumes that Z_i stays. At a device that all
of them wait for in turn, it would grow, and the effect be less.
"""

from __future__ import annotations

import numpy as np

from cozcli.analysis.statistics.arrays import Floats

#: Waiting for cores is at most so many times the model's, and at least that part of it; unless it takes less
#: than this part of the time.
MAX_FACTOR, SMALL_WAIT = 4.0, 0.02
#: Times are not exact enough to tell that a thread is outside for less than this part of its time.
SMALL_OUTSIDE = 0.02
#: All who wait for cores have the same part of their time if none has less than this of the most.
EVEN = 0.95
#: No thread computes for less than this part of its time.
_LEAST = 1e-9
#: θ is found between 1 over this and this, by so many halvings.
_MAX_SCALE, _HALVINGS = 64.0, 40


class ClosedNetwork:
    """cores: c. busy, waited: by thread, the parts of its time in which it computes, and waits for a core.

    outside: the rest of it.
    """

    def __init__(self, cores: int, busy: Floats, waited: Floats) -> None:
        # Where threads pause, those that do not may have more than there is.
        all_time = np.maximum(busy + waited, max(float(busy.sum()) / cores, 1.0))
        self._cores = cores
        self._busy, self._waited = np.maximum(busy / all_time, _LEAST), waited / all_time
        outside = 1 - self._busy - self._waited
        # A thread that never sleeps would seem to do so once its work takes no time.
        self.outside = np.where(outside < SMALL_OUTSIDE, 0.0, outside)
        self._speed = self._busy / (self._busy + self._waited)
        waiting = self._busy[self._waited > SMALL_WAIT]
        self._is_even = len(waiting) > 0 and waiting.min() >= EVEN * self._busy.max()
        self._used_if_fair = self._used(self._busy)
        self._today = self._cycles(self._busy)

    @property
    def is_plausible(self) -> bool:
        """Do threads wait for cores about as long as if these were fair?"""
        modelled, waited = float(self._fair_waits(self._busy).sum()), float(self._waited.sum())
        if max(modelled, waited) < SMALL_WAIT * len(self._busy):
            return True
        return MAX_FACTOR * modelled > waited > modelled / MAX_FACTOR

    def periods(self, saved: Floats) -> Floats:
        """By thread, its period over today's, if these parts of its processor time are saved."""
        return np.asarray(self._cycles(np.maximum(self._busy * (1 - saved), _LEAST)) / self._today)

    def if_waits_stay(self, periods: Floats, saved: Floats) -> Floats:
        """The same periods; but threads that sleep wait for cores as long as today after each sleep.

        Some schedulers let them wait until another one's turn ends, however short their own will be.
        """
        if self._is_even:
            return periods
        if_stays = self._busy * (1 - saved) + self._waited + self.outside
        return np.where(self.outside > SMALL_WAIT, np.maximum(periods, if_stays / self._today), periods)

    def _cycles(self, computing: Floats) -> Floats:
        """T by thread, of cycles with this D."""
        used = float(self._busy.sum()) * self._used(computing) / self._used_if_fair
        low, high = np.log(1 / _MAX_SCALE), np.log(_MAX_SCALE)
        for _ in range(_HALVINGS):
            scale = (low + high) / 2
            is_more = float((computing / self._shared(computing, np.exp(scale))).sum()) > used
            low, high = (low, scale) if is_more else (scale, high)
        return self._shared(computing, np.exp(low))

    def _shared(self, computing: Floats, scale: float) -> Floats:
        """T where θ is `scale`."""
        if self._is_even:
            return np.maximum(computing / scale, computing + self.outside)
        return np.asarray(computing / np.minimum(scale * self._speed, 1.0) + self.outside)

    def _used(self, computing: Floats) -> float:
        """U of fair cores."""
        cycles = computing + self._fair_waits(computing) + self.outside
        return min(float((computing / cycles).sum()), self._cores)

    def _fair_waits(self, computing: Floats) -> Floats:
        """W by thread, of cycles with this D."""
        threads = len(computing)
        at_cores = np.arange(threads + 1)
        running = np.minimum(at_cores, self._cores)
        # log of n! / Π min(k, c)
        orders = np.cumsum(np.log(np.maximum(at_cores, 1) / np.maximum(running, 1)))
        weight = np.exp(orders - orders.max())
        # Only the ratio of both counts, and products of small numbers vanish.
        own = self.outside + computing
        factors = [np.array(each) for each in zip(self.outside / own, computing / own, strict=True)]
        total = float(_product(factors) @ weight)
        rate_of_each = running[1:] / at_cores[1:]
        rates = [float(others @ (weight[1:] * rate_of_each)) / total for others in _without_each(factors)]
        waiting = own * (1 / np.maximum(np.array(rates), _LEAST) - 1)
        return np.asarray(np.maximum(waiting, 0.0))


def _product(factors: list[Floats]) -> Floats:
    """Of polynomials: coefficient n is the weight of n threads at the cores."""
    product = np.ones(1)
    for factor in factors:
        product = np.convolve(product, factor)
    return product


def _without_each(factors: list[Floats]) -> list[Floats]:
    """The products of all but one."""
    before, after = [np.ones(1)], [np.ones(1)]
    for factor in factors[:-1]:
        before.append(np.convolve(before[-1], factor))
    for factor in factors[:0:-1]:
        after.append(np.convolve(after[-1], factor))
    return [np.convolve(low, high) for low, high in zip(before, reversed(after), strict=True)]
