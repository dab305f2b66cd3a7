"""Does something outside set the program's pace? Then visits keep their pace whatever is delayed.

A client outside the profiler, a timer or a device goes on at its own pace while the program's threads pause.
Visits per *real* second then do not change with the delay inserted, and per effective second they rise by
just the share of the delay, which looks like an effect. With x the share of a window that is delay and r the
visits per real second,

    log r_s − log r_0 = β·log(1 − x) + noise,     clustered by blocks (clustered_regression.py):

β is 1 for lines that do not matter to a program which limits itself, and 0 for an open loop. But β is 0 too
for a line on the critical path: the thread that runs it is the one that does not pause. So one line with
β = 0 proves nothing; all lines of a point together do.

In a program that limits itself, something on the critical path runs at every moment. While a delay is short,
it is hidden only where the line itself is what runs there, so that with c the share of the time in which a
line runs

    Σ c·(1 − β)  ≤  1        over all lines.

Waiting for a lock is left out: the lines of the thread that holds it meanwhile are in the sum.

* Where that sum is above 1 beyond chance, something outside sets the pace: "limited by load".
* Where it is not, but all lines keep the pace and no thread had a processor part of the time, the program
  waited for something: a client, or a device that it asked to work itself. That cannot be told from inside:
  "perhaps". Nor does the effect of a wait tell (`--waits`): in a program of one thread, it is the wait's
  share of the time either way. A program that keeps a processor busy gets no mark.
* One line whose β is clearly above 0 refutes both: in an open loop, pauses go into the time that is to spare.

A program that is at work for 80 % of the time has only 20 % to spare; longer delays slow it down, too. So
short delays decide what refutes; that the pace is kept may be seen in short ones, longer ones too, or all. A
line whose queues have not settled (steady_state.py) shows nothing: what it hides may come out later.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from cozcli.analysis.input.locations import LOCK, WAIT
from cozcli.analysis.input.slowness import NO_RESPONSE
from cozcli.analysis.input.windows import POOL, Window
from cozcli.analysis.result import Mark, Phase
from cozcli.analysis.statistics.clustered_regression import Coefficient, fit_groups
from cozcli.profile.records import ExperimentRecord, ThroughputPoint

#: Windows with less delay than this say nothing.
MIN_DELAY = 0.05
#: β within this of 0 is called 0.
MAX_SLOPE = 0.25
#: Up to which delay, as a logarithm, windows are looked at: a quarter of the time, nearly half of it, all.
MAX_DELAYS = (0.3, 0.6, math.inf)
#: In windows up to the shortest of these, a line whose β is at least this refutes an open loop; at 80 % load,
#: β of an open loop reaches a quarter.
MIN_REFUTING_SLOPE = 0.5
#: It does if chance would lead to such a β no more often than this.
MAX_P_REFUTED = 0.02
#: The sum must be above this, by a 95 % interval: shares are sampled, and delays are served late.
MIN_SHARES = 1.05
#: Waits that take less of the time than this are not worth a word.
MIN_WAIT_SHARE = 0.02
#: If processors were in use, or waited for, in less than this part of the time, the program waited.
MIN_BUSY_SHARE = 0.9

Row = tuple[float, float, float, int]
Rows = Mapping[str, Sequence[Row]]


def open_loop_marks(
    by_target: Mapping[str, Sequence[Window]],
    phases: Mapping[str, Phase],
    unsteady: Collection[tuple[str, str]] = (),
) -> dict[str, Mark]:
    """A mark for each throughput point whose pace comes from outside.

    Args:
        by_target: usable windows. phases: by location. unsteady: (location, point) that show nothing.
    """
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
        steady = {target: found for target, found in rows.items() if (target, name) not in unsteady}
        ranges = [_up_to(delay, steady) for delay in MAX_DELAYS]
        if _is_refuted(ranges[0]):
            continue
        shares = {
            t: 0.0 if t.startswith(LOCK) else _share(by_target[t]) * _part(phases.get(t)) for t in steady
        }
        if any(_exceeds_one_path(each, shares) for each in ranges):
            marks[name] = Mark.LOAD
        elif any(map(_keeps_pace, ranges)) and _waits([w for t in steady for w in by_target[t]]):
            marks[name] = Mark.MAYBE_LOAD
    return marks


def waits_for_others(by_target: Mapping[str, Sequence[Window]]) -> list[str]:
    """The waits that may be for something that sets the pace, the longest first; locks' are not."""
    shares = {t: _share(windows) for t, windows in by_target.items() if t.startswith(WAIT)}
    return sorted((t for t in shares if shares[t] >= MIN_WAIT_SHARE), key=lambda t: -shares[t])


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


def _up_to(delay: float, rows: Rows) -> Rows:
    """The windows of at most this delay, a logarithm; lines that have any."""
    found = {target: [row for row in of_target if abs(row[0]) < delay] for target, of_target in rows.items()}
    return {target: of_target for target, of_target in found.items() if of_target}


def _is_refuted(rows: Rows) -> bool:
    """Does the pace clearly fall with the delays of one line?"""
    return any(
        slope.estimate > MIN_REFUTING_SLOPE and slope.p_above_zero * len(rows) < MAX_P_REFUTED
        for slope in _slopes(rows).values()
    )


def _exceeds_one_path(rows: Rows, shares: Mapping[str, float]) -> bool:
    """Do lines that do not slow the program down take more of the time than one path through it has?"""
    slopes = _slopes(rows)
    if not slopes:
        return False
    # No delay makes a program faster: a pace that rises with it is chance, or left by other windows.
    total = sum(shares[target] * (1 - max(slope.estimate, 0.0)) for target, slope in slopes.items())
    error = math.hypot(*(shares[target] * slope.error for target, slope in slopes.items()))
    freedom = next(iter(slopes.values())).freedom
    return Coefficient(total, error, freedom).low > MIN_SHARES


def _slopes(rows: Rows) -> dict[str, Coefficient]:
    """β of each line; empty if there are too few blocks."""
    if not rows:
        return {}
    lines = list(rows.values())
    x, y, weights = (np.array([row[i] for line in lines for row in line]) for i in range(3))
    block = np.array([row[3] for line in lines for row in line], dtype=np.int64)
    found = fit_groups(x, y, weights, block, np.repeat(np.arange(len(lines)), list(map(len, lines))))
    return dict(zip(rows, found, strict=True)) if found else {}


def _keeps_pace(rows: Rows) -> bool:
    every = [row for line in rows.values() for row in line]
    x, y, weights = (np.array([row[i] for row in every]) for i in range(3))
    block = np.array([row[3] for row in every], dtype=np.int64)
    found = fit_groups(x, y, weights, block, np.zeros(len(x), dtype=np.int64)) if every else None
    return found is not None and found[0].is_within(MAX_SLOPE)


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
    treated = [window for window in windows if window.record.speedup > 0]
    asked = sum(window.record.duration * window.record.speedup for window in treated)
    return sum(window.own_delay for window in treated) / asked if asked else 0.0


def _part(phase: Phase | None) -> float:
    """The part of the run in which the line runs; 0 if unknown: shares of other times do not add up."""
    return 0.0 if phase is None or phase.estimate is None else min(phase.estimate, 1.0)


def _waits(windows: Sequence[Window]) -> bool:
    baselines = [w.record for w in windows if w.record.speedup == 0 and w.record.processor_time >= 0]
    duration = sum(record.duration for record in baselines)
    busy = sum(record.processor_time + max(record.core_wait, 0) for record in baselines)
    return duration > 0 and busy < MIN_BUSY_SHARE * duration
