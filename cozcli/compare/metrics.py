"""What can be compared, and which instruments it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from cozcli.compare.counters import EVENTS, Counters, check_events
from cozcli.compare.instrument import Instrument
from cozcli.compare.points import LATENCY, PROGRESS, PointVisits
from cozcli.compare.trial import Trial
from cozcli.launch.runtime_library import find_installation
from cozcli.messages import duration, printable


class Metric(NamedTuple):
    """`name`: on the command line and in JSON; `noun`: for people; `value`: of a run; `text`: of a value.

    more_is_better: of rates. is_taken: a program takes so much of it; otherwise it is so high. is_speed: it
    says that a program is fast, and not only that it takes less.
    """

    name: str
    noun: str
    value: Callable[[Trial], float]
    text: Callable[[float], str]
    more_is_better: bool = False
    is_taken: bool = True
    is_speed: bool = True


def _seconds(value: float) -> str:
    return duration(1e9 * value)


def _bytes(value: float) -> str:
    return f"{value / 2**20:.3g} MiB"


def _count(value: float) -> str:
    return f"{value:.4g}"


def _rate(value: float) -> str:
    return f"{value:.4g}/s"


METRICS = {
    metric.name: metric
    for metric in (
        Metric("cpu", "processor time", lambda trial: trial.cpu, _seconds),
        Metric("wall", "wall time", lambda trial: trial.wall, _seconds),
        Metric("memory", "peak memory", lambda trial: float(trial.memory), _bytes, is_speed=False),
    )
}


@cache
def metric_named(name: str) -> Metric:
    """One that options.py allows."""
    kind, _, pattern = name.partition(":")
    if kind == PROGRESS:
        noun = f"rate of {printable(pattern)}"
        return Metric(
            name,
            noun,
            lambda trial: trial.figures[name] / trial.wall,
            _rate,
            more_is_better=True,
            is_taken=False,
        )
    if kind == LATENCY:
        noun = f"mean latency of {printable(pattern)}"
        return Metric(name, noun, lambda trial: trial.figures[name], _seconds, is_taken=False)
    if name in EVENTS:
        noun = f"number of {name.replace('-', ' ')}"
        return Metric(name, noun, lambda trial: trial.figures[name], _count, is_taken=False, is_speed=False)
    return METRICS[name]


def instruments_of(metrics: Sequence[Metric]) -> list[Instrument]:
    """What has to be attached to runs for these.

    Raises:
        CozError: something is not there, or cannot be counted here.
    """
    events = [EVENTS[metric.name] for metric in metrics if metric.name in EVENTS]
    check_events(events)
    found: list[Instrument] = [Counters(events)] if events else []
    points = [
        (kind, pattern)
        for kind, _, pattern in (metric.name.partition(":") for metric in metrics)
        if kind in (PROGRESS, LATENCY)
    ]
    if points:
        found.append(PointVisits(find_installation().library, points))
    return found
