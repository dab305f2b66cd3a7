"""What can be compared. In each, less is better."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cozcli.compare.trial import Trial
from cozcli.messages import duration


class Metric(NamedTuple):
    """`name`: on the command line and in JSON; `noun`: for people; `value`: of a run; `text`: of a value."""

    name: str
    noun: str
    value: Callable[[Trial], float]
    text: Callable[[float], str]


def _seconds(value: float) -> str:
    return duration(1e9 * value)


def _bytes(value: float) -> str:
    return f"{value / 2**20:.3g} MiB"


METRICS = {
    metric.name: metric
    for metric in (
        Metric("cpu", "processor time", lambda trial: trial.cpu, _seconds),
        Metric("wall", "wall time", lambda trial: trial.wall, _seconds),
        Metric("memory", "peak memory", lambda trial: float(trial.memory), _bytes),
    )
}
