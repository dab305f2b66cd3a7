"""Does the program set its own pace, or does something outside that is not delayed?

A client outside the profiler, a timer or a device goes on at its own pace while the program's threads
pause. Then visits per *real* second do not change with the delay inserted, and per effective second they
rise by just the share of the delay, which looks like an effect. With x the share of a window that is delay
and r the visits per real second,

    log r_s − log r_0 = β·log(1 − x) + noise,     blocks as units (evidence.py):

β is 1 for lines that do not matter to a program which limits itself, and 0 for load from outside. But β
is 0 too for a line on the critical path: the thread that runs it is the one that does not pause. One line
therefore proves nothing. For all lines of a point together, β = 0 has two explanations:

* load from outside;
* a program in which all measured lines follow each other on the critical path. Their shares of the time
  then add up to 1 at most, and while it runs some processor is busy.

So "limited by load" needs β = 0 and shares of more than 1. Where they are less, but all threads were
without a processor part of the time, something was waited for: a client, or a device that the program
itself asked to work. That cannot be told from inside, and "perhaps" is added. A program that keeps a
processor busy gets no label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cozcli.analysis.evidence import through_origin
from cozcli.analysis.grouping import POOL, Window
from cozcli.analysis.result import Note, Phase
from cozcli.analysis.speed import NO_RESPONSE
from cozcli.profile.records import ExperimentRecord, ThroughputPoint

#: Windows with less delay than this say nothing.
LEAST_DELAY = 0.05
#: β within this of 0 is called 0.
NO_CHANGE = 0.25
#: Shares of the time above 1 by this much are no accident of sampling.
MORE_THAN_ALL = 1.25
#: With processors in use, or waited for, in less than this part of the time, the program waited.
BUSY = 0.9

Row = tuple[float, float, float, int]


def load_labels(
    by_line: Mapping[str, Sequence[Window]], phases: Mapping[str, Phase]
) -> dict[str, tuple[Note, set[str]]]:
    """For each throughput point whose pace comes from outside: which label, and the lines that show it."""
    names = {
        point.name
        for windows in by_line.values()
        for window in windows
        for point in window.record.points
        if isinstance(point, ThroughputPoint)
    }
    labels = {}
    for name in sorted(names):
        rows = {line: found for line, windows in by_line.items() if (found := _rows(windows, name))}
        if not _is_unmoved([row for of_line in rows.values() for row in of_line]):
            continue
        shares = sum(_share(by_line[line]) * _part(phases.get(line)) for line in rows)
        if shares > MORE_THAN_ALL:
            labels[name] = (Note.LOAD, set(rows))
        elif _waits([window for line in rows for window in by_line[line]]):
            labels[name] = (Note.MAYBE_LOAD, set(rows))
    return labels


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
        usable = ~base & (np.abs(x) > LEAST_DELAY)
        rows += [(float(x[i]), float(y[i]), float(weights[i]), block) for i in np.flatnonzero(usable)]
    return rows


def _is_unmoved(rows: Sequence[Row]) -> bool:
    if not rows:
        return False
    x, y, weights = (np.array([row[i] for row in rows]) for i in range(3))
    evidence = through_origin(x, y, weights, np.array([row[3] for row in rows], dtype=np.int64))
    return evidence is not None and evidence.within(NO_CHANGE)


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
    return duration > 0 and busy < BUSY * duration
