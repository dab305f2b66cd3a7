"""All targets of a profile of combined windows: which there are, and for what share of the time each runs.

A target's share is the number of its samples times the sampling period, for each ns of effective time.
Threads that run it at once all count, so the time in which at least one of them does is at most that. Such a
target cannot save more than its share: `bound`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cozcli.analysis.input.locations import WAITING
from cozcli.analysis.input.windows import MIN_EFFECTIVE, Window
from cozcli.analysis.statistics.arrays import Floats
from cozcli.profile.profile import Run

#: By what factor an effect may exceed the target's share: a faster line may also let others wait less
#: (convoys, scheduling).
SLACK = 1.25
#: What any target may save, however rarely it runs: pauses and shares are not more exact.
LEAST_BOUND = 0.005
#: Standard errors of the number of samples that the bound allows for.
BOUND_ERRORS = 2.0
#: Kinds of targets of which shares alone tell something.
SAMPLED = ("line", "function", "callpath")
#: So many samples of a run, all out of scope, are not so by chance: its scope names other binaries (`-b`),
#: which older profiles do not record.
MIN_OUTSIDE = 100
#: A target that no window sped up is one nevertheless if its share allows at least this effect.
MIN_UNTRIED = 0.02


@dataclass(frozen=True)
class Target:
    """Of one location: what it is, its share, and the number of samples from which that is known."""

    location: str
    function: str
    kind: str
    share: float
    samples: float

    @property
    def bound(self) -> float:
        """The largest effect at 100 % that the share allows; between 0 and 1."""
        return largest_effect(self.share, self.samples)

    @property
    def share_variance(self) -> float:
        """Relative variance of the share; at most 1."""
        return float(min(1.0 / max(self.samples, 1.0), 1.0))


def largest_effect(share: float, samples: float) -> float:
    """The largest effect at 100 % of a target with this share, known from so many samples."""
    most = share * (1 + BOUND_ERRORS / math.sqrt(max(samples, 1.0)))
    return min(SLACK * most + LEAST_BOUND, 1.0)


def is_combined(runs: Sequence[Run]) -> bool:
    """Did any window speed up several targets?"""
    return any(run.record.companion_dose > 0 or any(e.companions for e in run.experiments) for run in runs)


def find_targets(runs: Sequence[Run], by_target: Mapping[str, Sequence[Window]]) -> list[Target]:
    """Every target that was sped up in a window, as main target or as a companion, in a fixed order; then
    those that only have samples, but so many that they may matter.
    """
    names: dict[str, tuple[str, str]] = {}
    for windows in by_target.values():
        for window in windows:
            record = window.record
            if record.target != "none":
                known = names.get(record.location, ("", record.target))
                names[record.location] = (known[0] or record.function, record.target)
    for run in runs:
        used = {c.number for record in run.experiments for c in record.companions}
        for number in sorted(used):
            companion = run.targets[number]
            names.setdefault(companion.location, (companion.function, companion.kind))
    shares = shares_of_time(runs)
    for run in runs:
        for line in run.samples.lines if run.samples is not None else ():
            if line.kind in SAMPLED and largest_effect(*shares.get(line.location, (0.0, 0.0))) >= MIN_UNTRIED:
                names.setdefault(line.location, (line.function, line.kind))
    return [
        Target(location, function, kind, *shares.get(location, (0.0, 0.0)))
        for location, (function, kind) in names.items()
    ]


def shares_of_time(runs: Sequence[Run]) -> dict[str, tuple[float, float]]:
    """The share and the number of samples of each location, over all runs that could sample it. Waiting for a
    core is part of it.

    A wait's periods are of real time: the thread waits while others pause, and neither a core nor a timer
    matters. Runs that were killed before they had counted all samples tell by their windows. Runs of another
    program, rank, scope or granularity, or without waits, may have no sample of a location, and then tell
    nothing.
    """
    alike: defaultdict[Hashable, list[Run]] = defaultdict(list)
    # A run whose start is lost has no program: it is that of the others.
    has_one_program = len({run.record.program for run in runs} - {""}) <= 1
    for run in runs:
        alike[_samples_what(run), "" if has_one_program else run.record.program].append(run)
    times: defaultdict[str, float] = defaultdict(float)
    periods: defaultdict[str, float] = defaultdict(float)
    samples: defaultdict[str, float] = defaultdict(float)
    for members in alike.values():
        time = 0.0
        seen: set[str] = set()
        for run in members:
            counted, of_run = _counted(run)
            lengthened, real = _lengthened(run), _part_of_real_time(run)
            time += of_run
            seen |= counted.keys()
            for location, count in counted.items():
                factor = real if location.startswith(WAITING) else lengthened
                periods[location] += count * run.record.period * factor
                samples[location] += count
        for location in seen:
            times[location] += time
    return {location: (of / times[location], samples[location]) for location, of in periods.items() if of > 0}


def _samples_what(run: Run) -> Hashable:
    """The same for runs of one program that sample the same locations, if these run at all."""
    lines = run.samples.lines if run.samples is not None else ()
    has_waits = any(line.location.startswith(WAITING) for line in lines)
    is_outside = run.samples is not None and not lines and run.samples.total >= MIN_OUTSIDE
    rank = run.job.rank if run.job is not None else None
    record = run.record
    return record.granularity, record.scope, record.binaries, has_waits, is_outside, rank


def _part_of_real_time(run: Run) -> float:
    """The effective time of a run, as a part of its real time."""
    real = sum(record.duration for record in run.experiments)
    return sum(record.effective_duration for record in run.experiments) / real if real > 0 else 1.0


def _lengthened(run: Run) -> float:
    """How much longer a target ran than its samples say: threads waited for a core, or a timer came late."""
    known = [r for r in run.experiments if r.processor_time > 0]
    had = float(sum(r.processor_time for r in known))
    waited = float(sum(max(r.core_wait, 0) for r in known))
    sampled = float(sum(r.samples for r in known) * run.record.period)
    base = min(sampled, had) if run.record.sampling == "timer" else had
    return (had + waited) / base if base > 0 else 1.0


def _counted(run: Run) -> tuple[dict[str, float], float]:
    """Samples of each location of a run, and the effective time in which they were taken."""
    if run.samples is not None and run.samples.run_time > 0:
        found: defaultdict[str, float] = defaultdict(float)
        for line in run.samples.lines:
            found[line.location] += line.count
        return dict(found), float(run.samples.run_time)
    whole = float(sum(record.effective_duration for record in run.experiments))
    seen: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for record in run.experiments:
        own = [(record.location, record.target_samples)] if record.target != "none" else []
        others = [(run.targets[c.number].location, c.target_samples) for c in record.companions]
        for location, count in own + others:
            seen[location][0] += count
            seen[location][1] += record.effective_duration
    return {location: count / time * whole for location, (count, time) in seen.items()}, whole


@dataclass(frozen=True)
class CompanionRows:
    """What companions did in N windows with J targets; both (N, J).

    speedup: of each target as a companion, 0 where it is none. share: time in it by its samples, for each
    effective ns, where it is a companion.
    """

    speedup: Floats
    share: Floats


def companion_rows(windows: Sequence[Window], runs: Sequence[Run], index: Mapping[str, int]) -> CompanionRows:
    """The companions of some windows; `index` numbers the targets."""
    rows = CompanionRows(np.zeros((len(windows), len(index))), np.zeros((len(windows), len(index))))
    for row, window in enumerate(windows):
        targets = runs[window.run].targets
        for companion in window.record.companions:
            column = index[targets[companion.number].location]
            rows.speedup[row, column] = companion.speedup
            time = companion.target_samples * window.period
            # Where nearly all of the window was delay, a sample tells nothing of the share.
            record = window.record
            effective = max(record.effective_duration, MIN_EFFECTIVE * record.duration)
            rows.share[row, column] = time / effective
    return rows
