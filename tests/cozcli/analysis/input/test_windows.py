"""Which windows are used."""

from __future__ import annotations

import pytest

from cozcli.analysis.input.windows import Window, usable_windows
from cozcli.profile.profile import Run
from cozcli.profile.records import Companion, ExperimentRecord, RunRecord


def used(records: list[ExperimentRecord]) -> list[ExperimentRecord]:
    run = Run(RunRecord(), "profile.coz", experiments=records)
    return [window.record for window in usable_windows([run]).by_target["a.c:1"]]


@pytest.mark.parametrize("transient", [1, 3])
def test_windows_without_effective_time_are_left_out_where_most_are_transient(transient: int) -> None:
    def of(effective: int, *flags: str) -> ExperimentRecord:
        return ExperimentRecord("a.c:1", 1.0, effective, duration=150_000_000, flags=flags)

    delays_only = [of(2_000_000), of(2_000_000, "transient")]
    others = [of(50_000_000), *[of(50_000_000, "transient")] * (transient - 1)]
    assert used([*delays_only, *others]) == (others if transient > 2 else [*delays_only, *others])


@pytest.mark.parametrize(("threads", "own"), [(1, 20_000_000), (4, 50_000_000)])
def test_the_main_target_caused_no_more_than_all_delay(threads: int, own: int) -> None:
    """Samples of several threads in the line at once cause the delay of one; the rest is of a companion."""
    record = ExperimentRecord(
        "a.c:1",
        0.5,
        150_000_000,
        delay=50_000_000,
        target_samples=threads * 40,
        companions=(Companion(0, 0.25, 40),),
    )
    assert Window(0, 0, record, period=1_000_000).own_delay == own
