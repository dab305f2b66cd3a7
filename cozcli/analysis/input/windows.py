"""Which windows can be used, sorted by target, each with its block."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cozcli.analysis.input.slowness import reference_probe_times, slowness_of, stolen_share
from cozcli.profile.profile import Run
from cozcli.profile.records import ExperimentRecord

#: Stratum of windows that were not measured in blocks: classic profiles, end-to-end windows.
POOL = -1
#: While a queue drains at a speedup of 100 %, hardly anything but the line runs. Where most windows are
#: transient, those with less effective time than this share of their length have no period.
MIN_EFFECTIVE = 0.1
#: If more than this share of the windows closed while a thread still owed delays, effects may be off.
MAX_UNSETTLED = 0.05


@dataclass(frozen=True)
class Window:
    """One usable window: its record, and the number of its run.

    stratum: number of the window's block, over all runs; it pairs a window with its baseline. `POOL`: none.
    slowness, stolen: how slow the machine was, logarithms (slowness.py).
    is_of_other_target: a baseline that was measured on another target.
    planned: the speedups above 0 that its run was to try; None if all of them. period: of sampling, ns.
    """

    run: int
    stratum: int
    record: ExperimentRecord
    slowness: float = 0.0
    stolen: float = 0.0
    is_of_other_target: bool = False
    planned: frozenset[float] | None = None
    period: int = 0

    @property
    def own_delay(self) -> float:
        """Delay that the main target caused, ns; the rest is of companions.

        Samples of several threads at once cause the delay of one.
        """
        record = self.record
        charged = record.target_samples * self.period * record.speedup
        return min(charged, record.delay) if record.companions else record.delay

    @property
    def disturbance(self) -> float:
        """By how much the machine was slower than at its best, for both reasons; a logarithm."""
        return self.slowness + self.stolen


@dataclass
class Windows:
    """All usable windows by location, in the order of the profile.

    unsettled: how many closed before all delays were paid.
    """

    by_target: dict[str, list[Window]]
    unsettled: int = 0

    @property
    def measured(self) -> list[Window]:
        """Every window once."""
        return [
            window
            for of_target in self.by_target.values()
            for window in of_target
            if not window.is_of_other_target
        ]


def usable_windows(runs: Sequence[Run]) -> Windows:
    """Sort windows by location."""
    windows = Windows(defaultdict(list))
    steady, transient = (_count(runs, is_transient) for is_transient in (False, True))
    strata: dict[tuple[int, int], int] = {}
    references = reference_probe_times(runs)
    for number, run in enumerate(runs):
        pooled = run.record.classic or run.record.end_to_end
        planned, period = run.record.planned_speedups, run.record.period
        for record in run.experiments:
            if record.target == "none" and run.record.companion_dose == 0:
                continue  # nothing was sped up but arrivals
            # Windows of companions alone are those of a target called none.
            key = record.location, record.speedup
            if transient[key] > steady[key] and record.effective_duration < MIN_EFFECTIVE * record.duration:
                continue
            windows.unsettled += "unsettled" in record.flags
            stratum = POOL if pooled else strata.setdefault((number, record.block), len(strata))
            slowness = slowness_of(record.probe_time, references[number])
            stolen = stolen_share(record)
            window = Window(number, stratum, record, slowness, stolen, planned=planned, period=period)
            windows.by_target[record.location].append(window)
    _add_baselines_of_others(runs, windows.by_target)
    return windows


def _count(runs: Sequence[Run], is_transient: bool) -> Counter[tuple[str, float]]:
    """Windows that opened in a transient or in steady state, by location and speedup."""
    return Counter(
        (record.location, record.speedup)
        for run in runs
        for record in run.experiments
        if record.is_transient == is_transient
    )


def _add_baselines_of_others(runs: Sequence[Run], by_target: dict[str, list[Window]]) -> None:
    """Give end-to-end windows without a baseline of their own target those of all others.

    At speedup 0 nothing is delayed whichever target is selected, so it is the same program.
    """
    whole = {
        target: [w for w in windows if runs[w.run].record.end_to_end] for target, windows in by_target.items()
    }
    baselines = [w for windows in whole.values() for w in windows if w.record.speedup == 0]
    for target, windows in whole.items():
        if windows and not any(w.record.speedup == 0 for w in by_target[target]):
            by_target[target] += [replace(w, stratum=POOL, is_of_other_target=True) for w in baselines]
