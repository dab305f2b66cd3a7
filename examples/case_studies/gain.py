"""What a change has gained: from pairs of runs, before and after, that were made in turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: Resamplings for an interval, and sign changes for a test; its smallest p is 1 / (SIGN_CHANGES + 1).
RESAMPLES, SIGN_CHANGES = 10_000, 10_000


@dataclass(frozen=True)
class Gain:
    """Time saved for each unit of work, as a fraction of the time before, with its 95 % interval.

    That is the scale of Coz's effects. `p` is the probability of so much by chance: of the pairs' logarithmic
    ratios, the signs are changed at random.
    """

    effect: float
    low: float
    high: float
    p: float
    before: float
    after: float
    pairs: int

    @property
    def significant(self) -> bool:
        """Is it certain at 5 %?"""
        return self.p < 0.05


def gain(before: Sequence[float], after: Sequence[float], seed: int = 1) -> Gain:
    """Of rates (units a second) before and after, pair by pair: runs that were next to each other.

    The effect is 1 less the median ratio of the times; pairs cancel what drifts. The interval: bootstrap.
    """
    if len(before) != len(after) or not before:
        raise ValueError("as many rates after the change as before it, and at least one")
    random = np.random.default_rng(seed)
    ratios = np.asarray(before) / np.asarray(after)  # of times: the reverse of rates
    picks = random.integers(len(ratios), size=(RESAMPLES, len(ratios)))
    low, high = 1 - np.quantile(np.median(ratios[picks], axis=1), [0.975, 0.025])
    logs = np.log(ratios)
    signs = random.choice([-1.0, 1.0], size=(SIGN_CHANGES, len(logs)))
    extreme = np.abs((signs * logs).mean(axis=1)) >= abs(logs.mean()) - 1e-12
    return Gain(
        effect=float(1 - np.median(ratios)),
        low=float(low),
        high=float(high),
        p=float((extreme.sum() + 1) / (SIGN_CHANGES + 1)),
        before=float(np.median(before)),
        after=float(np.median(after)),
        pairs=len(ratios),
    )
