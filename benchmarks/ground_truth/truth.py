"""True effects: programs run without a profiler, with their lines really made faster."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ground_truth.programs import Program, Slice, run_slices

#: The standard error of a median, relative to the standard deviation of what it is the median of.
MEDIAN_ERROR = 1.2533
#: Slices of each line and speedup, at least, however long they are.
MIN_SLICES = 12
#: A standard deviation relative to the median absolute deviation.
ROBUST = 1.4826
#: Slices count from which no more than this part of a processor's time was stolen...
MAX_STOLEN = 0.03
#: ...and at least this part of them, those from which least was stolen.
MIN_PART = 1 / 3


@dataclass(frozen=True)
class Settings:
    """How exactly truths are measured: seconds of a slice, and slices of each line and speedup.

    A program's slices are longer by its `slice_factor`.
    """

    seconds: float = 0.1
    slices: int = 40


@dataclass(frozen=True)
class Truth:
    """The true effect in per cent: the median over slices, and that median's standard error."""

    line: str
    speedup: int
    effect: float
    spread: float
    effects: tuple[float, ...]


@dataclass(frozen=True)
class ProgramTruth:
    """All of a program's true effects, and the median period without speedup in microseconds."""

    period: float
    truths: tuple[Truth, ...]

    def of(self, line: str, speedup: int) -> Truth:
        """One of them."""
        return next(t for t in self.truths if (t.line, t.speedup) == (line, speedup))

    def steepest(self, speedup: int = 50) -> str:
        """The line whose true effect at this speedup is largest, gain or harm."""
        at = [truth for truth in self.truths if truth.speedup == speedup]
        return max(at, key=lambda truth: abs(truth.effect)).line


def summarize(line: str, speedup: int, effects: Sequence[float]) -> Truth:
    """The median of effects, with its standard error by the median absolute deviation."""
    median = statistics.median(effects)
    deviation = statistics.median(abs(effect - median) for effect in effects)
    spread = MEDIAN_ERROR * ROBUST * deviation / len(effects) ** 0.5
    return Truth(line, speedup, median, spread, tuple(effects))


def effect_between(before: float, with_speedup: float, after: float) -> float:
    """Per cent by which a period is shorter than the mean of the periods before and after."""
    return 100 * (1 - 2 * with_speedup / (before + after))


def cases_of(program: Program) -> list[tuple[str, int]]:
    """All lines of a program at all speedups."""
    return [(line, speedup) for line in program.lines for speedup in program.speedups(line)]


def seconds_of_a_turn(program: Program, settings: Settings, turns: int) -> float:
    """How long `run_turn` takes if `settings` are to be met in so many turns."""
    one = settings.seconds * program.slice_factor
    # Longer slices scatter less, so that there can be fewer.
    slices = max(MIN_SLICES, settings.slices / program.slice_factor)
    return one * (2 * len(cases_of(program)) * math.ceil(slices / turns) + 3)


def run_turn(program: Program, settings: Settings, turns: int) -> tuple[Slice, ...]:
    """Slices of all lines and speedups, one part in so many `turns`, in one run of the program.

    Every slice with a speedup stands between two without, and every line and speedup comes once before any
    comes again: a machine that becomes slower or faster meanwhile is in both sides of the comparison.
    """
    one = settings.seconds * program.slice_factor
    seconds = seconds_of_a_turn(program, settings, turns)
    return run_slices(program, seconds, one, cases_of(program)).slices


def of_turns(program: Program, turns: Sequence[Sequence[Slice]]) -> ProgramTruth:
    """What the slices of all turns say."""
    cases = cases_of(program)
    effects: list[list[Effect]] = [[] for _ in cases]
    for slices in turns:
        for all_of_case, of_turn in zip(effects, effects_of(slices, len(cases)), strict=True):
            all_of_case += of_turn
    truths = tuple(summarize(*case, undisturbed(found)) for case, found in zip(cases, effects, strict=True))
    baselines = [one.period for slices in turns for one in slices if one.case < 0]
    return ProgramTruth(statistics.median(baselines), truths)


@dataclass(frozen=True)
class Effect:
    """What one slice says. stolen: the part of a processor that was stolen in it and around it."""

    effect: float
    stolen: float = 0.0


def effects_of(slices: Sequence[Slice], cases: int) -> list[list[Effect]]:
    """The effects of each case, in per cent: each of its slices against the baselines at its sides."""
    effects: list[list[Effect]] = [[] for _ in range(cases)]
    for three in zip(slices, slices[1:], slices[2:], strict=False):
        before, one, after = three
        if one.case >= 0 and before.case < 0 and after.case < 0:
            effect = effect_between(before.period, one.period, after.period)
            stolen = sum(s.stolen for s in three) / sum(s.seconds for s in three)
            effects[one.case].append(Effect(effect, stolen))
    return effects


def undisturbed(effects: Sequence[Effect]) -> list[float]:
    """Those of slices in which the machine was at the program's disposal, as far as there are enough.

    Chosen by the machine alone, whatever the effect.
    """
    rising = sorted(effect.stolen for effect in effects)
    limit = max(MAX_STOLEN, rising[math.ceil(MIN_PART * len(rising)) - 1]) if rising else 0.0
    return [effect.effect for effect in effects if effect.stolen <= limit]


def from_json(values: Mapping[str, Any]) -> ProgramTruth:
    """The opposite of `dataclasses.asdict`."""
    return ProgramTruth(
        values["period"],
        tuple(Truth(**{**truth, "effects": tuple(truth["effects"])}) for truth in values["truths"]),
    )
