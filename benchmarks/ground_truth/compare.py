"""Truths and predictions side by side, and what they come to: errors, coverage."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ground_truth import truth
from ground_truth.predict import Prediction, ProgramPrediction
from ground_truth.truth import ProgramTruth, Truth

#: Standard errors that hold 95 % of a normal distribution.
NORMAL_95 = 1.96


@dataclass(frozen=True)
class Comparison:
    """One line at one speedup: the truth, and what was predicted, if anything."""

    true: Truth
    predicted: Prediction | None

    @property
    def error(self) -> float | None:
        """Points by which the prediction is above the truth."""
        return None if self.predicted is None else self.predicted.effect - self.true.effect

    @property
    def covered(self) -> bool | None:
        """Does the interval hold the truth, which is itself known to `spread` only?

        Both sides of the interval are widened by the truth's own 95 %, as errors that are independent are.
        """
        if self.predicted is None:
            return None
        own = NORMAL_95 * self.true.spread
        below = self.predicted.effect - self.predicted.low
        above = self.predicted.high - self.predicted.effect
        difference = self.true.effect - self.predicted.effect
        return -math.hypot(below, own) <= difference <= math.hypot(above, own)


@dataclass(frozen=True)
class Score:
    """Of several comparisons: how many there should be and are, errors in points, the share covered."""

    wanted: int
    made: int
    mean: float
    largest: float
    coverage: float


@dataclass
class Measured:
    """One program: its truths, and the predictions of each tool that was run, by the tool's name."""

    name: str
    true: ProgramTruth
    tools: dict[str, ProgramPrediction] = field(default_factory=dict)

    def comparisons(self, tool: str) -> list[Comparison]:
        """All lines and speedups, in the order of the truths; none for a tool that was not run."""
        if tool not in self.tools:
            return []
        return [Comparison(t, self.tools[tool].of(t.line, t.speedup)) for t in self.true.truths]


@dataclass
class Results:
    """What `accuracy.json` holds. `seconds`: of profiling for each program."""

    seconds: float
    programs: list[Measured] = field(default_factory=list)

    @property
    def tools(self) -> list[str]:
        """The names of all tools that were run, in that order."""
        return list(dict.fromkeys(tool for program in self.programs for tool in program.tools))


def score(comparisons: Iterable[Comparison]) -> Score:
    """Sum up; errors and coverage are of those comparisons that could be made, 0 without any."""
    everything = list(comparisons)
    errors = [abs(c.error) for c in everything if c.error is not None]
    covered = [c.covered for c in everything if c.covered is not None]
    return Score(
        wanted=len(everything),
        made=len(errors),
        mean=statistics.fmean(errors) if errors else 0.0,
        largest=max(errors, default=0.0),
        coverage=sum(covered) / len(covered) if covered else 0.0,
    )


def save(path: Path, results: Results) -> None:
    """Write a file that `load` understands."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(results), indent=1) + "\n")


def load(path: Path) -> Results:
    """Read what `save` has written."""
    values: dict[str, Any] = json.loads(path.read_text())
    return Results(values["seconds"], [_measured(program) for program in values["programs"]])


def _measured(values: Mapping[str, Any]) -> Measured:
    tools = {name: _prediction(tool) for name, tool in values["tools"].items()}
    return Measured(values["name"], truth.from_json(values["true"]), tools)


def _prediction(values: Mapping[str, Any]) -> ProgramPrediction:
    predictions: Sequence[Mapping[str, Any]] = values["predictions"]
    return ProgramPrediction(
        **{**values, "predictions": tuple(Prediction(**prediction) for prediction in predictions)}
    )
