"""Marks of targets without windows of their own: what holds for the point as a whole, or for the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from combined_evidence import analyse_records
from combined_profiles import Measurement, Program

from cozcli.analysis.result import DOUBTS, LATENCY, THROUGHPUT, Mark

Records = list[dict[str, Any]]
PERIOD = 2_000_000


def windows(records: Records) -> Records:
    return [record for record in records if record["type"] == "experiment"]


def profile() -> tuple[Program, Records]:
    """Two threads of two lines each that are main targets, and one line that only is a companion."""
    program = Program("join", 5)
    program.work = np.array([0.4, 0.4, 0.4, 0.4, 0.02])
    program.work /= 0.84
    records = Measurement(dose=0.1, noise=0.01).records(program, 400)
    companion = program.location(4)
    return program, [r for r in records if r["type"] != "experiment" or r["location"] != companion]


def paced(records: Records) -> None:
    """Visits come at one pace per real second, whatever is delayed."""
    for window in windows(records):
        visits, effective = window["duration"] // PERIOD, window["effective_duration"]
        window["points"][0] |= {
            "visits": visits,
            "elapsed": visits * PERIOD * effective // window["duration"],
        }
        window |= {"processor_time": int(1.8 * window["duration"]), "core_wait": 0}


def idle_at_a_pace(records: Records) -> None:
    """Two lines alone could be one path, but processors rest."""
    records[:] = [r for r in records if r.get("location", "").rpartition(":")[2] not in ("3", "4")]
    paced(records)
    for window in windows(records):
        window["processor_time"] = int(0.6 * window["duration"])


def short_of_cores(records: Records) -> None:
    for window in windows(records):
        window |= {"processor_time": 2 * window["duration"], "core_wait": window["duration"]}


def growing(records: Records, when: Callable[[dict[str, Any]], bool]) -> None:
    """Requests arrive that never depart."""
    for window in windows(records):
        point = window["points"][0]
        arrivals, elapsed = 10 * point["visits"], point["elapsed"]
        left = arrivals // 10 if when(window) else 0
        window["points"] = [
            {"name": "request", "kind": "latency", "arrivals": arrivals, "departures": arrivals - left}
            | {"elapsed": elapsed, "in_progress": 2e7 * arrivals / elapsed}
        ]


def always_growing(records: Records) -> None:
    growing(records, lambda window: True)


def growing_at_speedups(records: Records) -> None:
    growing(records, lambda window: window["speedup"] > 0)


@pytest.mark.parametrize(
    ("change", "kind", "of_main", "of_companion"),
    [
        (lambda records: None, THROUGHPUT, set(), set()),
        (paced, THROUGHPUT, {Mark.LOAD}, {Mark.LOAD}),
        (idle_at_a_pace, THROUGHPUT, {Mark.MAYBE_LOAD}, {Mark.MAYBE_LOAD}),
        (short_of_cores, THROUGHPUT, {Mark.CORES}, {Mark.CORES}),
        (always_growing, LATENCY, {Mark.UNSTABLE}, {Mark.UNSTABLE}),
        (growing_at_speedups, LATENCY, {Mark.UNSTABLE}, set()),
    ],
)
def test_what_holds_whatever_is_sped_up_holds_for_companions(
    change: Callable[[Records], None], kind: str, of_main: set[Mark], of_companion: set[Mark]
) -> None:
    program, records = profile()
    change(records)
    found = {r.location: set(r.marks) & {*DOUBTS} for r in analyse_records(records).results if r.kind == kind}
    assert found[program.location(0)] == of_main
    assert found[program.location(4)] == of_companion
