"""Marks and intervals that allow for the number of lines looked at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from synthetic import Line, Model, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.check.multiple_testing import (
    Candidate,
    adjusted_interval,
    decide_significance,
    p_no_slope,
    weights_of,
)
from cozcli.analysis.result import LineResult
from cozcli.analysis.statistics.distributions import t_quantile
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records

SPEEDUPS = (0.25, 0.5, 1.0)


def results_of(lines: list[Line], blocks: int, seed: int) -> tuple[LineResult, ...]:
    model = Model(lines, speedups=SPEEDUPS, per_block=3, seed=seed)
    read = read_records(to_bytes(model.records(blocks)).splitlines(keepends=True), ReadProblems())
    return analyse(Profile(collect_runs(read, "x"), ["x"])).results


@pytest.fixture(scope="module")
def template() -> LineResult:
    return results_of([Line("/a.c:1", lambda s: 0.1 * s)], 6, 1)[0]


def candidate(
    template: LineResult, slope: float, half: float, enough: bool = True, share: float | None = None
) -> Candidate:
    interval: dict[str, Any] = {"slope_low": slope - half, "slope_high": slope + half}
    interval |= {"share": share, "is_combined": share is not None, "bound": None, "freedom": 8.0}
    result = replace(template, slope=slope, **interval)
    return Candidate(result, 1.0, enough)


def test_lines_without_effect_are_not_marked_however_many_are_looked_at() -> None:
    """Of 200 lines without effect some 10 have an interval of their own that leaves out 0."""
    alone = marked = 0
    for seed in (1, 2):
        results = results_of([Line(f"/a.c:{i}", lambda s: 0.0) for i in range(100)], 600, seed)
        alone += sum(r.slope_low > 0 or r.slope_high < 0 for r in results)
        marked += sum(r.significant or r.contention for r in results)
    assert 3 <= alone <= 25
    assert marked == 0


def test_true_effects_are_found_among_many_lines() -> None:
    lines = [Line(f"/a.c:{i}", lambda s, i=i: 0.1 * s if i < 3 else 0.0) for i in range(30)]
    results = results_of(lines, 240, 1)
    assert {r.location for r in results[:3]} == {"/a.c:0", "/a.c:1", "/a.c:2"}
    assert [r.significant for r in results[:3]] == [True] * 3
    assert sum(r.significant for r in results[3:]) <= 1


def test_what_is_marked_is_what_the_adjusted_interval_tells_from_0(template: LineResult) -> None:
    rng = np.random.default_rng(1)
    for number in (1, 2, 10, 60):
        slopes = (0.1 * rng.standard_normal(number) * rng.integers(1, 6, number)).tolist()
        shares = rng.pareto(1.0, number).tolist()
        equal = [candidate(template, slope, 0.2) for slope in slopes]
        weighted = [
            candidate(template, slope, 0.2, share=share) for slope, share in zip(slopes, shares, strict=True)
        ]
        for result in [*decide_significance(equal), *decide_significance(weighted)]:
            outside = result.adjusted_low > 0 or result.adjusted_high < 0
            assert result.significant == outside
            assert result.adjusted_low <= result.slope_low <= result.slope_high <= result.adjusted_high


def test_one_line_needs_no_adjustment(template: LineResult) -> None:
    result = decide_significance([candidate(template, 0.3, 0.2)])[0]
    assert (result.adjusted_low, result.adjusted_high) == pytest.approx((0.1, 0.5))
    assert result.significant


def test_the_level_is_that_of_benjamini_and_yekutieli(template: LineResult) -> None:
    """Two chosen of twenty: 1 − 0.05·2/20 = 99.5 %."""
    family = [candidate(template, 5.0, 0.2)] * 2 + [candidate(template, 0.01, 0.2)] * 18
    result = decide_significance(family)[0]
    wide = 0.2 * t_quantile(0.9975, 8.0) / t_quantile(0.975, 8.0)
    assert result.adjusted_high - result.slope == pytest.approx(wide)
    assert adjusted_interval(family[0], 0.95) == pytest.approx((4.8, 5.2))


def test_a_target_with_most_of_the_time_needs_less_evidence_and_a_small_one_more(
    template: LineResult,
) -> None:
    rest = [candidate(template, 0.01, 0.2, share=0.001)] * 399
    for share, is_found in ((0.3, True), (None, False), (0.001, False)):
        first = candidate(template, 0.35, 0.2, share=share)
        assert decide_significance([first, *rest])[0].significant == is_found
    assert weights_of([first, *rest]) == pytest.approx([1.0] * 400)
    weights = weights_of([candidate(template, 0.35, 0.2, share=0.3), *rest])
    assert sum(weights) == pytest.approx(400)
    assert min(weights) > 0.5
    assert weights_of([candidate(template, 0.35, 0.2, share=0.0)]) == [1.0]


def test_few_blocks_are_not_marked_and_do_not_count(template: LineResult) -> None:
    few = [candidate(template, 5.0, 0.2, enough=False)] * 50
    results = decide_significance([*few, candidate(template, 0.3, 0.25)])
    assert not any(r.significant for r in results[:50])
    assert results[50].significant
    assert decide_significance([]) == []


def test_chances_at_the_edges(template: LineResult) -> None:
    assert p_no_slope(candidate(template, 0.2, 0.2)) == pytest.approx(0.05, rel=1e-3)
    assert p_no_slope(candidate(template, -0.2, 0.2)) == pytest.approx(0.05, rel=1e-3)
    assert p_no_slope(candidate(template, 0.0, 0.2)) == pytest.approx(1)
    assert (p_no_slope(candidate(template, 0.0, 0.0)), p_no_slope(candidate(template, 0.1, 0.0))) == (
        1,
        0,
    )
