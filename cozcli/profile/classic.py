"""Profiles of the classic Coz: tab-separated (to 0.2.2) and JSON Lines (0.2.5), as our records.

The first ones, of 2014 and 2015, call a throughput point `progress-point`, and end with `shutdown`. Some
builds of 0.2.5 write the types with underscores: `throughput_point`, `latency_point`.

What they say and what they leave out, seen in real files:

* an `experiment` is followed by one line per progress point, and has its *effective* duration;
* `runtime` stands before a group of cumulative `samples` lines. Only the one written as the program
  ends holds the run's length, and in real time; those in between hold the length of one window;
* a latency point has the number in progress at one instant instead of an average.

Ours (classic_writer.py) have an `experiment` for each point of a window, with a duration of its own. Those
that follow each other, agree in all else, and name different points are one window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cozcli.profile.fields import MAX_NUMBER, Fields, RecordError
from cozcli.profile.parsing import check_speedup
from cozcli.profile.records import (
    ExperimentRecord,
    LatencyPoint,
    LineCount,
    Point,
    Record,
    RunRecord,
    SamplesRecord,
    ThroughputPoint,
)

#: The classic tool's sampling period, which it does not record and no option changes.
SAMPLE_PERIOD = 1_000_000

_NUMBERS = {"time", "speedup", "duration", "selected_samples", "delta", "count"} | {
    "arrivals",
    "departures",
    "difference",
}
_THROUGHPUT = ("throughput-point", "progress-point")
_POINTS = (*_THROUGHPUT, "latency-point")
_TYPES = {"startup", "experiment", *_POINTS, "runtime", "samples", "shutdown"}


def delay_of(samples: int, speedup: float) -> int:
    """What a window's other threads were delayed, ns: a part of the period for each sample in the target."""
    return round(samples * speedup * SAMPLE_PERIOD)


def is_classic(values: Mapping[str, object]) -> bool:
    """Is this JSON object a record of the classic tool (and not one of ours with the same type)?"""
    match _type_of(values):
        case "startup" | "throughput-point" | "latency-point" | "runtime" | "shutdown":
            return True
        case "progress-point":
            return "delta" in values
        case "experiment":
            return "selected" in values
        case "samples":
            return "location" in values
        case _:
            return False


def _type_of(values: Mapping[str, object]) -> str:
    """The type of a record, with hyphens whichever way it is written."""
    return str(values.get("type", "")).replace("_", "-")


def parse_tab_line(line: str) -> dict[str, object] | None:
    """Split `type<TAB>key=value…` into the object that the JSON form would hold.

    Returns:
        None if the line is not a tab-separated classic record.
    """
    kind, *pairs = line.split("\t")
    if kind.replace("_", "-") not in _TYPES:
        return None
    values: dict[str, object] = {"type": kind}
    for pair in pairs:
        key, separator, text = pair.partition("=")
        if not separator:
            return None
        key = key.replace("-", "_")
        if key == "type":
            continue  # what a point of 2014 was found by: "source"
        values[key] = _number(text) if key in _NUMBERS else text
    return values


def _number(text: str) -> object:
    # Python would also take "1_000"; a profiler never writes that.
    if "_" in text or len(text) > 40:
        return text
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


class ClassicAssembler:
    """Puts the lines of classic records together; one per file.

    `feed` takes objects in the order of the file and yields the records that are complete by then;
    `finish` yields the last one. Raises `RecordError`, after which feeding may go on; where an `experiment`
    is lost, `finish` comes first.
    """

    def __init__(self) -> None:
        self._experiment: ExperimentRecord | None = None
        self._points: list[Point] = []
        # An experiment that is the same window if its point is another one; its point has not come yet.
        self._again: ExperimentRecord | None = None
        self._lines: list[LineCount] | None = None
        self._run_time = 0
        self._duration = 0
        self._measured = 0
        self._delays = 0

    def feed(self, values: Mapping[str, object]) -> Iterator[Record]:
        """Take one object."""
        fields = Fields(values)
        match _type_of(values):
            case kind if kind in _POINTS:
                point = self._point(kind, fields)
                if self._again is not None and any(_is_same(point, each) for each in self._points):
                    again, self._again = self._again, None
                    yield from self.finish()
                    self._begin(again)
                self._points.append(point)
            case "samples":
                line = LineCount(fields.text("location"), "", fields.natural("count"))
                if self._lines is not None:
                    self._lines.append(line)
            case "experiment":
                experiment = self._experiment_of(fields)
                if (
                    self._experiment is not None
                    and self._points
                    and _is_same_window(self._experiment, experiment)
                ):
                    self._again = experiment
                else:
                    yield from self.finish()
                    self._begin(experiment)
            case "runtime":
                yield from self.finish()
                time = fields.natural("time")
                # Effective time: less the delays, which are one sample's worth for each hit; and
                # never less than what was measured, for the records in mid-run (see above).
                self._run_time = max(time - self._delays, self._measured)
                self._duration = max(time, self._measured)
                self._lines = []
            case "shutdown":
                yield from self.finish()
            case _:
                yield from self.finish()
                self._measured = self._delays = 0
                yield RunRecord(time=fields.natural("time", 0), classic=True, period=SAMPLE_PERIOD)

    def finish(self) -> Iterator[Record]:
        """The experiment or group of sample counts that was being read."""
        if self._experiment is not None:
            unfinished, points = self._experiment, tuple(self._points)
            self._experiment, self._points, self._again = None, [], None
            yield ExperimentRecord(
                location=unfinished.location,
                speedup=unfinished.speedup,
                effective_duration=unfinished.effective_duration,
                duration=unfinished.duration,
                delay=unfinished.delay,
                target_samples=unfinished.target_samples,
                run_time=self._measured,
                points=points,
            )
        if self._lines is not None:
            lines, self._lines = tuple(self._lines), None
            in_scope = sum(line.count for line in lines)
            yield SamplesRecord(self._run_time, self._duration, in_scope=in_scope, lines=lines)

    def _begin(self, experiment: ExperimentRecord) -> None:
        self._experiment = experiment
        self._measured += experiment.effective_duration
        self._delays += experiment.delay

    @staticmethod
    def _experiment_of(fields: Fields) -> ExperimentRecord:
        duration = fields.positive("duration")
        speedup = check_speedup(fields.real("speedup", 1.0))
        target_samples = fields.natural("selected_samples", 0)
        delay = min(delay_of(target_samples, speedup), MAX_NUMBER)
        return ExperimentRecord(
            location=fields.text("selected"),
            speedup=speedup,
            effective_duration=duration,
            duration=duration + delay,
            delay=delay,
            target_samples=target_samples,
        )

    def _point(self, kind: str, fields: Fields) -> Point:
        name = fields.text("name")
        experiment = self._again or self._experiment
        if experiment is None:
            raise RecordError("a progress point that belongs to no experiment")
        elapsed = experiment.effective_duration
        if kind in _THROUGHPUT:
            return ThroughputPoint(name, fields.natural("delta"), elapsed)
        return LatencyPoint(
            name,
            fields.natural("arrivals"),
            fields.natural("departures"),
            elapsed,
            # The writers count in whole items or millionths; ratios to anything smaller overflow.
            round(fields.real("difference", 1e12), 6),
        )


def _is_same(one: Point, other: Point) -> bool:
    return type(one) is type(other) and one.name == other.name


def _is_same_window(one: ExperimentRecord, other: ExperimentRecord) -> bool:
    return (
        one.location == other.location
        and one.speedup == other.speedup
        and one.target_samples == other.target_samples
    )
