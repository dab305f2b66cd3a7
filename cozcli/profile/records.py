"""The records of a profile (docs/profile_format.md), as typed values, and how JSON becomes them.

Times are nanoseconds, speedups fractions. Every parser raises `RecordError` for a value that no
profiler can have written; the reader then leaves that record out and says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

#: 292 years of nanoseconds: no honest time or count is larger (an unsigned underflow is).
LARGEST = 2**63 - 1
#: Nanoseconds; the runtime's probe of the machine's speed takes less than one microsecond.
LONGEST_PROBE = 1e9
FORMAT = "coz-profile"
VERSION = 1


class RecordError(ValueError):
    """A record of a known type whose contents cannot be true."""


@dataclass(frozen=True, slots=True)
class ThroughputPoint:
    """`visits` intervals between visits took `elapsed` of effective time together.

    `half_visits` and `half_elapsed` are the part in the first half of the window; 0 where it was not divided.
    """

    name: str
    visits: int
    elapsed: int
    half_visits: int = 0
    half_elapsed: int = 0


@dataclass(frozen=True, slots=True)
class LatencyPoint:
    """Over `elapsed`, `in_progress` transactions were open on average."""

    name: str
    arrivals: int
    departures: int
    elapsed: int
    in_progress: float


@dataclass(frozen=True, slots=True)
class ArrivalPoint:
    """A COZ_ARRIVAL point: `visits` intervals between arrivals took `elapsed` of effective time together."""

    name: str
    visits: int
    elapsed: int


Point = ThroughputPoint | LatencyPoint | ArrivalPoint


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What became of arrivals where load is amplified; each was to be sped up by `speedup` ns.

    `charged`: ns by which all together were. `intervals` of them had one before them in their thread,
    `between`
    ns of effective time away in all.
    """

    speedup: int
    count: int = 0
    clipped: int = 0
    charged: int = 0
    intervals: int = 0
    between: int = 0


@dataclass(frozen=True, slots=True)
class PlacedPoint:
    """A progress point that the command line asked for, and what counted its visits.

    `by` is "hardware", "jump", "breakpoint" or "samples"; "none" when nothing could.
    """

    name: str
    kind: str
    by: str


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The start of a run. `classic` marks runs of the classic tool, of which only `time` is known.

    `fixed_speedup` is the only speedup besides 0 that was to be tried, if there was to be only one;
    `speedups` are those that were chosen, if some were. `fixed` has the locations that were chosen.
    """

    program: str = ""
    arguments: tuple[str, ...] = ()
    coz: str = ""
    version: int = VERSION
    time: int = 0
    build_id: str = ""
    sampling: str = ""
    period: int = 0
    seed: int = 0
    cores: int = 0
    scope: tuple[str, ...] = ()
    end_to_end: bool = False
    classic: bool = False
    fixed_speedup: float | None = None
    granularity: str = "line"
    fixed: tuple[str, ...] = ()
    speedups: tuple[float, ...] = ()
    points: tuple[PlacedPoint, ...] = ()
    arrival_speedup: int | None = None

    @property
    def planned_speedups(self) -> frozenset[float] | None:
        """The speedups above 0 that the run was to try; None if all of the ladder."""
        if self.fixed_speedup is not None:
            return frozenset({self.fixed_speedup} - {0.0})
        return frozenset(self.speedups) or None


@dataclass(frozen=True, slots=True)
class ExperimentRecord:
    """One measured window. `target` says what `location` names: line, function, callpath, region, or none.

    `line_samples`, `run_time`, `processor_time` and `core_wait` are -1, `probe_time` is 0, where unknown.
    """

    location: str
    speedup: float
    effective_duration: int
    function: str = ""
    block: int = 0
    start: int = 0
    duration: int = 0
    delay: int = 0
    hits: int = 0
    samples: int = 0
    line_samples: int = -1
    run_time: int = -1
    probe_time: float = 0.0
    processor_time: int = -1
    core_wait: int = -1
    flags: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()
    target: str = "line"
    arrivals: Arrivals | None = None


@dataclass(frozen=True, slots=True)
class ReferenceRecord:
    """A window without speedup and samples. `sample_cost`: of a sample elsewhere, ns; 0 if unknown."""

    effective_duration: int
    block: int = 0
    start: int = 0
    sample_cost: int = 0
    points: tuple[Point, ...] = ()
    arrivals: Arrivals | None = None


@dataclass(frozen=True, slots=True)
class LoadRecord:
    """How often requests arrived (every `interval` ns in a thread), measured before load was amplified."""

    arrival_speedup: int
    interval: int
    rate: float


@dataclass(frozen=True, slots=True)
class LineCount:
    """Samples in one line (or other target) since the start of the run."""

    location: str
    function: str
    count: int


@dataclass(frozen=True, slots=True)
class CallerCount:
    """Samples in a line as part of one function and for one caller, which is empty where out of scope."""

    location: str
    function: str
    caller: str
    caller_function: str
    count: int


@dataclass(frozen=True, slots=True)
class PointCount:
    """Visits (for latency points: arrivals) since the start of the run."""

    name: str
    kind: str
    visits: int


@dataclass(frozen=True, slots=True)
class SamplesRecord:
    """Totals since the start of the run; `total` is -1 where the format does not say. `regions`: entered."""

    run_time: int
    duration: int = 0
    total: int = -1
    in_scope: int = 0
    lines: tuple[LineCount, ...] = ()
    callers: tuple[CallerCount, ...] = ()
    regions: tuple[str, ...] = ()
    points: tuple[PointCount, ...] = ()
    experiments: int = 0
    discarded: Mapping[str, int] = field(default_factory=dict)
    threads: int = 0
    final: bool = False
    arrivals: Arrivals | None = None


@dataclass(frozen=True, slots=True)
class ExitRecord:
    """How the program ended: by `status`, or by `signal` (else -1)."""

    status: int = -1
    signal: int = -1


Record = RunRecord | ExperimentRecord | ReferenceRecord | LoadRecord | SamplesRecord | ExitRecord


class Fields:
    """Checked access to the fields of one JSON object. Every method raises `RecordError`."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def has(self, key: str) -> bool:
        """Is the field there at all?"""
        return key in self._values

    def natural(self, key: str, default: int | None = None) -> int:
        """An integer from 0 to `LARGEST`; floats without a fraction are taken as integers."""
        value = self._get(key, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise RecordError(f"{key!r} is not a whole number")
        if not 0 <= value <= LARGEST:
            raise RecordError(f"{key!r} is out of range")
        return value

    def positive(self, key: str) -> int:
        """An integer from 1 to `LARGEST`."""
        value = self.natural(key)
        if value == 0:
            raise RecordError(f"{key!r} is zero")
        return value

    def real(self, key: str, largest: float) -> float:
        """A finite number from 0 to `largest`."""
        value = self._get(key, None)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise RecordError(f"{key!r} is not a number")
        if not 0 <= value <= largest or not math.isfinite(value):
            raise RecordError(f"{key!r} is out of range")
        return float(value)

    def text(self, key: str, default: str | None = None) -> str:
        """A string; must not be empty if it has no default."""
        value = self._get(key, default)
        if not isinstance(value, str):
            raise RecordError(f"{key!r} is not a string")
        if default is None and not value:
            raise RecordError(f"{key!r} is empty")
        return value

    def flag(self, key: str) -> bool:
        """True or false; false if absent."""
        return self._get(key, False) is True

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; empty if absent."""
        return tuple(item for item in self._list(key) if isinstance(item, str))

    def reals(self, key: str, largest: float) -> list[float]:
        """A list of finite numbers from 0 to `largest`; empty if absent."""
        return [Fields({key: item}).real(key, largest) for item in self._list(key)]

    def objects(self, key: str) -> list[Fields]:
        """A list of objects; empty if absent."""
        found = []
        for item in self._list(key):
            if not isinstance(item, dict):
                raise RecordError(f"{key!r} holds something that is not an object")
            found.append(Fields(item))
        return found

    def counts(self, key: str) -> dict[str, int]:
        """An object of non-negative integers; empty if absent."""
        value = self._get(key, {})
        if not isinstance(value, dict):
            raise RecordError(f"{key!r} is not an object")
        return {name: Fields(value).natural(name) for name in value}

    def _list(self, key: str) -> list[object]:
        value = self._get(key, [])
        if not isinstance(value, list):
            raise RecordError(f"{key!r} is not a list")
        return value

    def _get(self, key: str, default: object) -> object:
        value = self._values.get(key, default)
        if value is None:
            if default is None:
                raise RecordError(f"{key!r} is missing")
            return default
        return value


def parse_record(values: Mapping[str, object]) -> Record | None:
    """Turn one JSON object of format version 1 into a record.

    Returns:
        The record, or None for a type that this version does not know.
    """
    fields = Fields(values)
    match values.get("type"):
        case "run":
            return _run(fields)
        case "experiment":
            return _experiment(fields)
        case "reference":
            return _reference(fields)
        case "load":
            return LoadRecord(
                fields.natural("arrival_speedup"), fields.natural("interval"), fields.real("rate", 1e12)
            )
        case "samples":
            return _samples(fields)
        case "exit":
            return (
                ExitRecord(fields.natural("status", 0), fields.natural("signal"))
                if fields.has("signal")
                else ExitRecord(status=fields.natural("status"))
            )
        case _:
            return None


def _run(fields: Fields) -> RunRecord:
    if fields.text("format", FORMAT) != FORMAT:
        raise RecordError(f"'format' is not {FORMAT}")
    return RunRecord(
        program=fields.text("program", ""),
        arguments=fields.texts("arguments"),
        coz=fields.text("coz", ""),
        version=fields.natural("version", VERSION),
        time=fields.natural("time", 0),
        build_id=fields.text("build_id", ""),
        sampling=fields.text("sampling", ""),
        period=fields.natural("period", 0),
        # A seed uses all 64 bits and takes no part in any estimate.
        seed=0,
        cores=fields.natural("cores", 0),
        scope=fields.texts("scope"),
        end_to_end=fields.flag("end_to_end"),
        fixed_speedup=check_speedup(fields.real("fixed_speedup", 1.0))
        if fields.has("fixed_speedup")
        else None,
        granularity=fields.text("granularity", "line"),
        fixed=fields.texts("fixed"),
        speedups=tuple(check_speedup(speedup) for speedup in fields.reals("speedups", 1.0)),
        points=tuple(
            PlacedPoint(point.text("name"), point.text("kind", ""), point.text("by", ""))
            for point in fields.objects("points")
        ),
        arrival_speedup=fields.natural("arrival_speedup") if fields.has("arrival_speedup") else None,
    )


def _experiment(fields: Fields) -> ExperimentRecord:
    effective = fields.positive("effective_duration")
    delay = fields.natural("delay", 0)
    return ExperimentRecord(
        location=fields.text("location"),
        function=fields.text("function", ""),
        speedup=check_speedup(fields.real("speedup", 1.0)),
        block=fields.natural("block", 0),
        start=fields.natural("start", 0),
        duration=fields.natural("duration", min(effective + delay, LARGEST)),
        effective_duration=effective,
        delay=delay,
        hits=fields.natural("hits", 0),
        samples=fields.natural("samples", 0),
        line_samples=fields.natural("line_samples") if fields.has("line_samples") else -1,
        run_time=fields.natural("run_time") if fields.has("run_time") else -1,
        probe_time=_probe_time(fields),
        processor_time=_optional(fields, "processor_time"),
        core_wait=_optional(fields, "core_wait"),
        flags=fields.texts("flags"),
        points=_points(fields),
        target=fields.text("kind", "line"),
        arrivals=_arrivals(fields),
    )


def _reference(fields: Fields) -> ReferenceRecord:
    return ReferenceRecord(
        effective_duration=fields.positive("effective_duration"),
        block=fields.natural("block", 0),
        start=fields.natural("start", 0),
        sample_cost=fields.natural("sample_cost", 0),
        points=_points(fields),
        arrivals=_arrivals(fields),
    )


def _arrivals(fields: Fields) -> Arrivals | None:
    """None where load was not amplified. Without its counts a window would be one of unknown load."""
    if not fields.has("arrival_speedup"):
        return None
    counts = fields.counts("arrivals")
    names = ("count", "clipped", "charged", "intervals", "between")
    return Arrivals(fields.natural("arrival_speedup"), *(counts.get(name, 0) for name in names))


def _probe_time(fields: Fields) -> float:
    """0, unknown, where it is missing or cannot be true: the window is good without it."""
    try:
        return fields.real("probe_time", LONGEST_PROBE) if fields.has("probe_time") else 0.0
    except RecordError:
        return 0.0


def _optional(fields: Fields, key: str) -> int:
    """A time that the window is good without: -1 where it is missing or cannot be true."""
    try:
        return fields.natural(key) if fields.has(key) else -1
    except RecordError:
        return -1


def check_speedup(value: float) -> float:
    """Round a speedup to 0.01 %, so that equal amounts compare equal whoever printed them."""
    return round(value, 4)


def _points(fields: Fields) -> tuple[Point, ...]:
    return tuple(p for p in map(_point, fields.objects("points")) if p is not None)


def _point(fields: Fields) -> Point | None:
    name = fields.text("name")
    match fields.text("kind"):
        case "throughput":
            return _throughput(name, fields)
        case "arrival":
            return ArrivalPoint(name, fields.natural("visits"), fields.positive("elapsed"))
        case "latency":
            return LatencyPoint(
                name,
                fields.natural("arrivals"),
                fields.natural("departures", 0),
                fields.positive("elapsed"),
                fields.real("in_progress", 1e12),
            )
        case _:
            return None


def _throughput(name: str, fields: Fields) -> ThroughputPoint:
    visits, elapsed = fields.natural("visits"), fields.positive("elapsed")
    halves = _optional(fields, "half_visits"), _optional(fields, "half_elapsed")
    if 0 < halves[0] < visits and 0 < halves[1] < elapsed:
        return ThroughputPoint(name, visits, elapsed, *halves)
    return ThroughputPoint(name, visits, elapsed)


def _samples(fields: Fields) -> SamplesRecord:
    return SamplesRecord(
        run_time=fields.natural("run_time"),
        duration=fields.natural("duration", 0),
        total=fields.natural("total"),
        in_scope=fields.natural("in_scope", 0),
        lines=tuple(
            LineCount(line.text("location"), line.text("function", ""), line.natural("count"))
            for line in fields.objects("lines")
        ),
        callers=tuple(
            CallerCount(
                caller.text("location"),
                caller.text("function", ""),
                caller.text("caller", ""),
                caller.text("caller_function", ""),
                caller.natural("count"),
            )
            for caller in fields.objects("callers")
        ),
        regions=fields.texts("regions"),
        points=tuple(
            PointCount(
                point.text("name"),
                point.text("kind"),
                point.natural("arrivals" if point.has("arrivals") else "visits"),
            )
            for point in fields.objects("points")
        ),
        experiments=fields.natural("experiments", 0),
        discarded=fields.counts("discarded"),
        threads=fields.natural("threads", 0),
        final=fields.flag("final"),
    )
