"""The result of an analysis: the one value that every report renders. Fractions and nanoseconds.

Imports no numpy, so that reports can name its parts at no cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from cozcli.analysis.load_result import Scalability
from cozcli.errors import Problem

#: What a progress point measures.
THROUGHPUT, LATENCY = "throughput", "latency"
#: Besides these, where load is amplified: how often what a latency point begins is brought to its end.
COMPLETED = "completed"

#: What names a result: location, progress point, kind.
ResultKey = tuple[str, str, str]
#: A progress point and its kind.
PointKey = tuple[str, str]


class Mark(Enum):
    """A word beside a result that qualifies it; the value is the text shown."""

    FEW_DATA = "few data"
    PHASES = "runs in phases"
    DELAYS_OWED = "delays owed"
    POOLED_BASELINE = "pooled baseline"
    OTHER_BASELINE = "baseline of another line"
    UNSTABLE = "unstable queue"
    LOAD = "limited by load"
    MAYBE_LOAD = "perhaps limited by load"
    CORES = "too few cores"
    NOT_STEADY = "not settled"
    BEYOND_SHARE = "beyond its share"


#: Marks that say that a result may be wrong by more than its interval.
DOUBTS = (Mark.UNSTABLE, Mark.LOAD, Mark.MAYBE_LOAD, Mark.CORES, Mark.NOT_STEADY, Mark.BEYOND_SHARE)
#: Something outside sets the pace.
LOAD_MARKS = frozenset({Mark.LOAD, Mark.MAYBE_LOAD})
#: Marks of results that may be nothing, or are not about the program: nobody should act on them for a
#: sentence's sake.
NOT_TRUSTED = (Mark.FEW_DATA, Mark.LOAD, Mark.UNSTABLE)
#: Marks of results that rest on too little, or on something else, to pass or fail a build.
UNFIT = (Mark.FEW_DATA, Mark.LOAD, Mark.UNSTABLE, Mark.BEYOND_SHARE)
#: Own windows prove an effect if its lack would do what they show as rarely as this.
MAX_P_OWN = 0.05


@dataclass(frozen=True)
class CurvePoint:
    """The effect of one amount of virtual speedup, with its 95 % interval."""

    speedup: float
    effect: float
    low: float
    high: float
    experiments: int


@dataclass(frozen=True)
class Quantile:
    """The effect on the quantile `q` of the latency of operations with identities.

    `baseline`: the quantile without a speedup, ns. `slope`: of a line through the origin, with its 95 %
    interval. `p_no_slope`: p-value of a slope of 0. `blurred`: shorter than delays can tell.
    """

    q: float
    baseline: float
    slope: float
    slope_low: float
    slope_high: float
    p_no_slope: float
    curve: tuple[CurvePoint, ...]
    significant: bool = False
    blurred: bool = False


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
class Caller:
    """Who runs a line: the location of the call and its function, both empty where that is out of scope.

    `share`: of the line's samples, between 0 and 1.
    """

    location: str
    function: str
    share: float


@dataclass(frozen=True)
class Instance:
    """A function that a line is part of: one of several instances of a template. `share`: as above."""

    function: str
    share: float


@dataclass(frozen=True)
class Surroundings:
    """The callers and functions of a line, the hottest first.

    A line whose callers are all out of scope (in main, or a thread's first function) has none. A line that is
    part of a single function has no instances.
    """

    callers: tuple[Caller, ...] = ()
    instances: tuple[Instance, ...] = ()


@dataclass(frozen=True)
class Holder:
    """The line that had taken a lock when waits for it began; empty if that is not known.

    `share`: of the time of these waits, between 0 and 1.
    """

    location: str
    function: str
    share: float


@dataclass(frozen=True)
class WaitedLock:
    """A lock for which threads wait in a target.

    `name`: of the static variable; empty for all others together, as on the heap. `share`: of all waiting in
    the target, between 0 and 1. `waits`: how often, `mean`: how long, ns of effective time. `holders`: those
    with most waiting first. `number`: of locks that are told apart, in the run with most; 0
    if not known. `has_others`: there are more. `largest`: of the waiting for all these locks, the share of
    the one with most.
    """

    name: str
    share: float
    waits: int
    mean: float
    holders: tuple[Holder, ...]
    number: int = 1
    largest: float = 1.0
    has_others: bool = False


@dataclass(frozen=True)
class LineResult:
    """One target and one progress point. `curve` begins with speedup 0.

    `target` says what the location names: a line, a function, a callpath (a line under one caller), or a
    region. `surroundings`: who calls a line, and as part of which functions it is run, as far as known.

    `slope_low` and `slope_high` are a 95 % interval for this line alone; `adjusted_low` and `adjusted_high`
    allow for the number of lines looked at, and `significant` says that they leave out 0.

    `arrival_speedup`: ns by which each arrival was sped up meanwhile; results of different loads stand apart.

    `bound`: the largest effect at 100 % that the target's share of the time allows; None if that is not
    known. `companion_windows`: combined windows in which it was sped up as a companion. `is_combined`:
    estimated with all other targets from combined windows; points of its curve are read from the fit, and
    `experiments` says in how many windows it was the main target there.

    `share`: of effective time in which the target runs, all threads added up; None if that is not known.
    `samples`: from how many samples it is known.

    `locks`: those that threads wait for in a lock target, the one with most waiting first.

    `freedom`: degrees of freedom of its intervals; of those of single effects, at least.

    `is_modelled`: for want of cores, effects come from shares of processor time instead of experiments.

    `quantiles`: of the latency, where operations have identities; by ascending q.

    `p_own`: p-value of no effect by the target's own windows; None where nothing else was used. An interval
    may leave out 0 by what other targets show, and by the share; that is no evidence for this target.
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
    marks: tuple[Mark, ...] = ()
    target: str = "line"
    surroundings: Surroundings = field(default_factory=Surroundings)
    locks: tuple[WaitedLock, ...] = ()
    arrival_speedup: int = 0
    bound: float | None = None
    companion_windows: int = 0
    is_combined: bool = False
    share: float | None = None
    samples: float = 0.0
    p_own: float | None = None
    freedom: float = math.inf
    quantiles: tuple[Quantile, ...] = ()
    is_modelled: bool = False

    @property
    def is_proven(self) -> bool:
        """Do its own windows show that it has an effect, if its interval says so?"""
        return self.p_own is None or self.p_own <= MAX_P_OWN

    @property
    def key(self) -> ResultKey:
        """What names the result."""
        return self.location, self.point, self.kind

    @property
    def is_trusted(self) -> bool:
        """Has it no mark that forbids to act on it? What reports say in words is about such results only."""
        return not set(self.marks) & set(NOT_TRUSTED)

    @property
    def experiments(self) -> int:
        """Windows used, the baseline's too."""
        return sum(point.experiments for point in self.curve)

    @property
    def speedups(self) -> int:
        """Number of different speedups other than 0 at which it was measured."""
        return sum(point.speedup > 0 and point.experiments > 0 for point in self.curve)


@dataclass(frozen=True)
class Pair:
    """Two targets that save more (or less, below 0) together than the sum of each alone.

    effect: what both at `speedup` save beyond that sum, with its 95 % interval. alone: what each saves at
    that speedup; the first target is the one that saves more. windows: in which both were sped up.
    """

    locations: tuple[str, str]
    functions: tuple[str, str]
    point: str
    kind: str
    speedup: float
    effect: float
    low: float
    high: float
    alone: tuple[float, float]
    windows: int

    @property
    def beside(self) -> tuple[float, float]:
        """What each saves once the other one is faster."""
        return self.alone[0] + self.effect, self.alone[1] + self.effect

    @property
    def keys(self) -> tuple[ResultKey, ResultKey]:
        """What names the results of the two."""
        first, second = self.locations
        return (first, self.point, self.kind), (second, self.point, self.kind)


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
    #: Progress points without a macro: name, and what counted the visits.
    points: tuple[tuple[str, str], ...] = ()
    #: That took part (--tree).
    processes: int = 1


@dataclass(frozen=True)
class Analysis:
    """All results, in order of rank, with what they rest on."""

    results: tuple[LineResult, ...]
    runs: tuple[RunSummary, ...]
    warnings: tuple[Problem, ...]
    #: By progress point and kind; those that nothing is known of are missing.
    overheads: Mapping[PointKey, Overhead] = field(default_factory=dict)
    #: Where load was amplified: by progress point.
    scalability: tuple[Scalability, ...] = ()
    #: Those that were not selected, too; and the progress point that was, if any.
    all_results: tuple[LineResult, ...] = ()
    selected_point: str | None = None
    #: Of combined windows, the largest effect first.
    pairs: tuple[Pair, ...] = ()

    @property
    def experiments(self) -> int:
        """Windows in all runs, used or not."""
        return sum(run.experiments for run in self.runs)

    @property
    def shown_scalability(self) -> tuple[Scalability, ...]:
        """Of the progress point that was selected."""
        return tuple(each for each in self.scalability if self.selected_point in (None, each.point))

    @property
    def loads(self) -> dict[int, float]:
        """The load that each arrival speedup amounts to: the part of the time between arrivals taken away."""
        return {point.arrival_speedup: point.load for of in self.scalability for point in of.points}

    @property
    def counted_by(self) -> dict[str, str]:
        """What counted the visits of points without a macro, by the point's name."""
        return {name: by for run in self.runs for name, by in run.points}

    @property
    def real_time(self) -> int:
        """Real nanoseconds of all runs together."""
        return sum(run.real_time for run in self.runs)
