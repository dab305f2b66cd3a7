"""Which locks a target waits for, from the counts of several runs."""

from __future__ import annotations

import pytest

from cozcli.analysis.input.locks import locks_of_targets
from cozcli.analysis.result import Holder, WaitedLock
from cozcli.profile.profile import Run
from cozcli.profile.records import LockCount, RunRecord, SamplesRecord


def run(*locks: LockCount) -> Run:
    return Run(RunRecord(), "", samples=SamplesRecord(run_time=1, locks=locks))


def test_runs_are_added_up_and_the_longest_waiting_comes_first() -> None:
    found = locks_of_targets(
        [
            run(
                LockCount("lock a:1", "other", "", "", 1, 100),
                LockCount("lock a:1", "table", "a:5", "fill", 4, 300),
            ),
            run(
                LockCount("lock a:1", "table", "a:9", "drain", 2, 300),
                LockCount("lock a:1", "table", "a:5", "fill", 4, 300),
            ),
        ]
    )
    assert found == {
        "lock a:1": (
            WaitedLock(
                "table",
                pytest.approx(0.9),
                10,
                90,
                (
                    Holder("a:5", "fill", pytest.approx(2 / 3)),
                    Holder("a:9", "drain", pytest.approx(1 / 3)),
                ),
            ),
            WaitedLock("other", pytest.approx(0.1), 1, 100, (Holder("", "", 1.0),)),
        )
    }


def test_waits_of_no_time_are_no_division_by_zero() -> None:
    found = locks_of_targets([run(LockCount("lock a:1", "table", "a:5", "f", 2, 0))])
    assert found["lock a:1"][0].share == found["lock a:1"][0].mean == 0
    assert locks_of_targets([Run(RunRecord(), "")]) == {}
