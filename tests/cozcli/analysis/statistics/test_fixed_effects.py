"""Blocks and speedups, taken out: against the least squares of a dense design."""

from __future__ import annotations

import numpy as np
import pytest

from cozcli.analysis.statistics.arrays import Floats, Ints
from cozcli.analysis.statistics.fixed_effects import FixedEffects


def design(block: Ints, level: Ints) -> Floats:
    return np.hstack([np.eye(block.max() + 1)[block], np.eye(level.max() + 1)[level]])


def dense_residuals(values: Floats, weights: Floats, block: Ints, level: Ints) -> Floats:
    root, columns = np.sqrt(weights), design(block, level)
    fitted = np.linalg.lstsq(columns * root[:, None], values * root, rcond=None)[0]
    return np.asarray(values - columns @ fitted)


def layout(windows: int, blocks: int, levels: int, seed: int) -> tuple[Floats, Ints, Ints]:
    rng = np.random.default_rng(seed)
    block = np.unique(rng.integers(blocks, size=windows), return_inverse=True)[1]
    level = np.unique(rng.integers(levels, size=windows), return_inverse=True)[1]
    return np.exp(2 * rng.standard_normal(windows)), block, level


@pytest.mark.parametrize("shape", [(60, 8, 5), (12, 9, 6), (7, 1, 4), (9, 5, 1), (1, 1, 1)])
def test_residuals_are_those_of_least_squares(shape: tuple[int, int, int]) -> None:
    for seed in range(5):
        weights, block, level = layout(*shape, seed)
        values = np.random.default_rng(seed + 100).standard_normal(len(block))
        fit = FixedEffects(weights, block, level)
        assert fit.residuals(values) == pytest.approx(
            dense_residuals(values, weights, block, level), abs=1e-9
        )
        assert fit.rank == np.linalg.matrix_rank(design(block, level))


def test_speedups_that_share_no_block_are_fitted_apart() -> None:
    block, level = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 2, 3, 3])
    values = np.array([1.0, 2.0, 5.0, 7.0, 9.0])
    fit = FixedEffects(np.ones(5), block, level)
    assert fit.rank == 4
    assert fit.residuals(values) == pytest.approx([0, 0, 0, -1, 1])


def test_the_determinant_follows_the_weights_as_that_of_the_design_does() -> None:
    """But for a constant: which parameter the design leaves out."""
    _, block, level = layout(40, 6, 4, seed=1)
    found, exact = [], []
    for seed in range(3):
        weights, _, _ = layout(40, 6, 4, seed)
        found.append(FixedEffects(weights, block, level).log_determinant)
        columns = design(block, level)[:, :-1]
        exact.append(np.linalg.slogdet(columns.T @ (columns * weights[:, None]))[1])
    assert np.diff(found) == pytest.approx(np.diff(exact))


def test_weights_of_any_size() -> None:
    weights, block, level = layout(30, 5, 4, seed=2)
    values = np.random.default_rng(3).standard_normal(30)
    expected = FixedEffects(weights, block, level).residuals(values)
    for factor in (1e-250, 1e250):
        assert FixedEffects(factor * weights, block, level).residuals(values) == pytest.approx(
            expected, abs=1e-9
        )
