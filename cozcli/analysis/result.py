"""The result of an analysis: the one value that every report renders. Fractions and nanoseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from cozcli.analysis.callers import Surroundings
from cozcli.analysis.scalability import Scalability
from cozcli.errors import Problem


class Note(Enum):
    """What a reader should know about one result; the value is the text shown."""

    FEW_DATA = "few data"
    PHASES = "runs in phases"
    UNSETTLED = "delays owed"
    UNPAIRED = "pooled baseline"
    BORROWED = "baseline of another line"
    UNSTABLE = "unstable queue"
    LOAD = "limited by load"
    MAYBE_LOAD = "perhaps limited by load"
    CORES = "too few cores"
    NOT_SETTLED = "not settled"


#: Notes that say that a result may be wrong by more than its interval.
DOUBTS = (Note.UNSTABLE, Note.LOAD, Note.MAYBE_LOAD, Note.CORES, Note.NOT_SETTLED)


@dataclass(frozen=True)
class CurvePoint:
    """The effect of one amount of virtual speedup, with its 95 % interval."""

    speedup: float
    effect: float
    low: float
    high: float
    experiments: int


@dataclass(frozen=True)
class Fit:
    """A smooth curve through the points and the origin, with its 95 % band, on a grid of speedups."""

    degree: int
    speedup: tuple[float, ...]
    effect: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Phase:
    """The phase correction: `factor` is what effects were multiplied by, `estimate` what was measured."""

    factor: float = 1.0
    estimate: float | None = None
    standard_error: float = 0.0


@dataclass(frozen=True)
class Overhead:
    """What profiling did to one progress point (overhead.py).

    `slowdown`: period with samples over period without. `factor`: what effects were multiplied by for it,
    with its relative standard error.
    """

    slowdown: float = 1.0
    factor: float = 1.0
    error: float = 0.0


@dataclass(frozen=True)
class LineResult:
    """One line and one progress point. `curve` begins with speedup 0.

    `target` says what the location names: a line, a function, a callpath (a line under one caller), or a
    region. `surroundings`: who calls a line, and as part of which functions it is run, as far as known.

    `slope_low` and `slope_high` are a 95 % interval for this line alone; `adjusted_low` and `adjusted_high`
    allow for the number of lines looked at, and `significant` says that they leave out 0.

    `arrival_speedup`: ns by which each arrival was sped up meanwhile; results of different loads stand apart.
    """

    location: str
    function: str
    point: str
    kind: str
    slope: float
    slope_low: float
    slope_high: float
    adjusted_low: float
    adjusted_high: float
    significant: bool
    contention: bool
    phase: Phase
    curve: tuple[CurvePoint, ...]
    fit: Fit
    notes: tuple[Note, ...] = ()
    target: str = "line"
    surroundings: Surroundings = field(default_factory=Surroundings)
    arrival_speedup: int = 0

    @property
    def key(self) -> tuple[str, str, str]:
        """What names a result: line, progress point, kind."""
        return self.location, self.point, self.kind

    @property
    def experiments(self) -> int:
        """Windows used, the baseline's too."""
        return sum(point.experiments for point in self.curve)

    @property
    def speedups(self) -> int:
        """Number of different speedups other than 0."""
        return sum(point.speedup > 0 for point in self.curve)


@dataclass(frozen=True)
class RunSummary:
    """What a report says about one run."""

    program: str
    arguments: tuple[str, ...]
    time: int
    sampling: str
    period: int
    experiments: int
    real_time: int
    classic: bool
    source: str
    #: Progress points without marks: name, and what counted the visits.
    points: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Analysis:
    """All results, in order of rank, with what they rest on."""

    results: tuple[LineResult, ...]
    runs: tuple[RunSummary, ...]
    warnings: tuple[Problem, ...]
    #: By progress point and kind; those that nothing is known of are missing.
    overheads: Mapping[tuple[str, str], Overhead] = field(default_factory=dict)
    #: Where load was amplified: by progress point.
    scalability: tuple[Scalability, ...] = ()

    @property
    def experiments(self) -> int:
        """Windows in all runs, used or not."""
        return sum(run.experiments for run in self.runs)

    @property
    def loads(self) -> dict[int, float]:
        """The load that each arrival speedup amounts to: the part of the time between arrivals taken away."""
        return {point.arrival_speedup: point.load for of in self.scalability for point in of.points}

    @property
    def counted_by(self) -> dict[str, str]:
        """What counted the visits of points without marks, by the point's name."""
        return {name: by for run in self.runs for name, by in run.points}

    @property
    def real_time(self) -> int:
        """Real nanoseconds of all runs together."""
        return sum(run.real_time for run in self.runs)
