"""What the other stages of a pipeline allow, however fast a target becomes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cozcli.analysis.check.stage_limits import stage_limits
from cozcli.analysis.input.windows import usable_windows
from cozcli.profile.profile import Run, collect_runs
from cozcli.profile.reader import ReadProblems, read_records

MS = 1_000_000
WINDOW = 1_200
ITEMS = 100
#: Processor time of a stage for an item, ms; the second sets the pace, of 12 ms with its waits for a core.
WORK = {1: 3, 2: 10, 3: 5}
#: Where each stage waits, and for whom.
WAITS = {1: (0x10, 2), 3: (0x20, 2)}


def flow(duration: int, hits: dict[int, int | None]) -> dict[str, Any]:
    items = ITEMS * duration // WINDOW
    threads = []
    for thread, work in WORK.items():
        told = {"thread": thread, "ran": work * items * MS, "releases": items}
        told["waits"] = [[*WAITS[thread], 200 * MS]] if thread in WAITS else []
        if hits.get(thread) is not None:
            told["hits"] = hits[thread]
        threads.append(told)
    return {"duration": duration * MS, "delay": 0, "visits": {"item": items}, "threads": threads}


def runs_of(target: str, hits: dict[int, int | None]) -> list[Run]:
    """Twenty windows, half of them baselines; `hits` by thread are those of half a window."""
    records: list[dict[str, Any]] = [
        {"type": "run", "format": "coz-profile", "version": 1, "period": MS, "program": "p"}
    ]
    for number in range(20):
        point = {"name": "item", "kind": "throughput", "visits": ITEMS, "elapsed": WINDOW * MS}
        records.append(
            {
                "type": "experiment", "block": number // 2, "location": target, "kind": "line",
                "speedup": 0.5 * (number % 2), "start": number * 2 * WINDOW * MS, "duration": WINDOW * MS,
                "effective_duration": WINDOW * MS, "delay": 0, "hits": 50, "samples": 100, "flags": [],
                "points": [point], "flows": [flow(WINDOW // 2, hits)] * 2, "flow_before": flow(WINDOW, {}),
            }
        )  # fmt: skip
    lines = [(json.dumps(record) + "\n").encode() for record in records]
    return collect_runs(read_records(lines, ReadProblems()), "x")


def limits_of(target: str, hits: dict[int, int | None]) -> dict[tuple[str, str], float]:
    runs = runs_of(target, hits)
    return stage_limits(runs, usable_windows(runs).by_target)


def test_a_stage_that_does_not_run_the_target_limits_its_effect() -> None:
    found = limits_of("/a.c:1", {1: 25, 2: 0, 3: 0})
    assert found == {("/a.c:1", "item"): pytest.approx(1 - 10 / 12)}


def test_the_stage_that_runs_the_target_is_no_limit() -> None:
    assert limits_of("/a.c:1", {1: 0, 2: 25, 3: 0})["/a.c:1", "item"] == pytest.approx(1 - 5 / 12)


def test_a_target_that_all_stages_run_has_no_limit() -> None:
    assert not limits_of("/a.c:1", {1: 9, 2: 8, 3: 8})


@pytest.mark.parametrize("hits", [{1: 1, 2: 0, 3: 0}, {1: None, 2: None, 3: None}])
def test_few_samples_and_profiles_without_them_tell_of_no_limit(hits: dict[int, int | None]) -> None:
    assert not limits_of("/a.c:1", hits)
