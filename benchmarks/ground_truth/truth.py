"""True effects: programs run without a profiler, with their lines really made faster."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ground_truth.programs import BUILD, SPEEDUPS, Program, Slice, fingerprint, run_slices

CACHE = BUILD / "truth"
#: The standard error of a median, relative to the standard deviation of what it is the median of.
MEDIAN_ERROR = 1.2533
#: How much longer slices are where latency is measured.
LATENCY_SLICES = 4
#: A standard deviation relative to the median absolute deviation.
ROBUST = 1.4826


@dataclass(frozen=True)
class Settings:
    """How exactly truths are measured: seconds of a slice, and slices of each line and speedup."""

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


def measure(program: Program, settings: Settings, progress: Callable[[str], None]) -> ProgramTruth:
    """Measure all lines and speedups of a program, in one run of it.

    Every slice with a speedup stands between two without, and every line and speedup comes once before any
    comes again: a machine that becomes slower or faster meanwhile is in both sides of the comparison.
    """
    cases = [(line, speedup) for line in program.lines for speedup in SPEEDUPS]
    # A queue takes its time to become longer or shorter.
    one = settings.seconds * (LATENCY_SLICES if program.latency else 1)
    seconds = one * (2 * len(cases) * settings.slices + 3)
    progress(f"truth of {program.name}: {seconds:.0f} s")
    outcome = run_slices(program.binary, seconds, one, cases)
    effects = effects_of(outcome.slices, len(cases))
    truths = tuple(summarize(*case, found) for case, found in zip(cases, effects, strict=True))
    baselines = [one.period for one in outcome.slices if one.case < 0]
    return ProgramTruth(statistics.median(baselines), truths)


def effects_of(slices: Sequence[Slice], cases: int) -> list[list[float]]:
    """The effects of each case, in per cent: each of its slices against the baselines at its sides."""
    effects: list[list[float]] = [[] for _ in range(cases)]
    for before, one, after in zip(slices, slices[1:], slices[2:], strict=False):
        if one.case >= 0 and before.case < 0 and after.case < 0:
            effects[one.case].append(effect_between(before.period, one.period, after.period))
    return effects


def cached(program: Program, settings: Settings, progress: Callable[[str], None]) -> ProgramTruth:
    """As `measure`, but from a file if this build was measured before with these settings."""
    path = (
        CACHE / f"{program.name}-{fingerprint(program.binary)}-{settings.seconds:g}s-{settings.slices}.json"
    )
    if path.exists():
        return from_json(json.loads(path.read_text()))
    truth = measure(program, settings, progress)
    save(path, truth)
    return truth


def save(path: Path, truth: ProgramTruth) -> None:
    """Write a file that `from_json` understands."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(truth), indent=1) + "\n")


def from_json(values: dict[str, Any]) -> ProgramTruth:
    """The opposite of `dataclasses.asdict`."""
    return ProgramTruth(
        values["period"],
        tuple(Truth(**{**truth, "effects": tuple(truth["effects"])}) for truth in values["truths"]),
    )
