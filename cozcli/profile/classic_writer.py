"""Runs as profiles of the classic Coz, which its viewer and its `coz plot --text` read.

A window becomes one `experiment` for each of its progress points, with the effective time between that
point's first and last visit as duration: the readers take the period for duration/delta, and add both up by
line and point. So the period is exactly ours. A latency is difference·duration/arrivals. The run time is such
that the effective time of ours is left when the readers subtract delays, a sample's worth for each.

What the form cannot say is left out: functions of lines, reference windows, arrivals and load, the companions
of a window.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from cozcli.profile.classic import SAMPLE_PERIOD, delay_of
from cozcli.profile.profile import Run
from cozcli.profile.records import ExperimentRecord, LatencyPoint, ThroughputPoint


class ClassicWriter:
    """The lines of one file. `is_json`: JSON Lines, of version 0.2.5; else tabs, which all versions read."""

    def __init__(self, is_json: bool) -> None:
        self._is_json = is_json
        # With tabs, readers take whole numbers of operations in progress; what is cut off is carried to the
        # next window of the same line, speedup and point, so that their mean is right.
        self._carried: dict[tuple[str, float, str], float] = {}

    def lines(self, runs: Iterable[Run]) -> Iterator[str]:
        """Each with its newline."""
        for run in runs:
            yield self._line("startup", {"time": run.record.time})
            for experiment in _written(run):
                yield from self._experiment(experiment, _samples(run, experiment))
            if run.samples is not None:
                delays = sum(delay_of(_samples(run, each), each.speedup) for each in _written(run))
                yield self._line("runtime", {"time": run.samples.run_time + delays})
                for line in run.samples.lines:
                    yield self._line("samples", {"location": line.location, "count": line.count})

    def _experiment(self, experiment: ExperimentRecord, samples: int) -> Iterator[str]:
        for point in experiment.points:
            head: dict[str, str | float] = {
                "selected": experiment.location,
                "speedup": experiment.speedup,
                "duration": point.elapsed,
                "selected_samples": samples,
            }
            if isinstance(point, LatencyPoint):
                yield self._line("experiment", head)
                counts: dict[str, str | float] = {
                    "name": point.name,
                    "arrivals": point.arrivals,
                    "departures": point.departures,
                    "difference": self._difference(experiment, point),
                }
                yield self._line("latency-point", counts)
            elif isinstance(point, ThroughputPoint) and point.visits > 0:
                yield self._line("experiment", head)
                yield self._line("throughput-point", {"name": point.name, "delta": point.visits})

    def _difference(self, experiment: ExperimentRecord, point: LatencyPoint) -> float | int:
        if self._is_json:
            return round(point.in_progress, 6)
        key = experiment.location, experiment.speedup, point.name
        exact = point.in_progress + self._carried.get(key, 0.0)
        self._carried[key] = exact - round(exact)
        return round(exact)

    def _line(self, kind: str, values: Mapping[str, str | float]) -> str:
        if self._is_json:
            return json.dumps({"type": kind, **values}, separators=(",", ":"), ensure_ascii=False) + "\n"
        # Only the JSON form has underscores.
        fields = (f"{key.replace('_', '-')}={_text(key, value)}" for key, value in values.items())
        return "\t".join([kind, *fields]) + "\n"


def _written(run: Run) -> list[ExperimentRecord]:
    """The windows that are written: those with a target."""
    return [experiment for experiment in run.experiments if experiment.target != "none"]


def _samples(run: Run, experiment: ExperimentRecord) -> int:
    """The samples in the target, as if one had been taken each millisecond."""
    return round(experiment.target_samples * run.record.period / SAMPLE_PERIOD)


def _text(key: str, value: str | float) -> str:
    if key == "speedup":
        return f"{value:.4f}".rstrip("0") if round(float(value), 2) != value else f"{value:.2f}"
    return " ".join(str(value).split("\t")).replace("\n", " ")


def has_companions(runs: Iterable[Run]) -> bool:
    """Were other targets sped up besides, of which the classic form tells nothing?"""
    return any(experiment.companions for run in runs for experiment in run.experiments)
