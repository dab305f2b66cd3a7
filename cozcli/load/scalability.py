"""What the program does under more load: its speed at each load level against that at base load.

A level is an --arrival-speedup d_a. Only windows without a virtual speedup are used, and windows of different
d_a are never joined. Load is the part of the time between two arrivals that is taken away, d_a / r, as in
figures 6.2 and 6.3 of the dissertation: at 50 % twice as many requests come. r is measured at base load, or
where there is no such run, in the windows of the level itself, before amplification.

Where several threads receive requests that come on a schedule from outside, each of them is also brought
forward by the pauses for those of the others; and threads that receive different numbers of requests differ
in r. So all loads are multiplied by what arrivals show at a low level, if that is surely more than planned.
It may be less where requests wait for the program; the load is not lowered for that.

A thread cannot wait for less than nothing: where what it computes between two arrivals and d_a are more than
the time between them, the level is limited (`find_limit`), and no knee is sought there.

The effect of a load on a progress point is 1 − p_d / p_0, p being the period (or the latency). Intervals are
from a bootstrap over runs, or over windows where runs are few (units.py), widened as in replicates.py.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cozcli.analysis.estimate.percentiles import percentile_interval
from cozcli.analysis.estimate.replicates import REPLICATES, small_sample_factor
from cozcli.analysis.input.latency import latency_terms
from cozcli.analysis.load_result import LoadPoint, LoadQuantile, Scalability
from cozcli.analysis.result import COMPLETED, LATENCY, THROUGHPUT
from cozcli.analysis.statistics.arrays import Floats, Ints
from cozcli.load.arrivals import is_limited, waiting_share
from cozcli.load.knee import find_knee
from cozcli.load.pauses import with_equal_pauses
from cozcli.load.quantiles import load_quantiles
from cozcli.load.units import sums_of_units
from cozcli.profile.profile import Run
from cozcli.profile.records import (
    ArrivalPoint,
    Arrivals,
    ExperimentRecord,
    LatencyPoint,
    Point,
    ThroughputPoint,
)

#: If more than this part of the amplification was lost, the load was another than the level says.
MAX_LOST = 0.05
#: Waits for a processor are compared among at least so many windows. A window may have twice the median, and
#: this part of its length more.
MIN_TO_COMPARE, MAX_EXTRA_WAIT = 5, 0.1
#: Loads must surely be so many times as high as planned, and by this part of the requests, to be named by
#: arrivals.
MIN_EXCESS, MIN_DIFFERENCE = 1.3, 0.03
#: At a load of 1 requests would come infinitely often.
MAX_LOAD = 0.99


@dataclass(frozen=True)
class _Window:
    run: int
    record: ExperimentRecord


@dataclass(frozen=True)
class _Level:
    """The period at one load; `replicates`: log periods as they might have come out."""

    period: float
    replicates: Floats
    rate: float
    windows: int


def lost_share(records: Sequence[ExperimentRecord]) -> float:
    """The part of the amplification that could not be applied in these windows, all of one level."""
    known = [record.arrivals for record in records if record.arrivals]
    asked = sum(arrivals.speedup * arrivals.count for arrivals in known)
    return max(0.0, 1 - sum(arrivals.charged for arrivals in known) / asked) if asked else 0.0


def is_amplified(runs: Sequence[Run]) -> bool:
    """Did any run amplify load, or at least count arrivals?"""
    return any(record.arrivals for run in runs for record in run.experiments)


def unusable_levels(runs: Sequence[Run]) -> dict[int, float]:
    """Levels whose load was not reached, or was never there, and the part that was lost."""
    by_level: dict[int, list[ExperimentRecord]] = {}
    for run in with_equal_pauses(runs):
        for record in run.experiments:
            if record.speedup == 0 and record.arrivals and record.arrivals.speedup:
                by_level.setdefault(record.arrivals.speedup, []).append(record)
    lost = {
        level: 1.0 if not any(r.arrivals and r.arrivals.count for r in records) else lost_share(records)
        for level, records in by_level.items()
    }
    return {level: share for level, share in lost.items() if share > MAX_LOST}


def find_limit(runs: Sequence[Run]) -> float | None:
    """The load from which on threads that requests arrive in had no waiting left to be taken off.

    That is the part of the time between two arrivals in which they wait. None where no level came so far.
    """
    by_level: dict[int, list[Arrivals]] = {}
    for run in with_equal_pauses(runs):
        for record in run.experiments:
            if record.speedup == 0 and record.arrivals:
                by_level.setdefault(record.arrivals.speedup, []).append(record.arrivals)
    if not any(is_limited(counts) for counts in by_level.values()):
        return None
    return waiting_share(by_level[min(by_level)])


def measure_scalability(runs: Sequence[Run]) -> tuple[Scalability, ...]:
    """One result for each progress point, if load was amplified; without levels that were not reached."""
    if not is_amplified(runs):
        return ()
    levels = _usable_levels(runs)
    names = {
        (point.name, kind): None
        for windows in levels.values()
        for window in windows
        for point in window.record.points
        for kind in _kinds(point)
    }
    loads = loads_of(levels)
    limit = find_limit(runs)
    found = [replace(_scale(name, kind, levels, loads), limit=limit) for name, kind in names]
    return tuple(result for result in found if result.points)


def _usable_levels(runs: Sequence[Run]) -> dict[int, list[_Window]]:
    unusable = unusable_levels(runs)
    levels: dict[int, list[_Window]] = {}
    for number, run in enumerate(with_equal_pauses(runs)):
        for record in run.experiments:
            # Runs without amplification count no arrivals; they are no part of the sweep.
            if record.speedup == 0 and record.arrivals and record.arrivals.speedup not in unusable:
                levels.setdefault(record.arrivals.speedup, []).append(_Window(number, record))
    return {level: _undisturbed(windows) for level, windows in levels.items()}


def _undisturbed(windows: list[_Window]) -> list[_Window]:
    """The windows of a level, less those in which threads waited for processors much longer than in most.

    Something else had the machine then: another program, or another guest of the host. A program that lacks
    cores by itself does so in all windows alike.
    """
    lacks = [_lack(window.record) for window in windows]
    known = [lack for window, lack in zip(windows, lacks, strict=True) if window.record.core_wait >= 0]
    if len(known) < MIN_TO_COMPARE:
        return windows
    usual = 2 * float(np.median(known))
    return [
        window
        for window, lack in zip(windows, lacks, strict=True)
        if lack <= usual + MAX_EXTRA_WAIT * window.record.duration
    ]


def _lack(record: ExperimentRecord) -> int:
    """Nanoseconds for which processors were wanted and not there."""
    return max(record.core_wait, 0) + max(record.machine_stolen, 0)


def _kinds(point: Point) -> tuple[str, ...]:
    if isinstance(point, LatencyPoint):
        return COMPLETED, LATENCY
    return () if isinstance(point, ArrivalPoint) else (THROUGHPUT,)


def loads_of(levels: dict[int, list[_Window]]) -> dict[int, float]:
    """By level: d_a / r, with r at base load, or in the level's own windows; times the excess of the load."""
    base, excess = levels.get(0, []), _excess(levels)
    found = {}
    for level, windows in levels.items():
        interval = _interval(base) or _interval(windows)
        found[level] = min(excess * level / interval, MAX_LOAD) if interval else 0.0
    return found


def excess_of_load(runs: Sequence[Run]) -> float:
    """How many times as high as planned loads are; 1 if they are not surely higher."""
    return _excess(_usable_levels(runs))


def _excess(levels: dict[int, list[_Window]]) -> float:
    """By the lowest level that tells: at higher ones, requests may wait for the program."""
    base = levels.get(0, [])
    interval = _interval(base)
    amplified = sorted(level for level in levels if level > 0)
    if not interval:
        return 1.0
    for level in amplified:
        planned = level / interval
        shown, low = _shown_load(base, levels[level])
        if low > MIN_EXCESS * planned and shown > planned + MIN_DIFFERENCE:
            return shown / planned
    return 1.0


def _shown_load(base: Sequence[_Window], windows: Sequence[_Window]) -> tuple[float, float]:
    """The load that the times between arrivals show, and the lower end of its 95 % interval."""
    of_base, own = _arrival_periods(base, 0), _arrival_periods(windows, 1)
    if of_base is None or own is None:
        return 0.0, 0.0
    shown = 1 - own.period / of_base.period
    return shown, float(percentile_interval(-np.expm1(own.replicates - of_base.replicates))[0])


def _time_between(arrivals: Arrivals) -> tuple[float, float]:
    """The sum of the times between arrivals, less the charges, in nanoseconds; and their number."""
    charged = arrivals.charged / max(arrivals.count, 1) * arrivals.intervals
    return arrivals.between - charged, float(arrivals.intervals)


def _arrival_periods(windows: Sequence[_Window], seed: int) -> _Level | None:
    """Effective time between two arrivals in a thread, after the charges; None without arrivals."""
    known = [w for w in windows if w.record.arrivals and w.record.arrivals.intervals]
    values = np.array([_time_between(w.record.arrivals) for w in known if w.record.arrivals]).reshape(-1, 2)
    total = values.sum(axis=0)
    if total[0] <= 0:
        return None
    rng = np.random.default_rng(seed)
    return _Level(
        total[0] / total[1], _replicates(values, np.array([w.run for w in known]), rng), 0.0, len(values)
    )


def _interval(windows: Sequence[_Window]) -> float:
    known = [window.record.arrivals for window in windows if window.record.arrivals]
    intervals = sum(arrivals.intervals for arrivals in known)
    return sum(arrivals.between for arrivals in known) / intervals if intervals else 0.0


def _scale(name: str, kind: str, levels: dict[int, list[_Window]], loads: dict[int, float]) -> Scalability:
    measured = {
        level: of_level
        for level, windows in sorted(levels.items())
        if (of_level := _measure(name, kind, level, windows)) is not None
    }
    base = measured.get(0)
    points, replicates = [], []
    for level, own in measured.items():
        low, high = percentile_interval(np.exp(own.replicates))
        speedup = speedup_low = speedup_high = math.nan
        if base is not None:
            drawn = np.zeros(REPLICATES) if level == 0 else -np.expm1(own.replicates - base.replicates)
            replicates.append(drawn)
            speedup = 1 - own.period / base.period
            speedup_low, speedup_high = map(float, percentile_interval(drawn))
        points.append(
            LoadPoint(
                arrival_speedup=level,
                load=loads[level],
                period=own.period,
                low=float(low),
                high=float(high),
                speedup=speedup,
                speedup_low=speedup_low,
                speedup_high=speedup_high,
                arrival_rate=_arrival_rate(levels[level]),
                rate=own.rate,
                windows=own.windows,
                is_limited=is_limited([w.record.arrivals for w in levels[level] if w.record.arrivals]),
                quantiles=_quantiles(name, level, levels[level]) if kind == LATENCY else (),
            )
        )
    # Levels ascend. What limits one limits those above it.
    usable = next((i for i, point in enumerate(points) if point.is_limited), len(points))
    if base is None or usable < 3 or kind == LATENCY:
        return Scalability(name, kind, tuple(points), is_clear=False)
    knee = find_knee(
        np.array([point.load for point in points[:usable]]),
        np.array([point.speedup for point in points[:usable]]),
        np.array(replicates[:usable]),
    )
    return Scalability(name, kind, tuple(points), knee.at, knee.low, knee.high, is_clear=knee.is_clear)


def _measure(name: str, kind: str, level: int, windows: Sequence[_Window]) -> _Level | None:
    """The period at one level; None if nothing was visited."""
    terms, runs = [], []
    for window in windows:
        for point in window.record.points:
            if point.name != name:
                continue
            if isinstance(point, ThroughputPoint) and kind == THROUGHPUT:
                terms.append((float(point.elapsed), float(point.visits), float(point.elapsed)))
            elif isinstance(point, LatencyPoint) and kind == LATENCY:
                terms.append((*latency_terms(point), float(point.elapsed)))
            elif isinstance(point, LatencyPoint) and kind == COMPLETED:
                terms.append((float(point.elapsed), float(point.departures), float(point.elapsed)))
            else:
                continue
            runs.append(window.run)
    if not terms:
        return None
    values = np.array(terms)
    total = values.sum(axis=0)
    if total[0] <= 0 or total[1] <= 0:
        return None
    rng = np.random.default_rng(zlib.crc32(f"{name}\0{kind}\0{level}".encode(errors="replace")))
    # Visits, arrivals or departures, each second.
    rate = total[1] / total[2] * 1e9
    return _Level(total[0] / total[1], _replicates(values[:, :2], np.array(runs), rng), rate, len(values))


def _quantiles(name: str, level: int, windows: Sequence[_Window]) -> tuple[LoadQuantile, ...]:
    """Of the latency at one level; none where operations have no identities."""
    found = [
        (point.durations, window.run)
        for window in windows
        for point in window.record.points
        if isinstance(point, LatencyPoint) and point.name == name and point.durations
    ]
    if not found:
        return ()
    histograms, runs = zip(*found, strict=True)
    return load_quantiles(histograms, runs, f"{name}\0{level}")


def _replicates(values: Floats, runs: Ints, rng: np.random.Generator) -> Floats:
    """Replicates of the log period, (REPLICATES,): units drawn with replacement; very wide for one unit."""
    values = sums_of_units(values, runs)
    estimate = math.log(values[:, 0].sum() / values[:, 1].sum())
    units = len(values)
    if units < 2:
        return np.asarray(estimate + 10.0 * rng.standard_normal(REPLICATES), dtype=np.float64)
    drawn = rng.multinomial(units, np.full(units, 1 / units), size=REPLICATES) @ values
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(drawn[:, 0] / drawn[:, 1])
    spread = np.where(np.isfinite(logs), logs, estimate) - estimate
    return np.asarray(estimate + spread * small_sample_factor(units), dtype=np.float64)


def _arrival_rate(windows: Sequence[_Window]) -> float:
    """Arrivals per second of effective time, as the profiler counted them."""
    count = sum(window.record.arrivals.count for window in windows if window.record.arrivals)
    elapsed = sum(window.record.effective_duration for window in windows)
    return count / elapsed * 1e9 if elapsed else 0.0
