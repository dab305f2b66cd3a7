"""The order of results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cozcli.analysis.rank.ranking import by_impact, by_slope, impact
from cozcli.analysis.result import Fit, LineResult, Mark, Phase


def result(location: str = "/a.c:1", slope: float = 0.0, half: float = 0.1) -> LineResult:
    low, high = slope - half, slope + half
    empty = Fit(1, (), (), (), ())
    return LineResult(
        location, "f", "request", "throughput", slope, low, high, low, high, False, False, Phase(), (), empty
    )


def test_ranks_go_by_the_adjusted_bound() -> None:
    template = result()
    sure = replace(template, location="/sure", slope=0.2, adjusted_low=0.1, slope_low=0.15, marks=())
    steep = replace(template, location="/steep", slope=0.9, adjusted_low=-0.1, slope_low=0.3, marks=())
    steep = replace(steep, adjusted_high=2.0)
    assert impact(steep) == 0
    assert [r.location for r in by_impact([steep, sure])] == ["/sure", "/steep"]


def test_a_slow_down_counts_what_undoing_it_would_gain() -> None:
    assert impact(result(slope=-1.1)) == pytest.approx(0.5)  # twice the time, at least
    assert impact(result(slope=0.5)) == pytest.approx(0.4)


def test_few_data_come_last_and_slopes_from_steepest_up_to_steepest_down() -> None:
    few = replace(result("/few", 0.9), marks=(Mark.FEW_DATA,))
    results = [few, result("/down", -0.5), result("/up", 0.3)]
    assert [r.location for r in by_impact(results)] == ["/down", "/up", "/few"]
    assert [r.location for r in by_slope(results)] == ["/few", "/up", "/down"]
