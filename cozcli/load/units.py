"""What a bootstrap at one load draws: runs, or windows where runs are few."""

from __future__ import annotations

import numpy as np

from cozcli.analysis.statistics.arrays import Floats, Ints

#: With so many runs of a level, runs are drawn; with fewer, windows.
MIN_RUNS = 4


def sums_of_units(values: Floats, runs: Ints) -> Floats:
    """The sums of rows that belong to one run, (U, K), or the rows themselves, (N, K).

    Args:
        values: of windows, (N, K). runs: which run each belongs to, (N,).
    """
    different = np.unique(runs)
    if len(different) < MIN_RUNS:
        return values
    return np.array([values[runs == run].sum(axis=0) for run in different])
