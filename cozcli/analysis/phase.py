"""The phase correction (dissertation §5.2.5.7, eq. 5.8).

Windows are measured while the selected line runs. If it runs only in a part t_A of the whole time T,
the effect on the whole program is smaller by t_A / T = (s / T) / (s_obs / t_obs): the line's samples
over the whole run, s, against its samples in windows, s_obs.

Two departures from the formula as printed, both because virtual speedups change rates:
s_obs / t_obs comes from baseline windows only; and time spent under a virtual speedup is counted in T
as long as the same work would have taken without it (divided by p_s/p_0 of those windows).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from cozcli.analysis.grouping import Window
from cozcli.analysis.intervals import t_quantile
from cozcli.analysis.result import Phase
from cozcli.profile.profile import Run

#: Fewer baseline windows say too little about s_obs / t_obs.
MIN_WINDOWS = 5
#: Relative error of T that no statistics show: start-up, time between windows under other speedups,
#: and, in classic profiles, delays that are computed instead of recorded.
SYSTEMATIC_ERROR = 0.03
#: p_s/p_0 below this is noise; it bounds how much time one window may stand for.
SMALLEST_RATIO = 0.05


def phase_correction(
    location: str,
    windows: Sequence[Window],
    runs: Sequence[Run],
    ratios: Mapping[tuple[str, float], float],
) -> Phase:
    """The factor for one line, 1 unless it is significantly (95 %, one-sided) below 1.

    Args:
        location: the line.
        windows: its usable windows.
        runs: all runs.
        ratios: p_s/p_0 by line and speedup, for counting time under virtual speedups.
    """
    baseline = [w.record for w in windows if w.record.speedup == 0 and not w.borrowed]
    if len(baseline) < MIN_WINDOWS:
        return Phase()
    hits = np.array([record.hits for record in baseline], dtype=np.float64)
    time = np.array([record.effective_duration for record in baseline], dtype=np.float64)
    samples, run_time = _whole_runs(location, {w.run for w in windows}, runs, ratios)
    if hits.sum() == 0 or samples == 0 or run_time == 0:
        return Phase()
    rate = hits.sum() / time.sum()
    estimate = float(samples / run_time / rate)
    residuals = hits - rate * time
    n = len(baseline)
    variance = (
        float(residuals @ residuals) * n / (n - 1) / float(hits.sum()) ** 2
        + 1 / samples
        + SYSTEMATIC_ERROR**2
    )
    error = math.sqrt(variance)
    if math.log(estimate) + t_quantile(0.95, n - 1) * error >= 0:
        return Phase(1.0, estimate, error)
    return Phase(estimate, estimate, error)


def _whole_runs(
    location: str,
    measured: set[int],
    runs: Sequence[Run],
    ratios: Mapping[tuple[str, float], float],
) -> tuple[int, float]:
    """Samples in the line and time, summed over the runs in which it was measured.

    Per run, at the latest record that has both: the last `samples` record or one of its windows.
    """
    samples, time = 0, 0.0
    for number in measured:
        run = runs[number]
        latest, count = 0, 0
        if run.samples is not None:
            counts = [line.count for line in run.samples.lines if line.location == location]
            latest, count = (run.samples.run_time, counts[0]) if counts else (0, 0)
        for record in run.experiments:
            if record.location == location and record.line_samples >= 0 and record.run_time > latest:
                latest, count = record.run_time, record.line_samples
        if latest == 0:
            continue
        samples += count
        time += latest
        for record in run.experiments:
            if record.speedup > 0 and record.run_time <= latest:
                ratio = max(ratios.get((record.location, record.speedup), 1.0), SMALLEST_RATIO)
                time += record.effective_duration * (1 / ratio - 1)
    return samples, max(time, 0.0)
