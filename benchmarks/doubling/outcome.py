"""What the measurements of a case say: truth, prediction, and whether the one holds the other.

Effects and shares are fractions. A truth is 1 − (time of a unit with one run) / (time with two or more),
of the program with more runs, as Coz's effects are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from cozcli.compare.estimate import estimate

#: A prediction that is no further from the truth holds, whatever its interval.
NEAR = 0.04


@dataclass(frozen=True)
class Logged:
    """What `twice.c` writes at the end: units after the first, the seconds that they took, and processor
    seconds of the process and of its clocked region."""

    units: int
    seconds: float
    processor: float
    region: float

    @property
    def period(self) -> float:
        """Seconds for a unit."""
        return self.seconds / self.units


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Region:
    """Of the doubled program: the region's share of processor time, and the speedup of the region that gives
    back its time for a unit with one run, by that processor time."""

    share: float
    undone: float


@dataclass(frozen=True)
class Outcome:
    """One case. `periods`: seconds for a unit with two runs or more and with one, of each pair. `predicted`:
    None where the profile has no result for the region."""

    program: str
    case: str
    threads: str
    runs: int
    cores: float
    periods: tuple[tuple[float, float], ...]
    region: Region
    truth: Interval
    predicted: Interval | None
    marks: tuple[str, ...]
    experiments: int

    @property
    def error(self) -> float | None:
        """Prediction less truth."""
        return None if self.predicted is None else self.predicted.value - self.truth.value

    @property
    def held(self) -> bool:
        """Is the truth within NEAR of the prediction, or within its interval?

        Each side of the interval is widened by the truth's own, as errors that are independent are.
        """
        if self.predicted is None or self.error is None:
            return False
        below = math.hypot(self.predicted.value - self.predicted.low, self.truth.high - self.truth.value)
        above = math.hypot(self.predicted.high - self.predicted.value, self.truth.value - self.truth.low)
        return abs(self.error) <= NEAR or -above <= self.error <= below


def parse_log(text: str) -> Logged:
    """The last line of a log.

    Raises:
        ValueError: there is none.
    """
    lines = text.split("\n")[:-1]
    if not lines:
        raise ValueError("a run has logged nothing: it was not linked with twice.c, or did not end by exit()")
    units, *seconds = lines[-1].split()
    return Logged(int(units), *map(float, seconds))


def truth_of(pairs: Sequence[tuple[Logged, Logged]]) -> Interval:
    """Of pairs (with two runs, with one): by signed ranks, as `coz compare` has it."""
    found = estimate([(twice.period, once.period) for twice, once in pairs], margin=0.01)
    return Interval(1 - found.ratio, 1 - found.high, 1 - found.low)


def region_of(pairs: Sequence[tuple[Logged, Logged]]) -> Region:
    """Of pairs of runs that were clocked."""
    twice = [two for two, _ in pairs]
    once = [one for _, one in pairs]

    def per_unit(logs: Sequence[Logged]) -> float:
        return sum(log.region for log in logs) / sum(log.units for log in logs)

    share = sum(log.region for log in twice) / sum(log.processor for log in twice)
    return Region(share, 1 - per_unit(once) / per_unit(twice))


def prediction_of(
    report: Mapping[str, Any], region: str, speedup: float
) -> tuple[Interval, list[str]] | None:
    """The region's effect at a speedup, between the points measured, and its marks; None: no result."""
    for result in report["results"]:
        if (result["location"], result["point"]) == (f"region {region}", "unit"):
            known = [p for p in result["curve"] if p["speedup"] > 0 and p["effect"] is not None]
            points = [{"speedup": 0.0, "effect": 0.0, "low": 0.0, "high": 0.0}, *known]
            if points[-1]["speedup"] < speedup:
                return None
            values = [_between(points, speedup, key) for key in ("effect", "low", "high")]
            return Interval(*values), list(result["notes"])
    return None


def _between(points: Sequence[Mapping[str, float]], at: float, key: str) -> float:
    for left, right in pairwise(points):
        if at <= right["speedup"]:
            part = (at - left["speedup"]) / (right["speedup"] - left["speedup"])
            return left[key] + part * (right[key] - left[key])
    raise ValueError("beyond the curve")


def save(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Write a file that `load` understands."""
    path.write_text(json.dumps([asdict(outcome) for outcome in outcomes], indent=1) + "\n")


def load(path: Path) -> list[Outcome]:
    """Read what `save` has written; nothing without a file."""
    if not path.exists():
        return []
    return [
        Outcome(
            **{
                **each,
                "region": Region(**each["region"]),
                "truth": Interval(**each["truth"]),
                "predicted": None if each["predicted"] is None else Interval(**each["predicted"]),
                "marks": tuple(each["marks"]),
                "periods": tuple((twice, once) for twice, once in each["periods"]),
            }
        )
        for each in json.loads(path.read_text())
    ]
