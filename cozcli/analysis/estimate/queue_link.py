"""How much shorter an operation gets when targets save a part of its time: behind a queue, by more than that.

With x the part that is saved of the time that an operation takes by itself, a latency without a queue is
W_0·(1 − x). Where operations queue, they also wait less for each other:

    W = W_0·(1 − x)/(1 + η·x),      η ≥ 0.

That is exact for random arrivals at one server whose times are exponential (M/M/1), with η = ρ/(1 − ρ) and ρ
the server's utilisation; for others it is the simplest curve that starts steeper and gets flat. A period has
no such queue: η is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cozcli.analysis.statistics.arrays import Floats

#: What an x below 0 makes of the denominator at least: a queue that grows has no mean.
MIN_DENOMINATOR = 0.05


@dataclass(frozen=True)
class QueueLink:
    """The relation for one η; `left` is 1 − x, any shape."""

    eta: float = 0.0

    def relative(self, left: Floats) -> Floats:
        """W/W_0."""
        return np.asarray(left / self._denominator(left), dtype=np.float64)

    def left(self, relative: Floats) -> Floats:
        """What is left where W/W_0 is this: the inverse of relative()."""
        return np.asarray(relative * (1 + self.eta) / (1 + self.eta * relative), dtype=np.float64)

    def slope(self, left: Floats) -> Floats:
        """The derivative of W/W_0 by `left`."""
        return np.asarray((1 + self.eta) / self._denominator(left) ** 2, dtype=np.float64)

    def log_slope(self, left: Floats) -> Floats:
        """The derivative of log(W/W_0) by `left`."""
        return np.asarray(1 / left + self.eta / self._denominator(left), dtype=np.float64)

    def _denominator(self, left: Floats) -> Floats:
        return np.maximum(1 + self.eta * (1 - left), MIN_DENOMINATOR)
