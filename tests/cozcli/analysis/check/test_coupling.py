"""Whether a target works for visits, or beside them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from cozcli.analysis.check.coupling import Coupling
from cozcli.profile.records import LatencyPoint, ThroughputPoint

if TYPE_CHECKING:
    from cozcli.profile.profile import Run

KEY = ("a.c:1", "done")
WINDOW = 1000


def window(
    speedup: float,
    samples: int,
    visits: int,
    effective: int = WINDOW,
    *,
    latency: bool = False,
    processor_time: int = -1,
) -> SimpleNamespace:
    point = LatencyPoint("done", visits, visits, effective, 1.0) if latency else None
    return SimpleNamespace(
        speedup=speedup,
        location="a.c:1",
        duration=WINDOW,
        effective_duration=effective,
        target_samples=samples,
        processor_time=processor_time,
        companions=(),
        points=(point or ThroughputPoint("done", visits, effective),),
    )


def coupling(*windows: SimpleNamespace) -> Coupling:
    return Coupling([cast("Run", SimpleNamespace(experiments=windows))])


def found(*windows: SimpleNamespace) -> frozenset[tuple[str, str]]:
    return coupling(*windows).works_for_visits()


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


def test_what_a_visit_takes_where_other_threads_make_visits_too() -> None:
    """Two threads on a processor each; at 75 % the one without the target has a quarter of its time."""
    windows = [
        window(0.0, 40_000, 100, processor_time=2 * WINDOW),
        window(0.25, 40_000, 88, 750, processor_time=1750),
        window(0.75, 40_000, 64, 250, processor_time=1250),
        window(1.0, 40_000, 52, 0, processor_time=WINDOW),
    ]
    found = coupling(*windows).visit_work()[KEY]
    assert set(found) == {0.25, 0.75}
    assert found[0.75].in_target == pytest.approx(100 / 64, rel=0.02)
    assert found[0.75].all == pytest.approx(100 / 64 * 1250 / 2000)
    assert found[0.25].all == pytest.approx(100 / 88 * 1750 / 2000)


def test_what_a_visit_takes_is_unknown_without_processor_times_and_baselines() -> None:
    assert not coupling(window(0.0, 400, 100), window(0.75, 200, 50)).visit_work()
    assert not coupling(window(0.75, 200, 50, processor_time=10)).visit_work()
