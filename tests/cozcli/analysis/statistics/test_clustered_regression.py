"""Standard errors that allow for blocks whose windows go together."""

from __future__ import annotations

import numpy as np
import pytest

from cozcli.analysis.statistics.clustered_regression import Coefficient, fit_groups, fit_through_origin


def test_the_coefficient_is_weighted_least_squares() -> None:
    rng = np.random.default_rng(1)
    x, y, weights = rng.uniform(0.5, 1.5, (3, 20))
    found = fit_through_origin(x, y, weights, np.arange(20))
    assert found is not None
    root = np.sqrt(weights)
    assert found.estimate == pytest.approx(np.linalg.lstsq((root * x)[:, None], root * y, rcond=None)[0][0])


def test_clustered_errors_are_as_wide_as_they_should_be() -> None:
    """Noise shared by the windows of a block does not shrink with their number."""
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(400):
        block = np.repeat(np.arange(12), 5)
        x = rng.uniform(0.5, 1.5, 60)
        y = 0.7 * x + rng.standard_normal(12)[block] + 0.3 * rng.standard_normal(60)
        found = fit_through_origin(x, y, np.ones(60), block)
        assert found is not None
        centred = Coefficient(found.estimate - 0.7, found.error, found.freedom)
        covered.append(centred.p_not_zero > 0.05)
    assert 0.92 <= np.mean(covered) <= 0.98


def test_a_fit_needs_blocks() -> None:
    ones = np.ones(8)
    assert fit_through_origin(ones, ones, ones, np.repeat([1, 2], 4)) is None
    assert fit_through_origin(np.zeros(8), ones, ones, np.arange(8)) is None
    certain = fit_through_origin(ones, ones, ones, np.arange(8))
    assert certain is not None
    assert (certain.p_not_zero, certain.is_within(1.5), certain.is_within(0.5)) == (0, True, False)
    nothing = fit_through_origin(ones, 0 * ones, ones, np.arange(8))
    assert nothing is not None
    assert (nothing.p_not_zero, nothing.p_above_zero) == (1, 1)


def test_groups_of_few_blocks_have_the_error_of_all() -> None:
    """Eight groups of two blocks: two alone say next to nothing of their noise."""
    rng = np.random.default_rng(1)
    block = np.repeat(np.arange(16), 5)
    group = block // 2
    covered, separate = [], []
    for _ in range(200):
        x = rng.uniform(0.5, 1.5, 80)
        y = (0.1 * group) * x + rng.standard_normal(16)[block] * x + 0.1 * rng.standard_normal(80)
        found = fit_groups(x, y, np.ones(80), block, group)
        assert found is not None
        centred = [Coefficient(b.estimate - 0.1 * g, b.error, b.freedom) for g, b in enumerate(found)]
        covered += [each.p_not_zero > 0.05 for each in centred]
        separate.append(found[3].estimate)
    assert 0.92 <= np.mean(covered) <= 0.98
    assert np.mean(separate) == pytest.approx(0.3, abs=0.2)


def test_groups_need_more_blocks_than_groups() -> None:
    ones, block = np.ones(12), np.repeat(np.arange(6), 2)
    assert fit_groups(ones, ones, ones, block, block // 3) is not None
    assert fit_groups(ones, ones, ones, block, block // 2) is None
    certain = fit_groups(ones, ones, ones, block, np.zeros(12, dtype=np.int64))
    assert certain is not None
    assert (certain[0].estimate, certain[0].low, certain[0].freedom) == (1, 1, 5)
