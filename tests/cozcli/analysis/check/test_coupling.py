"""Whether a target works for visits, or beside them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from cozcli.analysis.check.coupling import works_for_visits
from cozcli.profile.records import LatencyPoint, ThroughputPoint

if TYPE_CHECKING:
    from cozcli.profile.profile import Run

KEY = ("a.c:1", "done")
WINDOW = 1000


def window(
    speedup: float, samples: int, visits: int, effective: int = WINDOW, *, latency: bool = False
) -> SimpleNamespace:
    point = LatencyPoint("done", visits, visits, effective, 1.0) if latency else None
    return SimpleNamespace(
        speedup=speedup,
        location="a.c:1",
        duration=WINDOW,
        effective_duration=effective,
        target_samples=samples,
        companions=(),
        points=(point or ThroughputPoint("done", visits, effective),),
    )


def found(*windows: SimpleNamespace) -> frozenset[tuple[str, str]]:
    return works_for_visits([cast("Run", SimpleNamespace(experiments=windows))])


@pytest.mark.parametrize(
    ("samples", "visits", "works"),
    [
        (500, 50, True),  # half as many visits, half as much work
        (1000, 50, False),  # it goes on at its own pace
        (1300, 50, False),  # faster, since others pause
        (990, 99, False),  # visits are hardly slower: nothing can be told
        (700, 50, True),
        (0, 50, False),
    ],
)
def test_work_for_visits_becomes_slower_with_them(samples: int, visits: int, works: bool) -> None:
    assert found(window(0.0, 1000, 100), window(0.75, samples, visits, 600)) == ({KEY} if works else set())


def test_few_samples_tell_nothing() -> None:
    assert not found(window(0.0, 10, 100), window(0.75, 5, 50))
    assert found(window(0.0, 400, 100), window(0.75, 200, 50))


def test_small_speedups_latencies_and_windows_without_a_baseline_do_not_count() -> None:
    assert not found(window(0.0, 1000, 100), window(0.25, 500, 50))
    assert not found(window(0.75, 500, 50))
    assert not found(window(0.0, 1000, 100, latency=True), window(0.75, 500, 50, latency=True))
