"""Scales effects measured while a line runs to the whole program (dissertation §5.2.5.7, eq. 5.8).

Windows are measured while the selected line runs. If it runs only in a part t_A of the whole time T, the
effect on the whole program is smaller by t_A / T = (s / T) / (s_obs / t_obs): the line's samples over the
whole run, s, against its samples in windows, s_obs.

Two departures from the formula as printed, both because virtual speedups change rates. s_obs / t_obs comes
from baselines only. And time spent under a virtual speedup is counted in T as long as the same work would
have taken without it (divided by p_s/p_0 of those windows). That makes T too long where a speedup changes how
often each thread visits the point, as where nobody waits for a lock any more. So s / T is raised to what it
is in the time without any speedup, if it is significantly larger there.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from cozcli.analysis.correct.protocol import Context, PeriodRatios
from cozcli.analysis.input.series import Factor, Series
from cozcli.analysis.input.windows import Window
from cozcli.analysis.result import Phase
from cozcli.analysis.statistics.arrays import Floats
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
        #: By line, the latest record that has both: run time and samples until then.
        self._latest: dict[str, tuple[int, int]] = {}
        #: By line, of each record that has them: run time and samples until then, and those at speedup 0.
        self._at_0: defaultdict[str, list[tuple[int, int, int, int]]] = defaultdict(list)
        if run.samples is not None:
            for line in run.samples.lines:
                self._latest.setdefault(line.location, (run.samples.run_time, line.count))
        for record in run.experiments:
            if record.line_samples >= 0 and record.run_time > self._latest.get(record.location, (0, 0))[0]:
                self._latest[record.location] = record.run_time, record.line_samples
            if min(record.run_time, record.line_samples, record.run_time_at_0, record.line_samples_at_0) >= 0:
                self._at_0[record.location].append(
                    (record.run_time, record.line_samples, record.run_time_at_0, record.line_samples_at_0)
                )
        treatments = sorted(
            (record for record in run.experiments if record.speedup > 0), key=lambda record: record.run_time
        )
        self._ends = np.array([record.run_time for record in treatments])
        known = [max(ratios.get((r.location, r.speedup), 1.0), MIN_RATIO) for r in treatments]
        extra = [r.effective_duration * (1 / ratio - 1) for r, ratio in zip(treatments, known, strict=True)]
        self._extra = np.concatenate([[0.0], np.cumsum(extra)])

    def samples_and_time(self, location: str) -> tuple[int, float]:
        """Samples in the line, and time, until the latest record that has both; zeros if none has."""
        time, samples = self._latest.get(location, (0, 0))
        if time == 0:
            return 0, 0.0
        return samples, float(self._as_work(np.array([time]))[0])

    def excess(self, location: str) -> tuple[float, float]:
        """By how much s/T is larger without any speedup: the logarithm of the ratio, and its standard error.

        Both are 0 unless that is over two errors. It is counted from the first record that says it, since no
        speedup falls into the start-up.
        """
        counts = np.array(self._at_0[location], dtype=np.float64).reshape(-1, 4)
        if len(counts) <= MIN_WINDOWS:
            return 0.0, 0.0
        counts[:, 0] = self._as_work(counts[:, 0])
        steps = np.diff(counts, axis=0)
        time, samples, time_at_0, samples_at_0 = totals = steps.sum(axis=0)
        if totals.min() <= 0:
            return 0.0, 0.0
        logarithm = math.log(samples_at_0 / time_at_0 / (samples / time))
        residuals = (steps / totals) @ np.array([1.0, -1.0, -1.0, 1.0])
        error = math.sqrt(len(steps) / (len(steps) - 1) * float(residuals @ residuals))
        return (logarithm, error) if logarithm > 2 * error else (0.0, 0.0)

    def _as_work(self, times: Floats) -> Floats:
        """Times of the run as long as their work would have taken without speedups."""
        as_work: Floats = times + self._extra[np.searchsorted(self._ends, times, side="right")]
        return as_work


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
    of_runs = [runs[number] for number in sorted({w.run for w in windows})]
    measured = np.array([(*run.samples_and_time(location), *run.excess(location)) for run in of_runs])
    samples, run_time = measured[:, 0].sum(), measured[:, 1].sum()
    if in_windows.sum() == 0 or samples == 0 or run_time <= 0:
        return Phase()
    raised = measured[:, 0] * np.exp(measured[:, 2])
    rate = in_windows.sum() / time.sum()
    estimate = float(raised.sum() / run_time / rate)
    residuals = in_windows - rate * time
    n = len(baseline)
    variance = (
        float(residuals @ residuals) * n / (n - 1) / float(in_windows.sum()) ** 2
        + 1 / samples
        + float(((raised * measured[:, 3]) ** 2).sum()) / float(raised.sum()) ** 2
        + SYSTEMATIC_ERROR**2
    )
    error = math.sqrt(variance)
    if math.log(estimate) + float(t_quantile(0.95, n - 1)) * error >= 0:
        return Phase(1.0, estimate, error)
    return Phase(estimate, estimate, error)
