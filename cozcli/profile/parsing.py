"""From JSON objects of format version 1 to records.

Every parser raises `RecordError` for a value that no profiler can have written; the reader then leaves
that record out and says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from cozcli.profile.fields import MAX_NUMBER, Fields, RecordError
from cozcli.profile.records import (
    VERSION,
    ArrivalPoint,
    Arrivals,
    CallerCount,
    Companion,
    ExitRecord,
    ExperimentRecord,
    Flow,
    JobRecord,
    LatencyPoint,
    LineCount,
    LoadRecord,
    LocationPoint,
    LockCount,
    Point,
    PointCount,
    QueueWait,
    Record,
    ReferenceRecord,
    RunRecord,
    SamplesRecord,
    TargetRecord,
    ThreadFlow,
    ThreadShare,
    ThreadUse,
    ThroughputPoint,
)

#: Nanoseconds; the runtime's probe of the machine's speed takes less than one microsecond.
MAX_PROBE_TIME = 1e9
FORMAT = "coz-profile"
#: Of a latency point: one below 1024 ns, and 64 in each of 28 octaves above.
DURATION_BUCKETS = 1 + 28 * 64


def parse_record(values: Mapping[str, object]) -> Record | None:
    """Turn one JSON object of format version 1 into a record.

    Returns:
        The record, or None for a type that this version does not know.
    """
    fields = Fields(values)
    match values.get("type"):
        case "run":
            return _run(fields)
        case "target":
            return TargetRecord(
                fields.natural("number"),
                fields.text("kind", "line"),
                fields.text("location"),
                fields.text("function", ""),
            )
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
        case "job":
            return JobRecord(
                fields.natural("rank"),
                fields.natural("ranks", 0),
                fields.text("job", ""),
                fields.text("host", ""),
            )
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
        cores=fields.natural("cores", 0),
        scope=fields.texts("scope"),
        binaries=fields.texts("binaries"),
        end_to_end=fields.flag("end_to_end"),
        busy_pauses=fields.flag("busy_pauses"),
        fixed_speedup=check_speedup(fields.real("fixed_speedup", 1.0))
        if fields.has("fixed_speedup")
        else None,
        granularity=fields.text("granularity", "line"),
        fixed=fields.texts("fixed"),
        speedups=tuple(check_speedup(speedup) for speedup in fields.reals("speedups", 1.0)),
        points=tuple(
            LocationPoint(point.text("name"), point.text("kind", ""), point.text("by", ""))
            for point in fields.objects("points")
        ),
        arrival_speedup=fields.natural("arrival_speedup") if fields.has("arrival_speedup") else None,
        companion_dose=fields.real("companion_dose", 1.0) if fields.has("companion_dose") else 0.0,
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
        duration=fields.natural("duration", min(effective + delay, MAX_NUMBER)),
        effective_duration=effective,
        delay=delay,
        target_samples=fields.natural("hits", 0),
        samples=fields.natural("samples", 0),
        line_samples=fields.natural("line_samples") if fields.has("line_samples") else -1,
        run_time=fields.natural("run_time") if fields.has("run_time") else -1,
        line_samples_at_0=_optional(fields, "line_samples_at_0"),
        run_time_at_0=_optional(fields, "run_time_at_0"),
        probe_time=_probe_time(fields),
        processor_time=_optional(fields, "processor_time"),
        core_wait=_optional(fields, "core_wait"),
        threads=_thread_use(fields),
        machine_busy=_optional(fields, "machine_busy"),
        machine_stolen=_optional(fields, "machine_stolen"),
        flags=fields.texts("flags"),
        points=_points(fields),
        target=fields.text("kind", "line"),
        arrivals=_arrivals(fields),
        settling=_optional(fields, "settling"),
        flows=_flows(fields),
        flow_before=_flow_before(fields),
        companions=tuple(map(_companion, fields.rows("companions", 3))),
    )


def _companion(row: list[object]) -> Companion:
    """Without one of its companions a window would be one of unknown speedups, so all must be right.

    There may be a hundred in each window: they are checked here, without a call for each number.
    """
    number, speedup, samples = row
    if not (type(number) is int and type(samples) is int and type(speedup) in (int, float)):
        raise RecordError("'companions' holds something that is not a number")
    if not (0 <= number <= MAX_NUMBER and 0 <= samples <= MAX_NUMBER and 0 <= speedup <= 1):  # type: ignore[operator]
        raise RecordError("'companions' is out of range")
    return Companion(number, check_speedup(speedup), samples)  # type: ignore[arg-type]


def _flows(fields: Fields) -> tuple[Flow, ...]:
    """Of both halves; empty where they are missing or cannot be true: the window is good without them."""
    try:
        flows = tuple(map(_flow, fields.objects("flows")))
    except RecordError:
        return ()
    return flows if len(flows) == 2 else ()


def _flow_before(fields: Fields) -> Flow | None:
    try:
        return _flow(fields.record("flow_before")) if fields.has("flow_before") else None
    except RecordError:
        return None


def _flow(fields: Fields) -> Flow:
    return Flow(
        fields.positive("duration"),
        fields.natural("delay"),
        fields.counts("visits"),
        tuple(map(_thread_flow, fields.objects("threads"))),
    )


def _thread_flow(fields: Fields) -> ThreadFlow:
    waits = fields.numbers("waits", 3)
    return ThreadFlow(
        fields.natural("thread"),
        fields.natural("ran"),
        fields.natural("releases", 0),
        tuple(QueueWait(*wait) for wait in waits),
        _optional(fields, "hits"),
    )


def _reference(fields: Fields) -> ReferenceRecord:
    return ReferenceRecord(
        effective_duration=fields.positive("effective_duration"),
        block=fields.natural("block", 0),
        start=fields.natural("start", 0),
        sample_cost=fields.natural("sample_cost", 0),
        machine_busy=_optional(fields, "machine_busy"),
        machine_stolen=_optional(fields, "machine_stolen"),
        points=_points(fields),
        arrivals=_arrivals(fields),
    )


def _arrivals(fields: Fields) -> Arrivals | None:
    """None where load was not amplified. Without its counts a window would be one of unknown load."""
    if not fields.has("arrival_speedup"):
        return None
    counts = fields.counts("arrivals")
    names = ("count", "clipped", "charged", "intervals", "between")
    numbers = {name: counts.get(name, 0) for name in names}
    return Arrivals(fields.natural("arrival_speedup"), **numbers, computed=counts.get("computed", -1))


def _probe_time(fields: Fields) -> float:
    """0, unknown, where it is missing or cannot be true: the window is good without it."""
    try:
        return fields.real("probe_time", MAX_PROBE_TIME) if fields.has("probe_time") else 0.0
    except RecordError:
        return 0.0


def _thread_use(fields: Fields) -> ThreadUse | None:
    """None where it is missing or cannot be true: the window is good without it."""
    try:
        threads = fields.record("threads")
        return ThreadUse(threads.natural("waited"), _thread_shares(threads))
    except RecordError:
        return None


def _thread_shares(fields: Fields) -> tuple[ThreadShare, ...]:
    return tuple(ThreadShare(*row) for row in fields.numbers("each", 4)) if fields.has("each") else ()


def _optional(fields: Fields, key: str) -> int:
    """A number that the window is good without: -1 where it is missing or cannot be true."""
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
                _durations(fields),
            )
        case _:
            return None


def _durations(fields: Fields) -> tuple[tuple[int, int], ...]:
    """Empty where one of them cannot be true: the window is good without. There may be hundreds in each."""
    try:
        rows = fields.rows("durations", 2)
    except RecordError:
        return ()
    numbers = {type(value) for row in rows for value in row} <= {int}
    if not numbers or any(not (0 <= bucket < DURATION_BUCKETS and 0 < n < 2**32) for bucket, n in rows):  # type: ignore[operator]
        return ()
    return tuple((bucket, n) for bucket, n in rows)  # type: ignore[misc]


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
        in_kernel=fields.natural("in_kernel", 0),
        lines=tuple(
            LineCount(
                location=line.text("location"),
                function=line.text("function", ""),
                count=line.natural("count"),
                kind=line.text("kind", "line"),
            )
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
        locks=tuple(
            LockCount(
                lock.text("location"),
                lock.text("lock", ""),
                lock.text("holder", ""),
                lock.text("holder_function", ""),
                lock.natural("waits"),
                lock.natural("waited"),
                lock.natural("unnamed", 0),
            )
            for lock in fields.objects("locks")
        ),
        regions=fields.texts("regions"),
        points=tuple(
            PointCount(
                point.text("name"),
                point.text("kind"),
                point.natural("arrivals" if point.has("arrivals") else "visits"),
                point.natural("departures", 0),
                point.natural("lost", 0),
            )
            for point in fields.objects("points")
        ),
        experiments=fields.natural("experiments", 0),
        discarded=fields.counts("discarded"),
        threads=fields.natural("threads", 0),
        processes=fields.natural("processes", 1),
        processes_running=fields.natural("processes_running", 0),
        children_time=fields.natural("children_time", 0),
        arrivals=_arrivals(fields),
    )
