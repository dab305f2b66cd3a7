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


def test_locks_without_a_name_are_counted_in_each_run() -> None:
    # The numbers 1 of two runs are of two locks that have nothing in common.
    runs = [
        run(
            LockCount("lock a:1", "", "a:5", "fill", 1, 100, unnamed=1),
            LockCount("lock a:1", "", "a:9", "drain", 1, 200, unnamed=1),
            LockCount("lock a:1", "", "a:5", "fill", 1, 100, unnamed=2),
        ),
        run(
            LockCount("lock a:1", "", "a:5", "fill", 1, 50, unnamed=1),
            LockCount("lock a:1", "", "a:5", "fill", 1, 50, unnamed=2),
            LockCount("lock a:1", "", "a:5", "fill", 1, 100, unnamed=3),
        ),
    ]
    (lock,) = locks_of_targets(runs)["lock a:1"]
    assert (lock.name, lock.share, lock.waits, lock.number) == ("", 1, 6, 3)
    assert lock.largest == pytest.approx((300 + 100) / 600)
    assert not lock.has_others
    others = run(
        LockCount("lock a:1", "", "", "", 1, 30, unnamed=7), LockCount("lock a:1", "", "", "", 9, 70)
    )
    (lock,) = locks_of_targets([others])["lock a:1"]
    assert (lock.number, lock.has_others, lock.largest) == (1, True, pytest.approx(0.3))
    (lock,) = locks_of_targets([*runs, run(LockCount("lock a:1", "", "", "", 1, 5))])["lock a:1"]
    assert lock.number == 0, "an older profile does not tell"


def test_waits_of_no_time_are_no_division_by_zero() -> None:
    found = locks_of_targets([run(LockCount("lock a:1", "table", "a:5", "f", 2, 0))])
    assert found["lock a:1"][0].share == found["lock a:1"][0].mean == 0
    assert locks_of_targets([Run(RunRecord(), "")]) == {}
