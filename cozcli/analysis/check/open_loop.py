"""Does something outside set the program's pace? Then visits keep their pace whatever is delayed.

A client outside the profiler, a timer or a device goes on at its own pace while the program's threads pause.
Visits per *real* second then do not change with the delay inserted, and per effective second they rise by
just the share of the delay, which looks like an effect. With x the share of a window that is delay and r the
visits per real second,

    log r_s − log r_0 = β·log(1 − x) + noise,     clustered by blocks (clustered_regression.py):

β is 1 for lines that do not matter to a program which limits itself, and 0 for an open loop. But β is 0 too
for a line on the critical path: the thread that runs it is the one that does not pause. One line therefore
proves nothing. For all lines of a point together, β = 0 has two explanations:

* an open loop;
* a program in which all measured lines follow each other on the critical path. Then their shares of the time
  add up to 1 at most, and some processor is busy whenever the program runs.

So "limited by load" needs β = 0 and shares that add up to more than 1. Where they are less, but all threads
were without a processor part of the time, the program waited for something: a client, or a device that it
asked to work itself. That cannot be told from inside, and "perhaps" is added. A program that keeps a
processor busy gets no mark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cozcli.analysis.input.slowness import NO_RESPONSE
from cozcli.analysis.input.windows import POOL, Window
from cozcli.analysis.result import Mark, Phase
from cozcli.analysis.statistics.clustered_regression import fit_through_origin
from cozcli.profile.records import ExperimentRecord, ThroughputPoint

#: Windows with less delay than this say nothing.
MIN_DELAY = 0.05
#: β within this of 0 is called 0.
MAX_SLOPE = 0.25
#: Shares of the time that add up to more than this do so beyond chance in sampling.
MIN_SHARES = 1.25
#: If processors were in use, or waited for, in less than this part of the time, the program waited.
MIN_BUSY_SHARE = 0.9

Row = tuple[float, float, float, int]


def open_loop_marks(
    by_target: Mapping[str, Sequence[Window]], phases: Mapping[str, Phase]
) -> dict[str, tuple[Mark, set[str]]]:
    """For each throughput point whose pace comes from outside: which mark, and the lines that show it."""
    names = {
        point.name
        for windows in by_target.values()
        for window in windows
        for point in window.record.points
        if isinstance(point, ThroughputPoint)
    }
    marks = {}
    for name in sorted(names):
        rows = {target: found for target, windows in by_target.items() if (found := _rows(windows, name))}
        if not _keeps_pace([row for of_target in rows.values() for row in of_target]):
            continue
        shares = sum(_share(by_target[target]) * _part(phases.get(target)) for target in rows)
        if shares > MIN_SHARES:
            marks[name] = (Mark.LOAD, set(rows))
        elif _waits([window for target in rows for window in by_target[target]]):
            marks[name] = (Mark.MAYBE_LOAD, set(rows))
    return marks


def _rows(windows: Sequence[Window], name: str) -> list[Row]:
    """(log(1 − x), log r, weight, block) of windows with enough delay, less their block's baseline."""
    blocks: dict[int, list[Window]] = {}
    for window in windows:
        if window.stratum != POOL and _rate(window.record, name) > 0:
            blocks.setdefault(window.stratum, []).append(window)
    rows: list[Row] = []
    for block, members in blocks.items():
        slowness, stolen = np.array([(window.slowness, window.stolen) for window in members]).T
        weights = NO_RESPONSE.weights(slowness, stolen)
        base = np.array([window.record.speedup == 0 for window in members])
        if not base.any():
            continue
        x = np.log([_undelayed(window.record) for window in members])
        y = np.log([_rate(window.record, name) for window in members])
        x = x - np.average(x[base], weights=weights[base])
        y = y - np.average(y[base], weights=weights[base])
        usable = ~base & (np.abs(x) > MIN_DELAY)
        rows += [(float(x[i]), float(y[i]), float(weights[i]), block) for i in np.flatnonzero(usable)]
    return rows


def _keeps_pace(rows: Sequence[Row]) -> bool:
    if not rows:
        return False
    x, y, weights = (np.array([row[i] for row in rows]) for i in range(3))
    slope = fit_through_origin(x, y, weights, np.array([row[3] for row in rows], dtype=np.int64))
    return slope is not None and slope.is_within(MAX_SLOPE)


def _undelayed(record: ExperimentRecord) -> float:
    """The part of a window that is no delay."""
    return record.effective_duration / max(record.duration, record.effective_duration, 1)


def _rate(record: ExperimentRecord, name: str) -> float:
    """Visits per real nanosecond; 0 if there were none. Edges are known in effective time only."""
    for point in record.points:
        if isinstance(point, ThroughputPoint) and point.name == name:
            return point.visits / point.elapsed * _undelayed(record)
    return 0.0


def _share(windows: Sequence[Window]) -> float:
    """The part of the time in which some thread ran the line: the delay it caused, undone by the speedup."""
    treated = [w.record for w in windows if w.record.speedup > 0]
    asked = sum(record.duration * record.speedup for record in treated)
    return sum(record.delay for record in treated) / asked if asked else 0.0


def _part(phase: Phase | None) -> float:
    """The part of the run in which the line runs; 0 if unknown: shares of other times do not add up."""
    return 0.0 if phase is None or phase.estimate is None else min(phase.estimate, 1.0)


def _waits(windows: Sequence[Window]) -> bool:
    baselines = [w.record for w in windows if w.record.speedup == 0 and w.record.processor_time >= 0]
    duration = sum(record.duration for record in baselines)
    busy = sum(record.processor_time + max(record.core_wait, 0) for record in baselines)
    return duration > 0 and busy < MIN_BUSY_SHARE * duration
