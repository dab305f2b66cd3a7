"""What cores allow and give, where threads waited for one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from synthetic import Line, Model, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.check.capacity import (
    LATENCY_SLACK,
    MODEL_ERROR,
    MODEL_ERROR_PART,
    UNSURE,
    Capacity,
    capacity_of,
    within_capacity,
)
from cozcli.analysis.check.coupling import VisitWork
from cozcli.analysis.result import LATENCY, LineResult, Mark
from cozcli.profile.profile import load_profile

if TYPE_CHECKING:
    from cozcli.profile.profile import Run

MANY = 1e8


def runs(*windows: tuple[float, int, int, int, int], cores: int = 2, busy: int = -1) -> Sequence[Run]:
    """Windows: speedup, real and effective duration, processor time, waiting for cores."""
    records = [
        SimpleNamespace(
            speedup=s,
            duration=real,
            effective_duration=own,
            processor_time=had,
            core_wait=waited,
            machine_busy=busy,
            machine_stolen=-1,
            location="a.c:1",
            target_samples=0,
            threads=None,
            points=(),
            companions=(),
            arrivals=None,
        )
        for s, real, own, had, waited in windows
    ]
    return [cast("Run", SimpleNamespace(record=SimpleNamespace(cores=cores), experiments=records))]


def test_capacity_is_read_from_baselines_and_shares_from_all_windows() -> None:
    found = capacity_of(runs((0.0, 100, 100, 180, 180), (0.5, 100, 50, 100, 80)), {"a.c:1": (0.9, 400.0)})
    assert found is not None
    assert (found.used, found.filled) == (0.9, 0.9)
    assert not found.coupled
    # Of the time that threads ran or waited, 540 ns in 150 effective ones.
    assert found.shares == {"a.c:1": (pytest.approx(0.9 * 150 / 540), 400.0)}


@pytest.mark.parametrize(("waited", "filled"), [(100, 0.95), (20, 0.8), (0, 0.7)])
def test_other_programs_fill_cores_as_far_as_threads_waited_for_them(waited: int, filled: float) -> None:
    found = capacity_of(runs((0.0, 100, 100, 140, waited), busy=190), {})
    assert found is not None
    assert found.used == 0.7
    assert found.filled == pytest.approx(filled)


@pytest.mark.parametrize(
    "given",
    [
        runs((0.0, 100, 100, 180, 0), cores=0),
        runs((0.0, 100, 100, -1, -1)),
        runs((0.5, 100, 50, 100, 80)),
    ],
)
def test_without_cores_times_or_baselines_nothing_is_known(given: Sequence[Run]) -> None:
    assert capacity_of(given, {}) is None


@pytest.mark.parametrize(
    ("used", "filled", "measured", "expected"),
    [
        (1.0, 1.0, (0.50, 0.48, 0.52), (0.19, 0.19, 0.19)),  # it cannot be more than the work that is saved
        (1.0, 1.0, (0.10, 0.08, 0.12), (0.19, 0.08, 0.19)),
        (0.9, 1.0, (0.50, 0.48, 0.52), (0.19, 0.19, 0.271)),
        (0.8, 0.8, (0.25, 0.23, 0.30), (0.22, 0.19, 0.30)),  # half way between the regimes
        (0.6, 0.65, (0.35, 0.33, 0.37), (0.33, 0.27, 0.37)),  # half of the way to s·A
        (0.6, 0.6, (0.35, 0.33, 0.37), (0.35, 0.33, 0.37)),  # cores suffice
    ],
)
def test_effects_are_within_what_cores_allow(
    used: float, filled: float, measured: tuple[float, float, float], expected: tuple[float, float, float]
) -> None:
    capacity = Capacity(used, filled, {"a.c:1": (0.38, MANY)})
    assert capacity.limited(("a.c:1", "item"), True, 0.5, *measured) == pytest.approx(expected, abs=1e-3)


def test_what_does_not_surely_matter_stays_as_measured() -> None:
    capacity = Capacity(1.0, 1.0, {"a.c:1": (0.38, MANY)})
    found = capacity.limited(("a.c:1", "item"), False, 0.5, 0.01, -0.02, 0.04)
    assert found == pytest.approx((0.01, -0.02, 0.19), abs=1e-3)


def test_no_effect_is_greater_than_other_stages_allow() -> None:
    capacity = Capacity(1.0, 0.9, {"a.c:1": (0.4, MANY)}, limits={("a.c:1", "item"): 0.03})
    assert capacity.limited(("a.c:1", "item"), True, 0.5, 0.10, 0.06, 0.14) == pytest.approx(
        (0.03, 0.03, 0.05)
    )
    other_point = capacity.limited(("a.c:1", "other"), True, 0.5, 0.10, 0.06, 0.14)
    assert other_point[0] > 0.1


@pytest.mark.parametrize(("share", "expected"), [(0.7, 0.4), (0.9, 0.55)])
def test_no_effect_is_greater_than_where_a_curve_levels_off(
    tmp_path: Path, share: float, expected: float
) -> None:
    """From 50 % on, it saves 40 %. If s·A is more than that there, pauses gained too little."""
    path = tmp_path / "p.coz"
    path.write_bytes(to_bytes(Model([Line("/s/a.c:1", lambda s: min(0.8 * s, 0.4))]).records(40)))
    measured = analyse(load_profile([str(path)])).results[0]
    lacking = LineResult(**{**measured.__dict__, "marks": (Mark.CORES,)})
    found = within_capacity(lacking, Capacity(0.8, 0.8, {"/s/a.c:1": (share, MANY)}))
    (before, after) = ({point.speedup: point for point in each.curve}[0.75] for each in (measured, found))
    assert after.effect == pytest.approx(expected, abs=0.02)
    if share == 0.7:
        assert after.low < before.low
        assert before.effect < after.high <= max(point.high for point in measured.curve) + 0.03
        assert found.slope < 0.42


def test_few_samples_leave_room() -> None:
    capacity = Capacity(1.0, 1.0, {"a.c:1": (0.4, 100.0)})
    found = capacity.limited(("a.c:1", "item"), True, 0.5, 0.5, 0.48, 0.52)
    assert found == pytest.approx((0.20, 0.16, 0.24))


def test_nan_stays_nan() -> None:
    capacity = Capacity(1.0, 1.0, {"a.c:1": (0.4, MANY)}, limits={("a.c:1", "item"): 0.3})
    assert all(map(math.isnan, capacity.limited(("a.c:1", "item"), False, 0.5, math.nan, math.nan, math.nan)))


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> LineResult:
    """It saves 80 % at 100 %, which is more than its share of two busy cores."""
    path = tmp_path_factory.mktemp("capacity") / "p.coz"
    path.write_bytes(to_bytes(Model([Line("/s/a.c:1", lambda s: 0.8 * s)]).records(40)))
    found = analyse(load_profile([str(path)])).results[0]
    return LineResult(**{**found.__dict__, "marks": (Mark.CORES,)})


def test_curve_fit_and_slope_are_bounded_alike(result: LineResult) -> None:
    capacity = Capacity(1.0, 1.0, {result.location: (0.3, MANY)})
    found = within_capacity(result, capacity)
    assert found.is_modelled
    assert found.slope == pytest.approx(0.3)
    assert found.slope_high <= 0.3 + math.hypot(MODEL_ERROR, 0.3 * MODEL_ERROR_PART) + 1e-4
    assert found.adjusted_low > 0
    for point in found.curve:
        assert point.effect == pytest.approx(0.3 * point.speedup, abs=1e-3)
        assert point.low <= point.effect <= point.high + 1e-4
    for speedup, effect, high in zip(found.fit.speedup, found.fit.effect, found.fit.high, strict=True):
        assert effect == pytest.approx(0.3 * speedup, abs=1e-3)
        assert high <= effect + math.hypot(MODEL_ERROR, effect * MODEL_ERROR_PART) + 1e-4


def test_a_line_without_a_sure_effect_moves_if_it_surely_works_for_the_visits(result: LineResult) -> None:
    unsure = LineResult(**{**result.__dict__, "slope": 0.0, "slope_low": -0.1, "slope_high": 0.1})
    shares = {result.location: (0.3, MANY)}
    assert within_capacity(unsure, Capacity(1.0, 1.0, shares)).slope == 0
    assert not within_capacity(result, Capacity(0.1, 0.1, {result.location: (1.0, MANY)})).is_modelled
    coupled = frozenset({(result.location, result.point)})
    assert within_capacity(unsure, Capacity(1.0, 1.0, shares, coupled)).slope == pytest.approx(0.3)


def test_a_loss_where_cores_lack_is_not_certain(result: LineResult) -> None:
    """A thread that pauses loses its core to others, and waits for it afterwards."""
    loss = {"slope": -0.2, "slope_low": -0.3, "slope_high": -0.1, "adjusted_low": -0.3, "adjusted_high": -0.1}
    harmful = LineResult(**{**result.__dict__, **loss, "significant": True, "contention": True})
    found = within_capacity(harmful, Capacity(0.9, 0.9, {result.location: (0.3, MANY)}))
    assert (found.significant, found.contention) == (False, False)
    assert found.adjusted_low == pytest.approx(-0.3, abs=0.01)
    assert found.adjusted_high > 0


def test_intervals_allow_for_the_error_of_the_model(result: LineResult) -> None:
    capacity = Capacity(0.9, 1.0, {result.location: (0.4, MANY)})
    half = math.hypot(MODEL_ERROR, 0.2 * MODEL_ERROR_PART)
    found = capacity.with_model_error(result.location, 0.5, 0.2, 0.2, 0.2)
    assert found == pytest.approx((0.2, 0.2 - half, 0.2 + half), abs=1e-3)
    assert capacity.with_model_error(result.location, 0.0, 0.0, 0.0, 0.0) == pytest.approx((0, 0, 0))
    # Cores that are full give no more, but for what is not sure.
    full = Capacity(1.0, 1.0, {result.location: (1.0, MANY)})
    assert full.with_model_error(result.location, 1.0, 1.0, 1.0, 1.0)[2] == pytest.approx(
        1 + UNSURE, abs=1e-3
    )


def test_what_more_windows_could_not_tell_is_left_out_on_request(result: LineResult) -> None:
    capacity = Capacity(0.9, 1.0, {result.location: (0.4, MANY)})
    narrow, wide = (within_capacity(result, capacity, of_windows_only) for of_windows_only in (True, False))
    assert narrow.slope == wide.slope
    assert narrow.slope_high - narrow.slope_low < wide.slope_high - wide.slope_low


def test_intervals_of_latencies_reach_as_far_as_the_time_that_is_saved(result: LineResult) -> None:
    latency = LineResult(**{**result.__dict__, "kind": LATENCY})
    capacity = Capacity(1.0, 1.0, {result.location: (0.3, MANY)})
    found = within_capacity(latency, capacity)
    assert found.slope == latency.slope
    for before, after in zip(latency.curve, found.curve, strict=True):
        saved = LATENCY_SLACK * 0.3 * before.speedup
        assert after.effect == before.effect
        assert after.effect - after.low == pytest.approx(
            math.hypot(before.effect - before.low, saved), abs=1e-3
        )
    shared = Capacity(1.0, 1.0, {result.location: (0.9, MANY)})
    assert not within_capacity(LineResult(**{**latency.__dict__, "significant": True}), shared).significant
    assert within_capacity(latency, capacity, of_windows_only=True) == latency
    steep = {"slope": 1.5, "slope_high": 1.6, "adjusted_high": 1.7}
    behind_a_queue = within_capacity(LineResult(**{**latency.__dict__, **steep}), capacity)
    assert 1.6 < behind_a_queue.slope_high < behind_a_queue.adjusted_high
    assert max(point.high for point in behind_a_queue.curve) <= 1
    enough_cores = LineResult(**{**latency.__dict__, "marks": ()})
    assert within_capacity(enough_cores, capacity) == enough_cores


@pytest.mark.parametrize("change", ["location", "wait"])
def test_other_results_stay_as_they_are(result: LineResult, change: str) -> None:
    other = {
        "location": {"location": "/s/b.c:1"},
        "wait": {"location": "wait /s/a.c:1"},
    }[change]
    changed = LineResult(**{**result.__dict__, **other})
    shares = dict.fromkeys((result.location, "wait /s/a.c:1"), (0.3, MANY))
    assert within_capacity(changed, Capacity(1.0, 1.0, shares)) == changed
    assert within_capacity(result, None) == result


SAME, LESS, LONGER = VisitWork(1.0, 1.0), VisitWork(1.0, 0.2), VisitWork(3.5, 1.0)


@pytest.mark.parametrize(
    ("used", "work", "marked"),
    [
        (0.9, {}, True),
        (0.2, {}, False),
        (0.9, {0.5: SAME}, True),
        (0.9, dict.fromkeys((0.25, 0.5, 0.75, 1.0), LESS), False),  # visits of other threads, which take less
        (
            0.9,
            dict.fromkeys((0.25, 0.5, 0.75, 1.0), LONGER),
            False,
        ),  # more visits of those that run the target
    ],
)
def test_an_effect_that_needs_more_cores_than_there_are_is_marked(
    result: LineResult, used: float, work: dict[float, VisitWork], marked: bool
) -> None:
    """At 50 % it saves 40 %; the cores allow 1 - u·(1 - 0.15)."""
    unmarked = LineResult(**{**result.__dict__, "marks": ()})
    shares, target = {result.location: (0.3, MANY)}, (result.location, result.point)
    found = within_capacity(unmarked, Capacity(used, used, shares, visit_work={target: work}))
    assert (found.marks == (Mark.CORES,)) == marked
    assert (found.slope < result.slope) == marked
