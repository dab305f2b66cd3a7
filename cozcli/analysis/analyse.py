"""The pipeline: profile → windows → series → effects → one `Analysis`."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cozcli.analysis import curve, messages, ranking
from cozcli.analysis.callers import Surroundings, surroundings_of_lines
from cozcli.analysis.effect import Comparison, arrange, effects, log_ratios, ratio_sums
from cozcli.analysis.grouping import THROUGHPUT, Floats, Series, Window, make_series, usable_windows
from cozcli.analysis.intervals import (
    LEVEL,
    Variance,
    draw_replicates,
    percentile_interval,
    residual_variance,
    shrink,
    t_quantile,
    t_tail,
)
from cozcli.analysis.labels import find_labels
from cozcli.analysis.overhead import NO_OVERHEAD, PointKey, overheads
from cozcli.analysis.phase import phase_correction
from cozcli.analysis.realised import correct_for_realised
from cozcli.analysis.result import Analysis, CurvePoint, LineResult, Note, Overhead, Phase, RunSummary
from cozcli.analysis.scalability import false_levels, find_limit, measure_scalability
from cozcli.analysis.simultaneous import Candidate, judge
from cozcli.analysis.speed import correct_for_speed, responses_of_points, slow_machine
from cozcli.errors import CozError, Problem
from cozcli.load import messages as load_messages
from cozcli.profile.diagnosis import explain_no_experiments
from cozcli.profile.profile import Profile, Run

#: Fewer different speedups than this (the dissertation's number) is marked as few data.
ENOUGH_SPEEDUPS = 5
#: Fewer comparisons with a baseline than this are few data too, and prove no contention: one odd moment of
#: the machine can be all that they saw.
ENOUGH_GROUPS = 3
#: Harm up to this is not called contention, however certain: virtual speedup itself is no more exact.
LEAST_HARM = 0.02


@dataclass(frozen=True)
class Selection:
    """What a user asked to see. Every line is analysed all the same: intervals draw on all of them."""

    min_points: int = 1
    line: str | None = None
    progress_point: str | None = None


def analyse(profile: Profile, selection: Selection | None = None) -> Analysis:
    """Estimate the effect of every line on every progress point.

    Returns:
        The selected results, ranked by impact.

    Raises:
        CozError: no experiments, nothing that can be estimated, or nothing selected.
    """
    if profile.experiments == 0:
        raise CozError(explain_no_experiments(profile.runs, profile.rejected))
    false = false_levels(profile.runs)
    warnings = [load_messages.false_load(level, lost) for level, lost in sorted(false.items())]
    scalability = measure_scalability(profile.runs)
    limit = find_limit(profile.runs)
    if limit is not None:
        warnings.append(load_messages.load_limited(limit))
    estimated: list[LineResult] = []
    costs: dict[PointKey, Overhead] = {}
    failure = CozError(load_messages.no_load_reached()) if false else None
    for level, runs in _by_level(profile.runs).items():
        if level in false:
            continue
        try:
            results, of_level, found = _analyse_level(runs)
        except CozError as error:
            failure = failure or error
            continue
        estimated += [replace(result, arrival_speedup=level) for result in results]
        costs = of_level | costs  # of the lowest load that has any
        warnings += found
    if not estimated and (not scalability or _wants_lines(selection)):
        raise failure or CozError(messages.nothing_estimated(profile.experiments))
    shown = select(estimated, selection or Selection()) if estimated else []
    return Analysis(
        results=tuple(ranking.by_impact(shown)),
        runs=tuple(_summarize(run) for run in profile.runs),
        warnings=(*profile.warnings, *warnings),
        overheads=costs,
        scalability=scalability,
    )


def _by_level(runs: Sequence[Run]) -> dict[int, list[Run]]:
    """Runs by their load, the lowest first: at another load it is another program."""
    levels: dict[int, list[Run]] = {}
    for run in runs:
        levels.setdefault(run.arrival_speedup, []).append(run)
    return dict(sorted(levels.items()))


def _wants_lines(selection: Selection | None) -> bool:
    return selection is not None and selection.line is not None


def _analyse_level(
    runs: Sequence[Run],
) -> tuple[list[LineResult], dict[PointKey, Overhead], list[Problem]]:
    """All results of runs at one load, what profiling costs there, and warnings.

    Raises:
        CozError: nothing can be estimated.
    """
    experiments = sum(len(run.experiments) for run in runs)
    windows = usable_windows(runs)
    comparisons, costs, warnings = _compare(windows.by_line, runs)
    if windows.clipped:
        warnings.append(messages.clipped_windows(windows.clipped, experiments))
    if windows.unsettled:
        warnings.append(messages.unsettled_windows(windows.unsettled, experiments))
    standing = sum(run.samples.discarded.get("all_delay", 0) for run in runs if run.samples)
    if standing:
        warnings.append(messages.standing_windows(standing))
    used = [window for of_line in windows.by_line.values() for window in of_line if not window.borrowed]
    if slow := slow_machine([window.disturbance for window in used]):
        withheld = slow_machine([window.stolen for window in used])
        warnings.append(messages.slow_machine(slow, len(used), withheld))
    if not comparisons:
        if standing:
            raise CozError(messages.standing_windows(standing))
        raise CozError(messages.nothing_estimated(experiments))
    estimated, labels = _estimate(comparisons, costs, windows.by_line, runs)
    return estimated, costs, [*warnings, *labels]


def select(results: Sequence[LineResult], selection: Selection) -> list[LineResult]:
    """The results asked for.

    Raises:
        CozError: none is left; the message says what there is.
    """
    left = list(results)
    if selection.line is not None:
        pattern = selection.line
        left = [r for r in left if ranking.matches_line(pattern, r.location, r.function)]
        if not left:
            known = sorted({r.location for r in results})
            raise CozError(messages.nothing_matches("line", pattern, known))
    if selection.progress_point is not None:
        before, left = left, [r for r in left if r.point == selection.progress_point]
        if not left:
            known = sorted({r.point for r in before})
            raise CozError(messages.nothing_matches("progress point", selection.progress_point, known))
    enough = [r for r in left if r.speedups >= selection.min_points]
    if not enough:
        best = max(r.speedups for r in left)
        lines = len({r.location for r in left})
        raise CozError(messages.too_few_points(selection.min_points, best, lines))
    return enough


def _compare(
    by_line: dict[str, list[Window]], runs: Sequence[Run]
) -> tuple[list[Comparison], dict[PointKey, Overhead], list[Problem]]:
    """All series that can be estimated, and what profiling costs; speedups whose ratio is not finite are left
    out.
    """
    all_series: list[Series] = []
    lonely = []
    for location, windows in by_line.items():
        if not any(window.record.speedup == 0 for window in windows):
            lonely.append(location)
            continue
        all_series += make_series(location, windows)
    responses = responses_of_points(all_series)
    corrected = [correct_for_realised(correct_for_speed(series, responses)) for series in all_series]
    arranged = [_arrange_finite(series) for series in corrected]
    warnings = [messages.no_baseline(sorted(lonely))] if lonely else []
    comparisons = [comparison for comparison in arranged if comparison is not None]
    return comparisons, overheads(by_line, runs, responses), warnings


def _arrange_finite(series: Series) -> Comparison | None:
    comparison = arrange(series)
    if comparison is None:
        return None
    usable = np.isfinite(log_ratios(comparison))
    if usable.all():
        return comparison
    return arrange(series.without(np.isin(series.speedup, comparison.speedups[~usable])))


def _estimate(
    comparisons: Sequence[Comparison],
    costs: Mapping[PointKey, Overhead],
    by_line: dict[str, list[Window]],
    runs: Sequence[Run],
) -> tuple[list[LineResult], list[Problem]]:
    """All results, with their marks and notes, and warnings about what makes them doubtful."""
    ratios = _ratios_by_line(comparisons)
    phases: dict[str, Phase] = {}
    residuals = [residual_variance(comparison) for comparison in comparisons]
    pooled: defaultdict[tuple[str, str], Variance] = defaultdict(Variance)
    for comparison, own in zip(comparisons, residuals, strict=True):
        pooled[comparison.series.point, comparison.series.kind] += own
    candidates = []
    for comparison, own in zip(comparisons, residuals, strict=True):
        series = comparison.series
        if series.location not in phases:
            phases[series.location] = phase_correction(
                series.location, by_line[series.location], runs, ratios
            )
        variance = shrink(own, pooled[series.point, series.kind] - own, comparison)
        cost = costs.get((series.point, series.kind), NO_OVERHEAD)
        candidates.append(_result(comparison, variance, phases[series.location], cost))
    results = judge(candidates)
    labels = find_labels([r.key for r in results], by_line, runs, phases)
    surroundings = surroundings_of_lines(runs)
    # In the order of their definition, as all notes are.
    return [
        replace(
            r,
            notes=r.notes + tuple(note for note in Note if note in labels.notes[r.key]),
            surroundings=surroundings.get(r.location, Surroundings()),
        )
        for r in results
    ], labels.warnings


def _ratios_by_line(comparisons: Sequence[Comparison]) -> dict[tuple[str, float], float]:
    """p_s/p_0 by line and speedup; of several progress points, the one with most visits counts."""
    ratios: dict[tuple[str, float], float] = {}
    ordered = sorted(comparisons, key=lambda c: float(c.series.denominator.sum()))
    for comparison in (c for c in ordered if c.series.kind == THROUGHPUT):
        for speedup, ratio in zip(comparison.speedups, log_ratios(comparison), strict=True):
            ratios[comparison.series.location, float(speedup)] = float(np.exp(ratio))
    return ratios


def _result(comparison: Comparison, variance: Variance, phase: Phase, cost: Overhead) -> Candidate:
    """The result of one series, all marks still open."""
    series, speedups = comparison.series, comparison.speedups
    estimate = log_ratios(comparison)
    log_replicates, freedom = draw_replicates(comparison, variance)
    weights = ratio_sums(comparison)[1]
    factor = phase.factor * cost.factor
    of_phase = _factor_replicates(phase, len(log_replicates))
    error = math.hypot(series.dose_error, cost.error)
    effect = effects(estimate) * factor
    replicates = effects(log_replicates) * factor * of_phase * _scale_replicates(error, len(log_replicates))
    low, high = percentile_interval(replicates)
    operator = curve.slope_operator(speedups, weights)
    slopes = replicates @ operator
    slope_low, slope_high = percentile_interval(slopes)
    slope = float(operator @ effect)
    points = [CurvePoint(0.0, 0.0, 0.0, 0.0, int(comparison.windows[0]))] + [
        CurvePoint(float(s), float(e), float(a), float(b), int(n))
        for s, e, a, b, n in zip(speedups, effect, low, high, comparison.windows[1:], strict=True)
    ]
    result = LineResult(
        location=series.location,
        function=series.function,
        point=series.point,
        kind=series.kind,
        slope=slope,
        slope_low=float(slope_low),
        slope_high=float(slope_high),
        adjusted_low=float(slope_low),
        adjusted_high=float(slope_high),
        significant=False,
        contention=False,
        phase=phase,
        curve=tuple(points),
        fit=curve.fit_curve(speedups, weights, effect, replicates),
        notes=_notes(comparison, phase),
        target=series.target,
    )
    # Contention shows in the slope or at single speedups; the latter are as many chances to err.
    columns = np.column_stack([slopes, replicates])
    values = np.concatenate([[slope], effect])
    degrees = np.concatenate([[freedom.min()], freedom])
    chances = _probabilities_of_harm(values, columns, degrees)
    harm = min(1.0, 2 * min(chances[0], len(speedups) * min(chances[1:])))
    return Candidate(result, harm, float(freedom.min()), comparison.groups >= ENOUGH_GROUPS)


def _factor_replicates(phase: Phase, number: int) -> Floats:
    """Relative replicates of the phase factor, (number, 1): lognormal, and never above 1 in all."""
    if phase.factor >= 1:
        return np.ones((number, 1))
    rng = np.random.default_rng(number)
    noise = np.exp(phase.standard_error * rng.standard_normal((number, 1)))
    return np.minimum(noise, 1 / phase.factor)


def _scale_replicates(error: float, number: int) -> Floats:
    """What all effects of a line may be too large or too small by, (number, 1): lognormal."""
    rng = np.random.default_rng(number + 1)
    return np.asarray(np.exp(error * rng.standard_normal((number, 1))))


def _probabilities_of_harm(values: Floats, replicates: Floats, freedom: Floats) -> list[float]:
    """One-sided p-values of "not below −LEAST_HARM", from the upper half of each interval."""
    _, high = percentile_interval(replicates)
    found = []
    for value, bound, degrees in zip(values, high, freedom, strict=True):
        error = (bound - value) / t_quantile(0.5 + LEVEL / 2, float(degrees))
        harm = -value - LEAST_HARM
        found.append(t_tail(harm / error, float(degrees)) if error > 0 else float(harm <= 0))
    return found


def _notes(comparison: Comparison, phase: Phase) -> tuple[Note, ...]:
    series = comparison.series
    in_blocks = comparison.paired.any()
    pooled = any(pool.size for pool in comparison.pools[1:])
    # Runs that tried few speedups, as they were asked, are complete all the same.
    enough = ENOUGH_SPEEDUPS if series.planned is None else min(ENOUGH_SPEEDUPS, len(series.planned))
    found = {
        Note.FEW_DATA: comparison.groups < ENOUGH_GROUPS or len(comparison.speedups) < enough,
        Note.PHASES: phase.factor < 1,
        Note.UNSETTLED: series.unsettled,
        Note.UNPAIRED: bool(in_blocks and pooled),
        Note.BORROWED: series.borrowed,
    }
    return tuple(note for note, holds in found.items() if holds)


def _summarize(run: Run) -> RunSummary:
    record = run.record
    return RunSummary(
        program=record.program,
        arguments=record.arguments,
        time=record.time,
        sampling=record.sampling,
        period=record.period,
        experiments=len(run.experiments),
        real_time=run.real_time,
        classic=record.classic,
        source=run.source,
        points=tuple((point.name, point.by) for point in record.points),
    )
