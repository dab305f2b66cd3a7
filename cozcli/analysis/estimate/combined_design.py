"""What each coefficient of combined_fit.py adds to the period of each window: the columns of a regression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cozcli.analysis.estimate.combined_rows import CombinedRows
from cozcli.analysis.statistics.arrays import Bools, Floats, Ints

#: Numbers of two targets, the lower one first.
Pair = tuple[int, int]

#: The intercept, c and κ stand first.
FIXED = 3
#: Targets of a smaller share bend by less than can be seen.
MIN_SHARE_TO_BEND = 0.01
#: A target has at least this share: one that no sample has met may run all the same.
MIN_SHARE = 1e-4
#: The random walk by its largest principal components.
BENDS = 4
GRID = 101
#: Where a main target's curve has become flat, companions save this part less, on average; and by how much
#: that differs between targets.
MEAN_LOSS, VARIANCE_LOSS = 0.5, 0.35**2
#: Curves that begin with less than this part of their share are not looked at for where they become flat.
MIN_START = 0.3


def bend_kernel(s: Floats, t: Floats) -> Floats:
    """Covariance of an integrated random walk, (len(s), len(t))."""
    least, most = np.minimum(s[:, None], t), np.maximum(s[:, None], t)
    return np.asarray(least**2 * (3 * most - least) / 6)


def _components() -> Floats:
    """(GRID, BENDS): principal components on a grid of speedups, each scaled by its standard deviation."""
    grid = np.linspace(0, 1, GRID)
    values, vectors = np.linalg.eigh(bend_kernel(grid, grid))
    largest = np.argsort(values)[::-1][:BENDS]
    return np.asarray(vectors[:, largest] * np.sqrt(np.maximum(values[largest], 0.0)))


def at_speedups(components: Floats, speedups: Floats) -> Floats:
    """The components at some speedups, (S, BENDS)."""
    grid = np.linspace(0, 1, len(components))
    return np.column_stack([np.interp(speedups, grid, column) for column in components.T])


class CombinedDesign:
    """The columns: intercept, c, κ, u of J targets, then for each target that may bend its bends and its
    loss, and at last the pairs.

    scale: small effects of targets are so many times what they save. share: a, (J,). bending: numbers of the
    targets that may bend. matrix: (N, P), parts of B.
    """

    def __init__(self, rows: CombinedRows, pairs: Sequence[Pair] = (), scale: float = 1.0) -> None:
        self._min_start = MIN_START / scale
        self.share = np.maximum([target.share for target in rows.targets], MIN_SHARE)
        self.components = _components()
        self.rows = rows
        self._sped_up = np.flatnonzero((rows.main >= 0) & (rows.main_speedup > 0))
        self._main = rows.main[self._sped_up]
        partners = np.flatnonzero(rows.partner.any(axis=0))
        self.bending = [
            int(t) for t in np.union1d(self._main, partners) if self.share[t] >= MIN_SHARE_TO_BEND
        ]
        self.pairs = tuple(pairs)
        self.first_bend = FIXED + len(self.share)
        self.first_loss = self.first_bend + BENDS * len(self.bending)
        self.first_pair = self.first_loss + len(self.bending)
        self.matrix = np.zeros((len(rows), self.first_pair + len(self.pairs)))
        for target in self.bending:
            own, beside = self._own(target), np.flatnonzero(rows.partner[:, target])
            shape = at_speedups(self.components, rows.main_speedup[own]) / rows.part[own][:, None]
            self.matrix[own, self.bends_of(target)] = -self.share[target] * shape
            shape = at_speedups(self.components, rows.companions[beside, target])
            self.matrix[beside, self.bends_of(target)] = -self.share[target] * shape
        speedups = rows.speedups
        for number, pair in enumerate(self.pairs):
            part = rows.part_of(*np.array(pair)[:, None])[:, 0]
            together = np.minimum(*speedups[:, pair].T) / part
            self.matrix[:, self.first_pair + number] = -self.smaller_share(pair) * together
        self._loses = self._losing()
        self.update(None, np.ones(len(rows)))

    def smaller_share(self, pair: Pair) -> float:
        """What a pair can save beyond the sum of each alone, for each unit of speedup, is at most this."""
        return float(self.share[list(pair)].min())

    def _losing(self) -> Bools:
        """(N, J): which companions lose something to a flat curve. Of pairs, their coefficient tells."""
        loses = ~self.rows.partner
        for pair in self.pairs:
            for main, other in (pair, pair[::-1]):
                loses[self.rows.main == main, other] = False
        return loses

    def bends_of(self, target: int) -> slice:
        """The columns of a target's bends."""
        start = self.first_bend + BENDS * self.bending.index(target)
        return slice(start, start + BENDS)

    def update(self, mean: Floats | None, relative: Floats) -> None:
        """Fill in what depends on the coefficients, `mean`, and on p/B, `relative`: losses and κ."""
        rows, flat = self.rows, np.zeros(len(self.rows))
        if mean is not None:
            for target in self.bending:
                own = self._own(target)
                flat[own] = self._flatness(target, mean, rows.main_speedup[own])
        kept = 1 - MEAN_LOSS * flat[:, None] * self._loses
        speedup = rows.companions * kept
        speedup[self._sped_up, self._main] += rows.main_speedup[self._sped_up] / rows.part[self._sped_up]
        dose = speedup * self.share
        self.matrix[:, 1] = -dose.sum(axis=1)
        self.matrix[:, 2] = _chance(rows, relative, kept)
        self.matrix[:, FIXED : self.first_bend] = -dose
        if mean is not None:
            saved = (rows.companions * self._loses * self.share) @ (mean[1] + mean[FIXED : self.first_bend])
            for number, target in enumerate(self.bending):
                own = self._own(target)
                self.matrix[own, self.first_loss + number] = flat[own] * saved[own]

    def _own(self, target: int) -> Ints:
        return np.asarray(self._sped_up[self._main == target])

    def _flatness(self, target: int, mean: Floats, speedups: Floats) -> Floats:
        """How much less steep the target's curve is at some speedups than at first, between 0 and 1."""
        grid = np.linspace(0, 1, GRID)
        start = mean[1] + mean[FIXED + target]
        if start < self._min_start:
            return np.zeros(len(speedups))
        slope = start + np.gradient(self.components @ mean[self.bends_of(target)], grid)
        return np.asarray(np.clip(1 - np.interp(speedups, grid, slope) / start, 0.0, 1.0))


def _chance(rows: CombinedRows, relative: Floats, kept: Floats) -> Floats:
    """−z: delay that companions got beyond their speedups, in parts of B; `kept`: how much of it counts.

    Work for each visit is the same at every speedup: samples in a window, times its period, against their
    mean.
    """
    active = (rows.companions > 0) & ~rows.partner
    work = rows.companion_share * relative[:, None]
    mean = (work * active).sum(axis=0) / np.maximum(active.sum(axis=0), 1)
    return np.asarray(-(rows.companions * active * kept * (work - mean)).sum(axis=1))
