"""Threads that share the cores, but never wait for each other."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from cozcli.analysis.check.capacity import Capacity, within_capacity
from cozcli.analysis.check.closed_network import ClosedNetwork, locations_of_all_threads, network_of
from cozcli.analysis.result import THROUGHPUT, CurvePoint, Fit, LineResult, Mark, Phase
from cozcli.profile.records import ThreadUse

if TYPE_CHECKING:
    from cozcli.profile.profile import Run


@pytest.mark.parametrize(
    ("threads", "cores", "busy", "waited", "saved", "expected"),
    [
        # M/M/1//2, by hand: of 5 parts of the time, 2 with one thread at the core and 2 with both; afterwards
        # 1 and 0.5 of 2.5.
        (2, 1, 0.8, 0.4, 0.5, 1 / 3),
        (2, 2, 0.5, 0.0, 1.0, 0.25),  # a core for each: of a visit, a quarter is saved
        (8, 2, 2.0, 6.0, 0.3, 0.3),  # they never wait outside: all work is spread over the cores
        (8, 2, 1.0, 0.0, 0.0, 0.0),
    ],
)
def test_effects_follow_from_how_long_threads_wait_outside(
    threads: int, cores: int, busy: float, waited: float, saved: float, expected: float
) -> None:
    assert ClosedNetwork(threads, cores, busy, waited).effect(saved) == pytest.approx(expected, abs=1e-3)


def test_no_period_is_shorter_than_the_cores_need() -> None:
    """Measured waiting may be less than the model's, and then the rest of it would be, too."""
    network = ClosedNetwork(16, 2, 1.99, 0.5)
    assert all(network.effect(saved) <= 1 - 0.99 * (1 - saved) for saved in (0.0, 0.25, 0.5, 0.75))


def runs(*windows: dict[str, Any], cores: int = 2) -> Sequence[Run]:
    usual: dict[str, Any] = {
        "speedup": 0.0, "duration": 100, "effective_duration": 100, "delay": 0, "processor_time": 180,
        "core_wait": 60, "machine_busy": 180, "machine_stolen": 0, "location": "a.c:1", "target_samples": 100,
        "companions": (), "threads": ThreadUse(4.0, 3.9, 0),
    }  # fmt: skip
    records = [SimpleNamespace(**{**usual, **window}) for window in windows]
    return [cast("Run", SimpleNamespace(record=SimpleNamespace(cores=cores), experiments=records))]


def test_a_network_is_read_from_baselines() -> None:
    found = network_of(runs({}, {}, {"speedup": 0.5, "threads": ThreadUse(1.0, 1.0, 0)}))
    assert found is not None
    assert found.effect(0.5) == pytest.approx(ClosedNetwork(4, 2, 1.8, 0.6).effect(0.5))


def test_pauses_of_companions_are_no_time_outside() -> None:
    found = network_of(runs({"duration": 150, "delay": 50}))
    assert found is not None
    assert found.effect(0.5) == pytest.approx(ClosedNetwork(4, 2, 1.8, 0.6).effect(0.5))


@pytest.mark.parametrize(
    "window",
    [
        {"threads": ThreadUse(4.0, 3.9, 20)},  # they wait for each other
        {"threads": ThreadUse(1.2, 1.0, 0)},
        {"threads": ThreadUse(64.0, 60.0, 0)},  # others were not read
        {"threads": None},
        {"core_wait": -1},
        {"processor_time": -1},
        {"speedup": 0.5},
        {"machine_busy": 198},  # another program takes turns with them
        {"core_wait": 5},  # the model has more, and four times less
        {"threads": ThreadUse(2.0, 2.0, 0), "core_wait": 30},  # for what, if there is a core for each?
    ],
)
def test_of_other_threads_nothing_is_known(window: dict[str, Any]) -> None:
    assert network_of(runs(window)) is None
    assert network_of(runs({}, cores=0)) is None


def test_a_wait_for_a_thread_may_end_in_any_window() -> None:
    assert network_of(runs({}, {"speedup": 0.5, "threads": ThreadUse(4.0, 3.9, 100)})) is None


def test_a_target_of_some_threads_is_not_one_of_all() -> None:
    found = locations_of_all_threads(
        runs(
            {},
            {"threads": ThreadUse(4.0, 3.0, 0), "target_samples": 10},
            {"location": "b.c:1", "threads": ThreadUse(4.0, 1.5, 0)},
            {"location": "c.c:1", "threads": ThreadUse(4.0, 0.0, 0), "target_samples": 2},
            {"location": "d.c:1", "threads": None},
        )
    )
    assert found == {"a.c:1"}


def test_windows_with_few_samples_count_together() -> None:
    """Where each has three over eight threads, most have no two in one thread."""
    some = {"threads": ThreadUse(8.0, 0.0, 0), "target_samples": 3}
    pair = {"threads": ThreadUse(8.0, 4.5, 0), "target_samples": 3}
    assert locations_of_all_threads(runs(*[some] * 5, *[pair] * 5))
    assert not locations_of_all_threads(runs(*[pair] * 10))


@pytest.mark.parametrize(
    ("of_all", "marks", "expected"),
    [
        (frozenset({"a.c:1"}), (), 0.30),
        (frozenset[str](), (), 0.45),
        (frozenset({"a.c:1"}), (Mark.LOAD,), 0.45),  # what they wait for depends on how fast they are
    ],
)
def test_cores_give_as_much_as_the_network_says(
    of_all: frozenset[str], marks: tuple[Mark, ...], expected: float
) -> None:
    class Network:
        def effect(self, saved: float) -> float:
            return saved * 2 / 3

    point = CurvePoint(0.5, 0.2, 0.18, 0.22, 10)
    result = LineResult(
        location="a.c:1", function="f", point="item", kind=THROUGHPUT, slope=0.4, slope_low=0.35,
        slope_high=0.45, adjusted_low=0.35, adjusted_high=0.45, significant=True, contention=False,
        phase=Phase(), curve=(point,), fit=Fit(2, (), (), (), ()), marks=(Mark.CORES, *marks),
    )  # fmt: skip
    capacity = Capacity(
        1.0, 1.0, {"a.c:1": (0.9, 1e8)}, network=cast("ClosedNetwork", Network()), of_all_threads=of_all
    )
    (found,) = within_capacity(result, capacity).curve
    assert found.effect == pytest.approx(expected, abs=1e-3)
