"""The windows of a profile at one progress point, all targets together, as the arrays of a regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cozcli.analysis.input.partners import min_partner_dose
from cozcli.analysis.input.series import Series
from cozcli.analysis.input.targets import Target, companion_rows
from cozcli.analysis.input.windows import POOL, Window
from cozcli.analysis.statistics.arrays import Bools, Floats, Ints
from cozcli.profile.profile import Run


@dataclass(frozen=True)
class CombinedRows:
    """N windows at one progress point, with J targets.

    log_period: logarithm of the period (or latency), corrected. weight: how much a window counts, 1 on
    average. block: (N,), numbered from 0 without gaps. main: number of the main target, -1 without one.
    main_speedup: of it. part: of the time the main target runs in, the phase correction's factor. companions:
    speedups of the others, (N, J). companion_share: of their samples in the window, (N, J). partner: which of
    them are partners, (N, J).
    """

    targets: tuple[Target, ...]
    log_period: Floats
    weight: Floats
    block: Ints
    main: Ints
    main_speedup: Floats
    part: Floats
    companions: Floats
    companion_share: Floats
    partner: Bools

    def __len__(self) -> int:
        return len(self.log_period)

    def part_of(self, first: Ints, second: Ints, windows: Bools | slice = slice(None)) -> Floats:
        """Of K pairs of targets: `part` where one of them is the main target, else 1; (windows, K)."""
        main, part = self.main[windows, None], self.part[windows, None]
        return np.where((main == first) | (main == second), part, 1.0)

    @property
    def speedups(self) -> Floats:
        """Of all targets, the main one too, (N, J)."""
        found = self.companions.copy()
        main = np.flatnonzero(self.main >= 0)
        found[main, self.main[main]] = self.main_speedup[main]
        return found


def arrange_rows(
    all_series: Sequence[Series],
    by_target: Mapping[str, Sequence[Window]],
    runs: Sequence[Run],
    targets: Sequence[Target],
    parts: Mapping[str, float],
) -> CombinedRows | None:
    """Join the series of one progress point.

    Args:
        all_series: corrected, each with the windows of its location in `by_target`, in their order.
        parts: the phase correction's factor, by location.

    Returns:
        None if no window has a period.
    """
    index = {target.location: number for number, target in enumerate(targets)}
    columns: list[tuple[Floats, ...]] = []
    speedups, shares, least = [], [], []
    for series in all_series:
        windows = by_target[series.location]
        own = np.array([not window.is_of_other_target for window in windows])
        usable = series.has_visits & own & (series.time > 0) & (series.weight > 0)
        used = [int(i) for i in np.flatnonzero(usable)]
        if not used:
            continue
        periods = np.log(series.numerator[used] / series.denominator[used])
        pooled = np.array([-1 - windows[i].run for i in used])
        stratum = np.where(series.stratum[used] == POOL, pooled, series.stratum[used])
        location = windows[0].record.location  # windows with a partner are named after both
        main = np.full(len(used), float(index.get(location, -1)))
        part = np.full(len(used), parts.get(location, 1.0))
        weight = series.weight[used] * series.effective[used]
        columns.append((periods, weight, stratum.astype(float), main, series.speedup[used], part))
        rows = companion_rows([windows[i] for i in used], runs, index)
        speedups.append(rows.speedup)
        shares.append(rows.share)
        least += [min_partner_dose(runs[windows[i].run].record.companion_dose) for i in used]
    if not columns:
        return None
    log_period, weight, stratum, main, speedup, part = (
        np.concatenate(values) for values in zip(*columns, strict=True)
    )
    companions = np.vstack(speedups)
    dose = companions * np.array([target.share for target in targets])
    return CombinedRows(
        targets=tuple(targets),
        log_period=log_period,
        weight=weight / weight.mean(),
        block=np.unique(stratum, return_inverse=True)[1].astype(np.int64),
        main=main.astype(np.int64),
        main_speedup=speedup,
        part=part,
        companions=companions,
        companion_share=np.vstack(shares),
        partner=(companions > 0) & (dose >= np.array(least)[:, None]),
    )
