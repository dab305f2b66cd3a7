"""The estimates of all targets on all progress points from combined windows: one fit for each point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cozcli.analysis.estimate.combined_pairs import PairEstimate, estimate_pair, fit_with_pairs
from cozcli.analysis.estimate.combined_rows import CombinedRows, arrange_rows
from cozcli.analysis.estimate.combined_target import CombinedEstimate, estimate_combined
from cozcli.analysis.input.series import Factor, Series
from cozcli.analysis.input.targets import MIN_UNTRIED, find_targets
from cozcli.analysis.input.windows import Window
from cozcli.analysis.result import THROUGHPUT, Phase, PointKey
from cozcli.profile.profile import Run

#: With fewer windows nothing can be told apart.
MIN_ROWS = 8


@dataclass(frozen=True)
class OfPoint:
    """The estimates of one progress point and kind: of targets, and of pairs of them by their numbers."""

    key: PointKey
    estimates: Mapping[int, CombinedEstimate]
    pairs: tuple[PairEstimate, ...]


def estimate_points(
    all_series: Sequence[Series],
    by_target: Mapping[str, Sequence[Window]],
    runs: Sequence[Run],
    phases: Mapping[str, Phase],
    factors: Mapping[PointKey, Factor],
    pauses: Callable[[str, PointKey], float],
) -> list[OfPoint]:
    """Estimate every target at every progress point that enough windows saw.

    Args:
        all_series: corrected; those of one target stand in the order of its windows in `by_target`.
        phases: by location. factors: what corrections multiply all effects on a point by. pauses: what
            pause_error() says, by location and point.
    """
    targets = find_targets(runs, by_target)
    parts = {location: phase.factor for location, phase in phases.items()}
    found = []
    for key in dict.fromkeys(series.key for series in all_series):
        of_point = [series for series in all_series if series.key == key]
        rows = arrange_rows(of_point, by_target, runs, targets, parts)
        if rows is None or len(rows) < MIN_ROWS:
            continue
        fit, pairs = fit_with_pairs(rows, key[1])
        of_all = [factors[key]] if key in factors else []
        own = {series.location: _own_errors(series, of_all) for series in of_point}
        estimates = {}
        for number in _told_of(rows, key):
            location = targets[number].location
            told = [*of_all, *own.get(location, ())]
            estimates[number] = estimate_combined(fit, number, key[1], told, pauses(location, key))
        together = tuple(estimate_pair(fit, pair, key[1], of_all) for pair in pairs)
        found.append(OfPoint(key, estimates, together))
    return found


def _own_errors(series: Series, of_all: Sequence[Factor]) -> list[Factor]:
    """The errors of what corrections did to the windows of one main target.

    Rows have the factors of windows, and effects that of all targets, so that nothing is multiplied again.
    """
    own = [factor for factor in series.factors if factor not in of_all and factor.relative_error > 0]
    return [Factor(1.0, factor.relative_error) for factor in own]


def _told_of(rows: CombinedRows, key: PointKey) -> list[int]:
    """Targets of which windows on a point tell: those that were sped up; of throughput, also those whose
    share of the time alone says what they may save.
    """
    as_companion = np.flatnonzero((rows.companions > 0).any(axis=0))
    sped_up = np.union1d(as_companion, rows.main[(rows.main >= 0) & (rows.main_speedup > 0)])
    if key[1] != THROUGHPUT:
        return [int(number) for number in sped_up]
    untried = [n for n, target in enumerate(rows.targets) if target.bound >= MIN_UNTRIED]
    return [int(number) for number in np.union1d(sped_up, untried)]
