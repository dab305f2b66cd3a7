"""Scales effects measured while a line runs to the whole program (dissertation §5.2.5.7, eq. 5.8).

Windows are measured while the selected line runs. If it runs only in a part t_A of the whole time T, the
effect on the whole program is smaller by t_A / T = (s / T) / (s_obs / t_obs): the line's samples over the
whole run, s, against its samples in windows, s_obs.

Two departures from the formula as printed, both because virtual speedups change rates: s_obs / t_obs comes
from baselines only; and time spent under a virtual speedup is counted in T as long as the same work would
have taken without it (divided by p_s/p_0 of those windows).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cozcli.analysis.correct.protocol import Context, PeriodRatios
from cozcli.analysis.input.series import Factor, Series
from cozcli.analysis.input.windows import Window
from cozcli.analysis.result import Phase
from cozcli.analysis.statistics.distributions import t_quantile
from cozcli.profile.profile import Run

#: Fewer baseline windows say too little about s_obs / t_obs.
MIN_WINDOWS = 5
#: Relative error of T that no statistics show: start-up, time between windows under other speedups,
#: and, in classic profiles, delays that are computed instead of recorded.
SYSTEMATIC_ERROR = 0.03
#: p_s/p_0 below this is noise; it bounds how much time one window may stand for.
MIN_RATIO = 0.05


class PhaseOfLine:
    """The correction; writes `Context.phases`."""

    def adjust(self, all_series: Sequence[Series], context: Context) -> list[Series]:
        """The series with the factor of their line."""
        ratios = context.period_ratios(all_series)
        for location in dict.fromkeys(series.location for series in all_series):
            windows = context.by_line[location]
            context.phases[location] = phase_correction(location, windows, context.runs, ratios)
        return [series.multiplied(_factor(context.phases[series.location])) for series in all_series]


def _factor(phase: Phase) -> Factor:
    """Where nothing is corrected, nothing is uncertain."""
    return Factor(phase.factor, phase.standard_error, is_at_most_one=True) if phase.factor < 1 else Factor()


def phase_correction(
    location: str,
    windows: Sequence[Window],
    runs: Sequence[Run],
    ratios: PeriodRatios,
) -> Phase:
    """The factor for one line, 1 unless it is significantly (95 %, one-sided) below 1.

    Args:
        location: the line. windows: its usable windows. runs: all runs.
        ratios: p_s/p_0 by line and speedup, for counting time under virtual speedups.
    """
    baseline = [w.record for w in windows if w.record.speedup == 0 and not w.is_borrowed]
    if len(baseline) < MIN_WINDOWS:
        return Phase()
    samples_seen = np.array([record.hits for record in baseline], dtype=np.float64)
    time = np.array([record.effective_duration for record in baseline], dtype=np.float64)
    samples, run_time = _whole_runs(location, {w.run for w in windows}, runs, ratios)
    if samples_seen.sum() == 0 or samples == 0 or run_time == 0:
        return Phase()
    rate = samples_seen.sum() / time.sum()
    estimate = float(samples / run_time / rate)
    residuals = samples_seen - rate * time
    n = len(baseline)
    variance = (
        float(residuals @ residuals) * n / (n - 1) / float(samples_seen.sum()) ** 2
        + 1 / samples
        + SYSTEMATIC_ERROR**2
    )
    error = math.sqrt(variance)
    if math.log(estimate) + float(t_quantile(0.95, n - 1)) * error >= 0:
        return Phase(1.0, estimate, error)
    return Phase(estimate, estimate, error)


def _whole_runs(
    location: str,
    measured: set[int],
    runs: Sequence[Run],
    ratios: PeriodRatios,
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
                ratio = max(ratios.get((record.location, record.speedup), 1.0), MIN_RATIO)
                time += record.effective_duration * (1 / ratio - 1)
    return samples, max(time, 0.0)
