"""Profiles of the classic tool: `coz report --json` against a computation from the file itself, by hand.

Nothing of cozcli takes part in the computation: sums over lines of text, by the formula of the
dissertation. With p_s the time for a visit (or the latency by Little's law) under a virtual speedup s, the
effect is 1 − p_s / p_0, multiplied by the report's phase factor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

Sums = dict[tuple[str, str, str], dict[float, tuple[float, float]]]
#: Recorded by the classic tool, with how many points and kinds each has.
PROFILES = {"classic-0.2.2.tab": 2, "classic-0.2.5.jsonl": 2}


def fields(text: str) -> dict[str, Any]:
    """One record of either classic format; its kind is `type`."""
    if text.startswith("{"):
        record: dict[str, Any] = json.loads(text)
        return record
    kind, *rest = text.split("\t")
    found = dict(part.split("=", 1) for part in rest)
    return {**found, "type": kind}


def sums_of(path: Path) -> Sums:
    """By line, point and kind, and by speedup: Σ of time, and Σ of what came to pass in it."""
    sums: Sums = defaultdict(lambda: defaultdict(lambda: (0.0, 0.0)))
    window: dict[str, Any] = {}
    for text in path.read_text().splitlines():
        record = fields(text)
        if record["type"] == "experiment":
            window = record
        elif record["type"] in ("throughput-point", "progress-point", "latency-point"):
            duration = float(window["duration"])
            if record["type"] == "latency-point":
                kind = "latency"
                terms = (float(record["difference"]) * duration, float(record["arrivals"]))
            else:
                kind, terms = "throughput", (duration, float(record["delta"]))
            cells = sums[str(window["selected"]), str(record["name"]), kind]
            speedup = round(float(window["speedup"]), 4)
            total, count = cells[speedup]
            cells[speedup] = (total + terms[0], count + terms[1])
    return sums


@pytest.mark.parametrize("name", PROFILES)
def test_effects_are_those_of_an_independent_computation(golden: Path, name: str) -> None:
    path = golden / f"{name}.coz"
    done = subprocess.run(
        [sys.executable, "-m", "cozcli", "report", "--json", str(path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(part for part in sys.path if part)},
        capture_output=True,
        text=True,
        check=True,
    )
    report, sums = json.loads(done.stdout), sums_of(path)
    compared = 0
    for result in report["results"]:
        cells = sums[result["location"], result["point"], result["kind"]]
        base = cells[0.0][0] / cells[0.0][1]
        for point in result["curve"]:
            total, count = cells[round(point["speedup"], 4)]
            if point["speedup"] > 0 and count and total:
                expected = result["phase_factor"] * (1 - total / count / base)
                assert point["effect"] == pytest.approx(expected, rel=2e-5, abs=2e-6)
                compared += 1
    assert len({(result["point"], result["kind"]) for result in report["results"]}) == PROFILES[name]
    assert compared > 15
