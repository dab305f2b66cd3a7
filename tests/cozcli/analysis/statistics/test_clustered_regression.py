"""Standard errors that allow for blocks whose windows go together."""

from __future__ import annotations

import numpy as np
import pytest

from cozcli.analysis.statistics.clustered_regression import Coefficient, fit_through_origin


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
