"""Distributions and the choice among many tests: against tables, and against scipy.stats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from cozcli.analysis.statistics.distributions import (
    MAX_QUANTILE,
    bonferroni_factor,
    normal_quantile,
    normal_tail,
    t_quantile,
    t_tail,
)
from cozcli.analysis.statistics.false_discovery import discoveries
from cozcli.analysis.statistics.weighted import effective_number


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.7062), (2, 4.30265), (4, 2.77645), (10, 2.22814), (100, 1.98397)]
)
def test_student(freedom: float, quantile: float) -> None:
    assert t_quantile(0.975, freedom) == pytest.approx(quantile, rel=1e-4)
    assert t_tail(quantile, freedom) == pytest.approx(0.025, rel=1e-3)
    assert t_tail(-quantile, freedom) == pytest.approx(0.975, rel=1e-3)


def test_student_at_the_edges() -> None:
    assert (t_tail(math.inf, 3.0), t_tail(-math.inf, 3.0), t_tail(math.nan, 3.0)) == (0, 1, 1)
    assert t_quantile(0.975, 1e-6) == MAX_QUANTILE
    assert t_quantile(0.975, [1.0, 2.5]) == pytest.approx(stats.t.ppf(0.975, [1.0, 2.5]))


def test_the_normal_distribution() -> None:
    assert normal_quantile(0.975) == pytest.approx(1.959964)
    assert normal_tail(1.959964) == pytest.approx(0.025)
    assert bonferroni_factor(1) == 1
    assert bonferroni_factor(20, 5) == pytest.approx(stats.t.isf(0.00125, 5) / stats.t.isf(0.025, 5))
    assert bonferroni_factor(20) == pytest.approx(stats.norm.isf(0.00125) / stats.norm.isf(0.025))


def test_false_discovery_rate() -> None:
    assert discoveries([0.001, 0.9, 0.02, 0.5], 0.025) == [True, False, False, False]
    assert discoveries([0.001, 0.01, 0.018, 0.024], 0.025) == [True] * 4
    assert discoveries([], 0.025) == []


def test_discoveries_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    for number in (1, 3, 40):
        p = rng.uniform(size=number) ** 3
        assert discoveries(list(p), 0.1) == list(stats.false_discovery_control(p) <= 0.1)


def test_effective_numbers() -> None:
    weights = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert effective_number(weights) == pytest.approx([3, 1, 0])
