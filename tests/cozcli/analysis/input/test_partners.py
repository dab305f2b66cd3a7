"""Windows with a partner say nothing of the main target alone, nor of the program without speedups."""

from __future__ import annotations

import pytest

from cozcli.analysis.check.capacity import capacity_of
from cozcli.analysis.check.coupling import Coupling
from cozcli.analysis.check.stage_limits import stage_limits
from cozcli.analysis.input.partners import records_without_partner
from cozcli.analysis.input.windows import usable_windows
from cozcli.profile.profile import Run
from cozcli.profile.records import (
    Companion,
    ExperimentRecord,
    Flow,
    QueueWait,
    RunRecord,
    TargetRecord,
    ThreadFlow,
    ThroughputPoint,
)

MS = 1_000_000
WINDOW = 1000
#: Other targets: the first runs half of the time, the second a hundredth.
LARGE, SMALL = 0, 1


def window(
    speedup: float, samples: int, visits: int, *companions: Companion, processor_time: int = 1600
) -> ExperimentRecord:
    threads = (
        ThreadFlow(1, 100 * MS, 50, (QueueWait(0x10, 2, 300 * MS),), samples // 2),
        ThreadFlow(2, 400 * MS, 50, (), 0),
    )
    flow = Flow(WINDOW * MS // 2, 0, {"item": 50}, threads)
    return ExperimentRecord(
        "/a.c:1",
        speedup,
        WINDOW * MS,
        duration=WINDOW * MS,
        target_samples=samples,
        processor_time=processor_time * MS,
        core_wait=0,
        points=(ThroughputPoint("item", visits, WINDOW * MS),),
        companions=companions,
        flows=(flow, flow),
        flow_before=flow,
    )


def run_of(*windows: ExperimentRecord) -> list[Run]:
    run = Run(RunRecord(period=MS, cores=2), "x", experiments=windows)
    names = {LARGE: "/b.c:1", SMALL: "/b.c:2"}
    run.targets = {number: TargetRecord(number, "line", location) for number, location in names.items()}
    return [run]


ALONE = [*[window(0.0, 400, 100)] * 8, *[window(0.75, 200, 50)] * 8]
BESIDE_A_COMPANION = [window(0.0, 400, 100, Companion(SMALL, 0.25, 10))] * 4
BESIDE_A_PARTNER = [
    *[window(0.0, 400, 300, Companion(LARGE, 0.5, 500), processor_time=400)] * 8,
    *[window(0.75, 500, 50, Companion(LARGE, 0.5, 500), processor_time=400)] * 20,
]


def test_windows_with_a_companion_stay() -> None:
    runs = run_of(*ALONE, *BESIDE_A_COMPANION, *BESIDE_A_PARTNER)
    assert [record for _, record in records_without_partner(runs)] == [*ALONE, *BESIDE_A_COMPANION]
    assert all(run is runs[0] for run, _ in records_without_partner(runs))


def test_checks_leave_windows_with_a_partner_out() -> None:
    alone, all_windows = run_of(*ALONE), run_of(*ALONE, *BESIDE_A_PARTNER)
    found = [Coupling(runs).works_for_visits() for runs in (alone, all_windows)]
    assert found[0] == found[1] == {("/a.c:1", "item")}
    capacities = capacity_of(alone, {}), capacity_of(all_windows, {})
    assert [(each.used, each.filled) for each in capacities if each] == [(0.8, 0.8)] * 2
    limits = [stage_limits(runs, usable_windows(runs).by_target) for runs in (alone, all_windows)]
    assert limits[0] == limits[1] == {("/a.c:1", "item"): pytest.approx(1 - 8 / 10)}
