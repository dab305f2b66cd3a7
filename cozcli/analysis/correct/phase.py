"""Scales effects measured while a line runs to the whole program (dissertation §5.2.5.7, eq. 5.8).

Windows are measured while the selected line runs. If it runs only in a part t_A of the whole time T, the
effect on the whole program is smaller by t_A / T = (s / T) / (s_obs / t_obs): the line's samples over the
whole run, s, against its samples in windows, s_obs.

Two departures from the formula as printed, both because virtual speedups change rates: s_obs / t_obs comes
from baselines only; and s / T is the larger of two estimates.

- Time under a virtual speedup is counted in T as long as the same work would have taken without it (divided
  by p_s/p_0 of those windows). That makes T too long where a speedup changes how often each thread visits
  the point, as where nobody waits for a lock any more.
- Time and samples under a speedup are left out (not known in older profiles). That makes s too small where
  experiments run only while the line does.
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
        runs = [_WholeRun(run, ratios) for run in context.runs]
        for location in dict.fromkeys(series.location for series in all_series):
            context.phases[location] = phase_correction(location, context.by_target[location], runs)
        return [series.multiplied(_factor(context.phases[series.location])) for series in all_series]


class _WholeRun:
    """A run as a whole: samples of each line, and the time that its work would take without speedups.

    Args:
        ratios: p_s/p_0 by line and speedup, for counting time under virtual speedups.
    """

    def __init__(self, run: Run, ratios: PeriodRatios) -> None:
        #: By line, the latest record that has both: run time and samples until then; and those at speedup 0.
        self._latest: dict[str, tuple[int, int]] = {}
        self._latest_at_0: dict[str, tuple[int, int]] = {}
        for record in run.experiments:
            if record.run_time_at_0 > self._latest_at_0.get(record.location, (0, 0))[0]:
                self._latest_at_0[record.location] = record.run_time_at_0, record.line_samples_at_0
        if run.samples is not None:
            for line in run.samples.lines:
                self._latest.setdefault(line.location, (run.samples.run_time, line.count))
        for record in run.experiments:
            if record.line_samples >= 0 and record.run_time > self._latest.get(record.location, (0, 0))[0]:
                self._latest[record.location] = record.run_time, record.line_samples
        treatments = sorted(
            (record for record in run.experiments if record.speedup > 0), key=lambda record: record.run_time
        )
        self._ends = np.array([record.run_time for record in treatments])
        known = [max(ratios.get((r.location, r.speedup), 1.0), MIN_RATIO) for r in treatments]
        extra = [r.effective_duration * (1 / ratio - 1) for r, ratio in zip(treatments, known, strict=True)]
        self._extra = np.concatenate([[0.0], np.cumsum(extra)])

    def without_speedups(self, location: str) -> tuple[int, float]:
        """Samples in the line, and time, while nothing was sped up; zeros if not known."""
        time, samples = self._latest_at_0.get(location, (0, 0))
        return samples, float(time)

    def samples_and_time(self, location: str) -> tuple[int, float]:
        """Samples in the line, and time, until the latest record that has both; zeros if none has."""
        time, samples = self._latest.get(location, (0, 0))
        if time == 0:
            return 0, 0.0
        return samples, time + float(self._extra[np.searchsorted(self._ends, time, side="right")])


def _total(of_runs: Sequence[tuple[int, float]]) -> tuple[int, float]:
    return sum(samples for samples, _ in of_runs), sum(time for _, time in of_runs)


def _factor(phase: Phase) -> Factor:
    """Where nothing is corrected, nothing is uncertain."""
    return Factor(phase.factor, phase.standard_error, is_at_most_one=True) if phase.factor < 1 else Factor()


def phase_correction(location: str, windows: Sequence[Window], runs: Sequence[_WholeRun]) -> Phase:
    """The factor for one line, 1 unless it is significantly (95 %, one-sided) below 1.

    Args:
        windows: the usable ones of the line. runs: all of them, as windows number them.
    """
    baseline = [w.record for w in windows if w.record.speedup == 0 and not w.is_of_other_target]
    if len(baseline) < MIN_WINDOWS:
        return Phase()
    in_windows = np.array([record.target_samples for record in baseline], dtype=np.float64)
    time = np.array([record.effective_duration for record in baseline], dtype=np.float64)
    of_runs = [runs[number] for number in {w.run for w in windows}]
    measured = [
        _total([run.samples_and_time(location) for run in of_runs]),
        _total([run.without_speedups(location) for run in of_runs]),
    ]
    samples, run_time = max(measured, key=lambda each: each[0] / max(each[1], 1.0))
    if in_windows.sum() == 0 or samples == 0 or run_time <= 0:
        return Phase()
    rate = in_windows.sum() / time.sum()
    estimate = float(samples / run_time / rate)
    residuals = in_windows - rate * time
    n = len(baseline)
    variance = (
        float(residuals @ residuals) * n / (n - 1) / float(in_windows.sum()) ** 2
        + 1 / samples
        + SYSTEMATIC_ERROR**2
    )
    error = math.sqrt(variance)
    if math.log(estimate) + float(t_quantile(0.95, n - 1)) * error >= 0:
        return Phase(1.0, estimate, error)
    return Phase(estimate, estimate, error)
