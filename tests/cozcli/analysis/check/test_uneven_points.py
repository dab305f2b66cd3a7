"""Points that are visited rarely and irregularly are told, others are not."""

from __future__ import annotations

import pytest

from cozcli.analysis.check.uneven_points import warn_of_uneven_points
from cozcli.profile.profile import Run
from cozcli.profile.records import ExperimentRecord, RunRecord, SamplesRecord, ThroughputPoint


def warnings_of(visits: list[int], few_visits: int = 0, **how: bool) -> list[str]:
    experiments = [
        ExperimentRecord("/a.c:1", 0.0, 10**9, points=(ThroughputPoint("rare", count, 10**9),))
        for count in visits
    ]
    samples = SamplesRecord(10**9, discarded={"few_visits": few_visits})
    run = Run(RunRecord(**how), "a.coz", experiments, samples)
    return [problem.text for problem in warn_of_uneven_points([run])]


@pytest.mark.parametrize(
    ("visits", "is_told"),
    [
        pytest.param([0, 1, 2, 0, 1, 1, 3, 1], True, id="rare and irregular"),
        pytest.param([1, 1, 1, 1, 2, 1, 1, 1], False, id="rare and regular"),
        pytest.param([0, 0, 0, 40, 38, 41, 0, 0], False, id="in one phase only"),
        pytest.param([0, 0, 0], False, id="never"),
    ],
)
def test_rare_and_irregular_visits_are_told(visits: list[int], is_told: bool) -> None:
    found = warnings_of(visits)
    assert len(found) == is_told
    if is_told:
        assert "rare is visited rarely, and 25% of the experiments had too few visits" in found[0]


def test_windows_that_were_not_written_count_but_for_those_that_were_too_short() -> None:
    assert warnings_of([1, 1, 2, 1], few_visits=5) == []
    assert "50% of the experiments" in warnings_of([1, 1, 2, 1], few_visits=11)[0]
    assert warnings_of([20, 21, 20, 19], few_visits=11) == []
    # A damaged number costs no memory.
    assert "100% of the experiments" in warnings_of([1, 1, 2, 1], few_visits=2**62)[0]


def test_a_whole_run_has_all_its_visits() -> None:
    assert warnings_of([0, 1, 2, 0], end_to_end=True) == []
