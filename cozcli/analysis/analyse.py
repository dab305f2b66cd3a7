"""The pipeline: profile → windows → series → corrected → estimated → checked → ranked: one `Analysis`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cozcli.analysis import extension, messages
from cozcli.analysis.check.capacity import capacity_of, within_capacity
from cozcli.analysis.check.children import warn_of_children
from cozcli.analysis.check.contention import p_no_contention
from cozcli.analysis.check.kernel_time import warn_of_kernel_time
from cozcli.analysis.check.marks import MIN_TOTAL_UNITS, Marks, find_marks
from cozcli.analysis.check.multiple_testing import Candidate, decide_significance
from cozcli.analysis.check.pairs import trusted_pairs
from cozcli.analysis.check.stage_limits import stage_limits
from cozcli.analysis.check.steady_state import bounded, is_only_bounded
from cozcli.analysis.check.tails import warn_of_lost_operations, with_quantiles
from cozcli.analysis.check.uneven_points import warn_of_uneven_points
from cozcli.analysis.check.windows_left_out import count_windows_of_delay_only, warn_of_windows
from cozcli.analysis.correct.chain import CORRECTIONS, correct
from cozcli.analysis.correct.overhead import warn_of_costly_switches
from cozcli.analysis.correct.protocol import Context, Correction
from cozcli.analysis.estimate.block_table import BlockTable
from cozcli.analysis.estimate.combined import OfPoint, estimate_points
from cozcli.analysis.estimate.combined_target import CombinedEstimate
from cozcli.analysis.estimate.pause_error import pause_error
from cozcli.analysis.estimate.period_ratio import arrange_finite, period_ratios
from cozcli.analysis.estimate.target_estimate import TargetEstimate, estimate_target
from cozcli.analysis.estimate.variance import Variance, residual_variance, shrink
from cozcli.analysis.input.callers import surroundings_of_lines
from cozcli.analysis.input.locations import point_named
from cozcli.analysis.input.locks import locks_of_targets
from cozcli.analysis.input.partners import with_partners_apart
from cozcli.analysis.input.series import Factor, Series, make_series
from cozcli.analysis.input.targets import Target, is_combined, largest_effect, shares_of_time
from cozcli.analysis.input.windows import Windows, usable_windows
from cozcli.analysis.rank.ranking import by_impact
from cozcli.analysis.rank.result_filter import ResultFilter, apply_filter
from cozcli.analysis.result import (
    THROUGHPUT,
    Analysis,
    LineResult,
    Mark,
    Overhead,
    Pair,
    Phase,
    PointKey,
    RunSummary,
    Surroundings,
    WaitedLock,
)
from cozcli.errors import CozError, Problem
from cozcli.profile.diagnosis import explain_no_experiments
from cozcli.profile.messages import nothing_told
from cozcli.profile.profile import Profile, Run


@dataclass(frozen=True)
class _Level:
    """What the runs at one load say."""

    results: list[LineResult]
    overheads: Mapping[PointKey, Overhead]
    warnings: list[Problem] = field(default_factory=list)
    pairs: tuple[Pair, ...] = ()
    rare: frozenset[str] = frozenset()  # points that were visited, and have no result


@dataclass(frozen=True)
class _Known:
    """What results say beside their estimates. shares: share of the time and samples, by location."""

    context: Context
    marks: Marks
    surroundings: Mapping[str, Surroundings]
    locks: Mapping[str, tuple[WaitedLock, ...]]
    shares: Mapping[str, tuple[float, float]]


def analyse(
    profile: Profile,
    result_filter: ResultFilter | None = None,
    *,
    corrections: Sequence[Correction] = CORRECTIONS,
    of_windows_only: bool = False,
) -> Analysis:
    """Estimate the effect of every target on every progress point.

    Args:
        corrections: what to take out of periods and effects, in this order.
        of_windows_only: leave out of intervals what more windows of the run could not tell (pause_error.py).

    Returns:
        The selected results, ranked by impact.

    Raises:
        CozError: no experiments, nothing that can be estimated, or nothing selected.
    """
    if profile.experiments == 0:
        raise CozError(nothing_told(explain_no_experiments(profile.runs, profile.rejected), profile.cut))
    whole = extension.examine(profile.runs)
    results: list[LineResult] = []
    overheads: dict[PointKey, Overhead] = {}
    pairs: list[Pair] = []
    warnings = [*profile.warnings, *whole.warnings]
    failure = CozError(whole.failure) if whole.failure else None
    failed: list[Problem] = []
    rare: set[str] = set()
    levels = _by_load(profile.runs)
    of_loads: defaultdict[Problem, list[int]] = defaultdict(list)
    for level, runs in levels.items():
        if level in whole.unusable:
            continue
        try:
            found = _analyse_level(runs, corrections, of_windows_only)
        except CozError as error:
            failure = failure or error
            if any(record.speedup > 0 for run in runs for record in run.experiments):
                failed.append(messages.load_left_out(level, error.problem))
            continue
        results += [replace(result, arrival_speedup=level) for result in found.results]
        overheads = {**found.overheads, **overheads}  # of the lowest load that has any
        for warning in found.warnings:
            of_loads[warning].append(level)
        pairs += found.pairs
        rare |= found.rare
    warnings += warn_of_costly_switches(overheads, profile.runs)
    for warning, at in of_loads.items():
        warnings.append(warning if len(at) == len(levels) else messages.at_loads(at, warning))
    rare -= {result.point for result in results}
    warnings += [messages.point_without_result(point) for point in sorted(rare)]
    if not results and not whole.scalability:
        problem = failure.problem if failure else _nothing_estimated(profile.runs)
        raise CozError(nothing_told(problem, profile.cut))
    warnings += failed
    ranked = tuple(by_impact(results))
    everything = Analysis(
        results=ranked,
        all_results=ranked,
        runs=tuple(_summarize(run) for run in profile.runs),
        warnings=tuple(warnings),
        overheads=overheads,
        scalability=whole.scalability,
        pairs=tuple(sorted(pairs, key=lambda pair: -abs(pair.effect))),
    )
    return select(everything, result_filter or ResultFilter())


def select(analysis: Analysis, result_filter: ResultFilter) -> Analysis:
    """The results that the user asked to see, and their pairs.

    Raises:
        CozError: there are none.
    """
    under_load = {each.point for each in analysis.scalability}
    known = under_load | {result.point for result in analysis.results}
    point = point_named(result_filter.progress_point, known)
    result_filter = replace(result_filter, progress_point=point)
    if point is not None and point not in known:
        raise CozError(messages.nothing_matches("progress point", point, sorted(known)))
    analysis = replace(analysis, selected_point=point)
    if result_filter.line is None:
        if not any(point in (None, result.point) for result in analysis.results):
            return replace(analysis, results=(), pairs=())
    elif not analysis.results:
        raise CozError(messages.no_line_has_a_result())
    results = tuple(apply_filter(analysis.results, result_filter))
    keys = {result.key for result in results}
    return replace(analysis, results=results, pairs=tuple(p for p in analysis.pairs if keys & {*p.keys}))


def _by_load(runs: Sequence[Run]) -> dict[int, list[Run]]:
    """Runs by arrival speedup, the lowest first: under another load it is another program.

    Those with busy pauses tell of load alone.
    """
    levels: defaultdict[int, list[Run]] = defaultdict(list)
    for run in (run for run in runs if not run.record.busy_pauses):
        levels[run.arrival_speedup].append(run)
    return dict(sorted(levels.items()))


def _analyse_level(runs: Sequence[Run], corrections: Sequence[Correction], of_windows_only: bool) -> _Level:
    """Runs at one load.

    Raises:
        CozError: nothing can be estimated.
    """
    combined = is_combined(runs)
    windows = usable_windows(runs)
    if combined:
        windows = with_partners_apart(windows, runs)
    # Combined windows tell of targets that have no baseline of their own, too.
    all_series, warnings = _all_series(windows) if combined else _series_with_baseline(windows)
    warnings += warn_of_windows(windows, runs) + warn_of_lost_operations(runs)
    warnings += warn_of_children(runs) + warn_of_kernel_time(runs) + warn_of_uneven_points(runs)
    context = Context(runs, windows.by_target, period_ratios, of_windows_only)
    corrected = correct(all_series, context, corrections)
    tables = [table for series in corrected if (table := arrange_finite(series)) is not None]
    marks = find_marks(tables, windows.by_target, runs, context.phases)
    known = _Known(context, marks, surroundings_of_lines(runs), locks_of_targets(runs), shares_of_time(runs))
    pauses = 0.0 if of_windows_only else pause_error(runs)
    points = _combined_points(corrected, known, pauses) if combined else []
    candidates = _combined_candidates(points, corrected, known)
    if not candidates:  # or windows are too few to tell companions apart
        with_baseline = [table for table in tables if (table.series.speedup == 0).any()]
        estimates = map(estimate_target, with_baseline, _variances(with_baseline))
        candidates = [_candidate(estimate, known) for estimate in estimates]
    if not candidates:
        if delayed := count_windows_of_delay_only(runs):
            raise CozError(messages.windows_of_delay_only(delayed))
        raise CozError(_nothing_estimated(runs))
    known_points = {candidate.result.point for candidate in candidates}
    windows_with = Counter[str]()
    for series in all_series:
        windows_with[series.point] += int(sum(series.denominator > 0))
    # One that is visited at the start only is not meant to tell of lines.
    rare = frozenset(point for point, number in windows_with.items() if number > 1) - known_points
    results = decide_significance(candidates)
    capacity = capacity_of(runs, known.shares, stage_limits(runs, windows.by_target))
    results = [within_capacity(result, capacity, of_windows_only) for result in results]
    results = with_quantiles(results, windows.by_target, corrected, runs)
    pairs = trusted_pairs(points, results)
    return _Level(results, context.overheads, [*warnings, *marks.warnings_about(results)], pairs, rare)


def _all_series(windows: Windows) -> tuple[list[Series], list[Problem]]:
    """The series of all targets, with a baseline or without."""
    found = windows.by_target.items()
    return [series for location, of_target in found for series in make_series(location, of_target)], []


def _series_with_baseline(windows: Windows) -> tuple[list[Series], list[Problem]]:
    """The series of all targets that have a baseline; a warning names the others."""
    all_series: list[Series] = []
    without_baseline = []
    for location, of_target in windows.by_target.items():
        if any(window.record.speedup == 0 for window in of_target):
            all_series += make_series(location, of_target)
        else:
            without_baseline.append(location)
    return all_series, [messages.no_baseline(sorted(without_baseline))] if without_baseline else []


def _variances(tables: Sequence[BlockTable]) -> list[Variance]:
    """The variance of each table, helped by the residuals of the others at the same point."""
    own = [residual_variance(table) for table in tables]
    pooled: defaultdict[PointKey, Variance] = defaultdict(Variance)
    for table, variance in zip(tables, own, strict=True):
        pooled[table.series.key] += variance
    return [
        shrink(variance, pooled[table.series.key] - variance, table)
        for table, variance in zip(tables, own, strict=True)
    ]


def _open_result(
    estimate: TargetEstimate | CombinedEstimate,
    of: Series | Target,
    target: str,
    point: PointKey,
    known: _Known,
) -> LineResult:
    """What an estimate says of a target, its significance still open."""
    slope, low, high = (float(each[0]) for each in (estimate.value, estimate.low, estimate.high))
    share = known.shares.get(of.location)
    return LineResult(
        location=of.location,
        function=of.function,
        point=point[0],
        kind=point[1],
        slope=slope,
        slope_low=low,
        slope_high=high,
        adjusted_low=low,
        adjusted_high=high,
        significant=False,
        contention=False,
        phase=known.context.phases.get(of.location, Phase()),
        curve=estimate.points,
        fit=estimate.fit,
        marks=known.marks.of((of.location, *point)),
        target=target,
        surroundings=known.surroundings.get(of.location, Surroundings()),
        locks=known.locks.get(of.location, ()),
        bound=largest_effect(*share) if share and point[1] == THROUGHPUT else None,
        share=share[0] if share else None,
        samples=share[1] if share else 0.0,
        freedom=float(estimate.freedom[0]),
    )


def _candidate(estimate: TargetEstimate, known: _Known) -> Candidate:
    """The result of one series."""
    series = estimate.table.series
    result = _open_result(estimate, series, series.target, series.key, known)
    return Candidate(
        bounded(result, series),
        p_no_contention(estimate),
        estimate.table.total_units >= MIN_TOTAL_UNITS and not is_only_bounded(series),
    )


def _combined_points(corrected: Sequence[Series], known: _Known, pauses: float) -> list[OfPoint]:
    """pauses: of targets that had enough cores; check/capacity.py tells more of the others' throughput."""
    context = known.context

    def pauses_of(location: str, point: PointKey) -> float:
        lacks_cores = point[1] == THROUGHPUT and Mark.CORES in known.marks.of((location, *point))
        return 0.0 if lacks_cores else pauses

    factors = {key: Factor(of.factor, of.error) for key, of in context.overheads.items()}
    return estimate_points(corrected, context.by_target, context.runs, context.phases, factors, pauses_of)


def _combined_candidates(
    found: Sequence[OfPoint], corrected: Sequence[Series], known: _Known
) -> list[Candidate]:
    """The results of all targets of combined windows."""
    own = {(series.location, *series.key): series for series in corrected}
    return [
        _combined_candidate(estimate, of_point.key, known, own.get((estimate.target.location, *of_point.key)))
        for of_point in found
        for estimate in of_point.estimates.values()
    ]


def _combined_candidate(
    estimate: CombinedEstimate, point: PointKey, known: _Known, own: Series | None
) -> Candidate:
    """The result of one target on one progress point; `own`: its windows as main target."""
    result = _open_result(estimate, estimate.target, estimate.target.kind, point, known)
    marks = {*result.marks} - {Mark.FEW_DATA, Mark.POOLED_BASELINE}
    if estimate.has_few_data:
        marks.add(Mark.FEW_DATA)
    if estimate.is_beyond:
        marks.add(Mark.BEYOND_SHARE)
    result = replace(
        result,
        marks=tuple(mark for mark in Mark if mark in marks),
        bound=estimate.bound,
        companion_windows=estimate.companion_windows,
        is_combined=True,
        p_own=estimate.p_no_effect,
    )
    if own:
        result = bounded(result, own)
    is_testable = not (estimate.has_few_data or (own and is_only_bounded(own)))
    return Candidate(result, p_no_contention(estimate), is_testable)


def _nothing_estimated(runs: Sequence[Run]) -> Problem:
    number = sum(len(run.experiments) for run in runs)
    if all(run.record.fixed_speedup == 0 for run in runs):
        return messages.only_baselines(number)
    return messages.nothing_estimated(number)


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
        processes=run.samples.processes if run.samples else 1,
    )
