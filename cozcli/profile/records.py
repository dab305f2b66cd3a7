"""The records of a profile (docs/profile_format.md), as typed values; parsing.py makes them of JSON.

Times are nanoseconds, speedups fractions. They are named tuples, since `coz run` reads its own profile and
must not wait for the import of dataclasses.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

VERSION = 1
#: The default of `--companions`: what companions may save together, as a part of the time.
DEFAULT_DOSE = 0.05
#: The default of `--period`, ns.
DEFAULT_PERIOD = 1_000_000


class ThroughputPoint(NamedTuple):
    """`visits` intervals between visits took `elapsed` of effective time together.

    `half_visits` and `half_elapsed` are the part in the first half of the window; 0 where it was not divided.
    """

    name: str
    visits: int
    elapsed: int
    half_visits: int = 0
    half_elapsed: int = 0


class LatencyPoint(NamedTuple):
    """Over `elapsed`, `in_progress` operations were open on average.

    `durations`: of operations with identities that ended, (bucket, how many).
    """

    name: str
    arrivals: int
    departures: int
    elapsed: int
    in_progress: float
    durations: tuple[tuple[int, int], ...] = ()


class ArrivalPoint(NamedTuple):
    """A COZ_ARRIVAL point: `visits` intervals between arrivals took `elapsed` of effective time together."""

    name: str
    visits: int
    elapsed: int


Point = ThroughputPoint | LatencyPoint | ArrivalPoint


class Arrivals(NamedTuple):
    """What became of arrivals where load is amplified; each was to be sped up by `speedup` ns.

    `charged`: ns by which all together were. `intervals` of them had one before them in their thread,
    `between` ns of effective time away in all, in which the threads had `computed` ns of processor time (-1:
    unknown).
    """

    speedup: int
    count: int = 0  # type: ignore[assignment]
    clipped: int = 0
    charged: int = 0
    intervals: int = 0
    between: int = 0
    computed: int = -1


class LocationPoint(NamedTuple):
    """A progress point that the command line asked for, and what counted its visits.

    `by` is "hardware", "breakpoint" or "samples"; "none" when nothing could.
    """

    name: str
    kind: str
    by: str


class RunRecord(NamedTuple):
    """The start of a run. `classic`: of the classic tool, of which only `time` is known.

    `fixed_speedup` is the only speedup besides 0 that was to be tried, if there was to be only one;
    `speedups` are those that were chosen, if some were. `fixed` has the locations that were chosen.
    `companion_dose`: limit of the companions' dose; 0 where windows have one target at a time.
    """

    program: str = ""
    arguments: tuple[str, ...] = ()
    coz: str = ""
    version: int = VERSION
    time: int = 0
    build_id: str = ""
    sampling: str = ""
    period: int = 0
    cores: int = 0
    scope: tuple[str, ...] = ()
    binaries: tuple[str, ...] = ()
    end_to_end: bool = False
    busy_pauses: bool = False
    classic: bool = False
    fixed_speedup: float | None = None
    granularity: str = "line"
    fixed: tuple[str, ...] = ()
    speedups: tuple[float, ...] = ()
    points: tuple[LocationPoint, ...] = ()
    arrival_speedup: int | None = None
    companion_dose: float = 0.0

    @property
    def planned_speedups(self) -> frozenset[float] | None:
        """The speedups above 0 that the run was to try; None if all of the ladder."""
        if self.fixed_speedup is not None:
            return frozenset({self.fixed_speedup} - {0.0})
        return frozenset(self.speedups) or None


class TargetRecord(NamedTuple):
    """What the number of a companion means within its run; `kind` as `target` of a window."""

    number: int
    kind: str
    location: str
    function: str = ""


class Companion(NamedTuple):
    """A target that was sped up besides the main one. `number`: of its `TargetRecord` in the same run."""

    number: int
    speedup: float
    target_samples: int


class QueueWait(NamedTuple):
    """How long a thread waited for `object` until the thread `waker` ended it; 0: unknown."""

    object: int
    waker: int
    waited: int


class ThreadFlow(NamedTuple):
    """What one thread did in a half of a window: processor time, pauses aside, releases, waits at queues.

    `releases`: of locks, and units of semaphores given. `target_samples`: JSON's `hits`; -1 where unknown.
    """

    thread: int
    ran: int
    releases: int = 0
    waits: tuple[QueueWait, ...] = ()
    target_samples: int = -1


class ThreadShare(NamedTuple):
    """What one thread did in a window, times in ns. `target_samples`: JSON's `hits`."""

    thread: int
    ran: int
    core_wait: int
    target_samples: int


class ThreadUse(NamedTuple):
    """Of threads that worked in a window. waited: ns for other threads of the program.

    each: empty where they wait for each other, or there is one.
    """

    waited: int
    each: tuple[ThreadShare, ...] = ()


class Flow(NamedTuple):
    """A half of a window of `duration`, of which `delay` was inserted. `visits`: to throughput points."""

    duration: int
    delay: int
    visits: Mapping[str, int] = MappingProxyType({})
    threads: tuple[ThreadFlow, ...] = ()


class ExperimentRecord(NamedTuple):
    """One measured window. `target` says what `location` names: line, function, callpath, region, or none.

    `target_samples`: JSON's `hits`. `companions`: those sped up; in a run with a `companion_dose` any other
    companion had speedup 0. `settling`: from the change of the speedup to the opening.
    `line_samples`, `run_time`, the same at speedup 0, `processor_time`, `core_wait`, `machine_busy`,
    `machine_stolen` and `settling` are -1, `probe_time` is 0, where unknown.
    """

    location: str
    speedup: float
    effective_duration: int
    function: str = ""
    block: int = 0
    start: int = 0
    duration: int = 0
    delay: int = 0
    target_samples: int = 0
    samples: int = 0
    line_samples: int = -1
    run_time: int = -1
    line_samples_at_0: int = -1
    run_time_at_0: int = -1
    probe_time: float = 0.0
    processor_time: int = -1
    core_wait: int = -1
    threads: ThreadUse | None = None
    machine_busy: int = -1
    machine_stolen: int = -1
    flags: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()
    target: str = "line"
    arrivals: Arrivals | None = None
    settling: int = -1
    flows: tuple[Flow, ...] = ()
    flow_before: Flow | None = None
    companions: tuple[Companion, ...] = ()

    @property
    def is_transient(self) -> bool:
        """Did it open before queues had reached steady state?"""
        return "transient" in self.flags

    @property
    def is_cut(self) -> bool:
        """Did it close before threads waited for each other again?"""
        return "cut" in self.flags


class ReferenceRecord(NamedTuple):
    """A window without speedup and samples. `sample_cost`: of a sample elsewhere, ns; 0 if unknown."""

    effective_duration: int
    block: int = 0
    start: int = 0
    sample_cost: int = 0
    machine_busy: int = -1
    machine_stolen: int = -1
    points: tuple[Point, ...] = ()
    arrivals: Arrivals | None = None


class LoadRecord(NamedTuple):
    """How often requests arrived (every `interval` ns in a thread), measured before load was amplified."""

    arrival_speedup: int
    interval: int
    rate: float


class LineCount(NamedTuple):
    """Samples in one line (or other target) since the start of the run; `kind` as `target` of a window."""

    location: str
    function: str
    count: int  # type: ignore[assignment]
    kind: str = "line"


class CallerCount(NamedTuple):
    """Samples in a line as part of one function and for one caller, which is empty where out of scope."""

    location: str
    function: str
    caller: str
    caller_function: str
    count: int  # type: ignore[assignment]


class LockCount(NamedTuple):
    """Waits for `lock` in the target `location`, while the line `holder` had it; ns of effective time.

    `lock` is the name of a static variable; empty if the lock is none. Then `unnamed` is its number within
    the record, or 0 for all that are not told apart. `holder` is empty where unknown.
    """

    location: str
    lock: str
    holder: str
    holder_function: str
    waits: int
    waited: int
    unnamed: int = 0


class PointCount(NamedTuple):
    """Visits (for latency points: arrivals; their `departures` beside them) since the start of the run.

    `lost`: operations with identities that could not be followed.
    """

    name: str
    kind: str
    visits: int
    departures: int = 0
    lost: int = 0


class SamplesRecord(NamedTuple):
    """Totals since the start of the run; `total` is -1 where the format does not say. `regions`: entered."""

    run_time: int
    duration: int = 0
    total: int = -1
    in_scope: int = 0
    in_kernel: int = 0
    lines: tuple[LineCount, ...] = ()
    callers: tuple[CallerCount, ...] = ()
    locks: tuple[LockCount, ...] = ()
    regions: tuple[str, ...] = ()
    points: tuple[PointCount, ...] = ()
    experiments: int = 0
    discarded: Mapping[str, int] = MappingProxyType({})
    threads: int = 0
    #: Of --tree: that took part, and others that still ran.
    processes: int = 1
    processes_running: int = 0
    #: Processor time of children that were not profiled, ns.
    children_time: int = 0
    arrivals: Arrivals | None = None


class JobRecord(NamedTuple):
    """Which rank of a parallel job the run was, of how many (0: unknown), in which job, and where."""

    rank: int
    ranks: int = 0
    job: str = ""
    host: str = ""


class ExitRecord(NamedTuple):
    """How the program ended: by `status`, or by `signal` (else -1)."""

    status: int = -1
    signal: int = -1


Record = (
    RunRecord
    | TargetRecord
    | ExperimentRecord
    | ReferenceRecord
    | LoadRecord
    | SamplesRecord
    | JobRecord
    | ExitRecord
)
