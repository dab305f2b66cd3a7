"""Marks of results that the data do not fully support, and the warnings that explain them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cozcli.analysis import messages
from cozcli.analysis.check.cores import (
    MIN_SAMPLING_RATE,
    lacks_cores,
    limited_by_cores,
    sampling_rate_achieved,
    waiting_share,
)
from cozcli.analysis.check.open_loop import open_loop_marks, waits_for_others
from cozcli.analysis.check.queue_stability import unstable_queues
from cozcli.analysis.check.steady_state import transient_speedups, unsteady_results
from cozcli.analysis.estimate.block_table import BlockTable
from cozcli.analysis.input.windows import Window
from cozcli.analysis.result import (
    LATENCY,
    LOAD_MARKS,
    THROUGHPUT,
    LineResult,
    Mark,
    Phase,
    PointKey,
    ResultKey,
)
from cozcli.errors import Problem
from cozcli.profile.profile import Run

#: Windows that queues lend more than this part of their visits show another pace than the one that lasts.
MAX_LENT = 0.1
#: Fewer different speedups than this (the dissertation's number) are few data.
MIN_SPEEDUPS = 5
#: Fewer comparisons with a baseline than this are few data too, and prove no contention: all of them may have
#: met one bad moment of the machine.
MIN_TOTAL_UNITS = 3


@dataclass
class Marks:
    """Marks by result, and warnings about the profile as a whole.

    by_point: what holds for a point, whatever is sped up. of_all: what holds for results without own windows.
    of_pace: what to say of points whose pace comes from outside, as long as a result has such a mark.
    """

    by_result: dict[ResultKey, set[Mark]] = field(default_factory=lambda: defaultdict(set))
    by_point: dict[PointKey, set[Mark]] = field(default_factory=lambda: defaultdict(set))
    of_all: set[Mark] = field(default_factory=set)
    warnings: list[Problem] = field(default_factory=list)
    of_pace: dict[str, Problem] = field(default_factory=dict)

    def warnings_about(self, results: Sequence[LineResult]) -> list[Problem]:
        """All warnings that hold for these results."""
        paced = {result.point for result in results if LOAD_MARKS & {*result.marks}}
        return [problem for point, problem in self.of_pace.items() if point in paced] + self.warnings

    def of(self, key: ResultKey) -> tuple[Mark, ...]:
        """The marks of one result, in the order of their definition."""
        own = self.by_result.get(key, self.of_all) | self.by_point.get(key[1:], set())
        return tuple(mark for mark in Mark if mark in own)


def find_marks(
    tables: Iterable[BlockTable],
    by_target: Mapping[str, Sequence[Window]],
    runs: Sequence[Run],
    phases: Mapping[str, Phase],
) -> Marks:
    """Look for everything that makes results doubtful in ways that their intervals do not show.

    Args:
        tables: of all results. by_target: usable windows. phases: by location.
    """
    marks = Marks()
    keys = []
    lasting, lent, transient = set(), set(), set()
    for table in tables:
        series = table.series
        key = series.location, series.point, series.kind
        keys.append(key)
        if series.lasting.any():
            lasting.add(key[:2])
        if series.lent > MAX_LENT:
            lent.add(key[:2])
        if transient_speedups(series):
            transient.add(key)
        marks.by_result[key] |= _marks_of_data(table, phases.get(series.location, Phase()))
    unstable, never_steady = unstable_queues(by_target)
    for location, point in unstable:
        marks.by_result[location, point, LATENCY].add(Mark.UNSTABLE)
    for point in never_steady:
        marks.by_point[point, LATENCY].add(Mark.UNSTABLE)
    unsteady = unsteady_results(by_target)
    for key in transient | {(*pair, THROUGHPUT) for pair in unsteady - lasting}:
        marks.by_result[key].add(Mark.NOT_STEADY)
    everything = [window for windows in by_target.values() for window in windows]
    paced = {} if limited_by_cores(everything, runs) else open_loop_marks(by_target, phases, unsteady | lent)
    for point, mark in paced.items():
        marks.of_pace[point] = (
            messages.limited_by_load(point)
            if mark is Mark.LOAD
            else messages.perhaps_limited_by_load(point, waits_for_others(by_target))
        )
        marks.by_point[point, THROUGHPUT].add(mark)
    _add_cores(marks, keys, by_target, everything, runs)
    return marks


def _marks_of_data(table: BlockTable, phase: Phase) -> set[Mark]:
    """What the amount and the layout of the data say."""
    series = table.series
    in_blocks = table.paired.any()
    pooled = any(pool.size for pool in table.pools[1:])
    # Runs that tried few speedups, as they were asked to, are complete all the same.
    enough = MIN_SPEEDUPS if series.planned is None else min(MIN_SPEEDUPS, len(series.planned))
    found = {
        Mark.FEW_DATA: table.total_units < MIN_TOTAL_UNITS or len(table.speedups) < enough,
        Mark.PHASES: phase.factor < 1,
        Mark.DELAYS_OWED: series.unsettled,
        Mark.POOLED_BASELINE: bool(in_blocks and pooled),
        Mark.OTHER_BASELINE: series.has_other_baseline,
    }
    return {mark for mark, holds in found.items() if holds}


def _add_cores(
    marks: Marks,
    keys: Iterable[ResultKey],
    by_target: Mapping[str, Sequence[Window]],
    everything: Sequence[Window],
    runs: Sequence[Run],
) -> None:
    waiting = {target for target, windows in by_target.items() if lacks_cores(windows, runs)}
    if waiting:
        share = waiting_share([window for target in waiting for window in by_target[target]], runs)
        marks.warnings.append(messages.too_few_cores(share, runs[0].record.cores))
    for key in keys:
        if key[0] in waiting:
            marks.by_result[key].add(Mark.CORES)
    if lacks_cores(everything, runs):
        marks.of_all.add(Mark.CORES)
    achieved = sampling_rate_achieved(everything, runs)
    if achieved < MIN_SAMPLING_RATE:
        marks.warnings.append(messages.sampling_rate_too_low(achieved))
