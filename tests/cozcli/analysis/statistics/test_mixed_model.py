"""The mixed model against plain formulas and known variances."""

from __future__ import annotations

import numpy as np
import pytest

from cozcli.analysis.statistics.mixed_model import Group, Variances, settled, solve


def layout(rows: int = 200, blocks: int = 20, seed: int = 1):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    x = np.column_stack([np.ones(rows), rng.normal(size=(rows, 5))])
    block = np.repeat(np.arange(blocks), rows // blocks)
    return rng, x, block, rng.uniform(0.5, 2, rows)


def given(noise: float, block: float, variance: float) -> Variances:
    return Variances(
        noise,
        block,
        (
            Group(slice(0, 1), 0.0, np.full(1, 100.0)),
            Group(slice(1, 6), variance, np.linspace(0, 0.1, 5), 1.0, 1.0),
        ),
    )


def test_a_step_is_the_posterior_of_the_dense_model() -> None:
    rng, x, block, weight = layout()
    y = rng.normal(size=len(x))
    variances = given(0.5, 0.3, 0.7)
    found, _ = solve(y, x, weight, block, variances)
    same_block = (block[:, None] == block).astype(float)
    inverse = np.linalg.inv(np.diag(0.5 / weight) + 0.3 * same_block)
    prior = np.concatenate([[100.0], 0.7 + np.linspace(0, 0.1, 5)])
    covariance = np.linalg.inv(x.T @ inverse @ x + np.diag(1 / prior))
    assert found.covariance == pytest.approx(covariance, rel=1e-6, abs=1e-12)
    assert found.mean == pytest.approx(covariance @ x.T @ inverse @ y, rel=1e-6, abs=1e-10)
    of_blocks = 0.3 * np.array([(inverse @ (y - x @ found.mean))[block == b].sum() for b in range(20)])
    assert found.block == pytest.approx(of_blocks, rel=1e-6, abs=1e-10)


def test_the_likelihood_is_that_of_the_dense_model() -> None:
    rng, x, block, weight = layout()
    same_block = (block[:, None] == block).astype(float)
    found, dense = [], []
    for noise, of_blocks, variance in [(0.5, 0.3, 0.7), (1.5, 0.01, 0.1)]:
        y = rng.normal(size=len(x))
        found.append(solve(y, x, weight, block, given(noise, of_blocks, variance))[0].log_likelihood)
        prior = np.concatenate([[100.0], variance + np.linspace(0, 0.1, 5)])
        covariance = np.diag(noise / weight) + of_blocks * same_block + (x * prior) @ x.T
        determinant = np.linalg.slogdet(covariance)[1]
        dense.append(-(determinant + y @ np.linalg.solve(covariance, y)) / 2)
    assert found == pytest.approx(dense, rel=1e-6)


def test_steps_find_the_variances() -> None:
    rng = np.random.default_rng(3)
    rows, blocks, columns = 3000, 150, 200
    x = rng.normal(size=(rows, columns))
    block = np.repeat(np.arange(blocks), rows // blocks)
    y = x @ rng.normal(0, 0.2, columns) + rng.normal(0, 0.5, blocks)[block] + rng.normal(0, 1.0, rows)
    variances = Variances(9.0, 9.0, (Group(slice(0, columns), 4.0, np.zeros(columns), 0.04, 1.0),))
    for _ in range(100):
        _, better = solve(y, x, np.ones(rows), block, variances)
        if settled(variances, better, 1e-4):
            break
        variances = better
    else:
        pytest.fail("the variances do not settle")
    assert better.noise == pytest.approx(1.0, rel=0.1)
    assert better.block == pytest.approx(0.25, rel=0.3)
    assert better.groups[0].variance == pytest.approx(0.04, rel=0.3)


def test_without_an_effect_a_variance_stays_near_what_was_expected_of_few() -> None:
    rng, x, block, weight = layout()
    variances = given(1.0, 1.0, 1.0)
    for _ in range(50):
        _, variances = solve(rng.normal(size=len(x)), x, weight, block, variances)
    fixed, estimated = variances.groups
    assert fixed.variance == 0.0
    assert 0 < estimated.variance < 0.5
