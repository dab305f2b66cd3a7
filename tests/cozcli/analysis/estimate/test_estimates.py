"""Each statistic against a known value."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import Line, Model, to_bytes

from cozcli.analysis.estimate.block_table import arrange_in_blocks
from cozcli.analysis.estimate.curve import fit_curve, slope_operator, value_at
from cozcli.analysis.estimate.period_ratio import log_ratios
from cozcli.analysis.estimate.replicates import small_sample_factor
from cozcli.analysis.estimate.target_estimate import estimate_target
from cozcli.analysis.estimate.variance import Variance, model_covariance, residual_variance
from cozcli.analysis.input.series import make_series
from cozcli.analysis.input.windows import usable_windows
from cozcli.profile.profile import collect_runs
from cozcli.profile.reader import ReadProblems, read_records


def test_small_sample_factor_falls_to_one() -> None:
    assert small_sample_factor(6) == pytest.approx(np.sqrt(6 / 5) * 2.5706 / 1.96, rel=1e-3)
    assert small_sample_factor(500) == pytest.approx(1, abs=0.01)


def table_of(model: Model, blocks: int):  # type: ignore[no-untyped-def]
    lines = to_bytes(model.records(blocks)).splitlines(keepends=True)
    windows = usable_windows(collect_runs(read_records(lines, ReadProblems()), "x"))
    return arrange_in_blocks(make_series("/a.c:1", windows.by_target["/a.c:1"])[0])


def test_one_block_gives_the_plain_ratio() -> None:
    table = table_of(Model([Line("/a.c:1", lambda s: 0.4 * s)], noise=0, per_block=20), 1)
    expected = np.log(1 - 0.4 * table.speedups)
    assert log_ratios(table) == pytest.approx(expected, abs=1e-6)


def test_blocks_without_a_visit_are_no_comparisons() -> None:
    """As of a point that only start-up visits: one block tells little, however many there are."""
    records = Model([Line("/a.c:1", lambda s: 0.0)], speedups=(0.5,)).records(12)
    for record in records:
        if record["type"] == "experiment" and record["block"] > 1:
            record["points"] = [point | {"visits": 0} for point in record["points"]]
    windows = usable_windows(
        collect_runs(read_records(to_bytes(records).splitlines(True), ReadProblems()), "x")
    )
    (series,) = make_series("/a.c:1", windows.by_target["/a.c:1"])
    table = arrange_in_blocks(series)
    assert table is not None
    assert table.total_units <= 2
    estimate = estimate_target(table, Variance(5e6, 5.0))
    assert estimate.high[0] - estimate.low[0] > 0.001


def test_covariance_of_the_model_is_that_of_its_estimates() -> None:
    """φ is noise²·t for a window of length t: check against many simulated series."""
    estimates = []
    for seed in range(400):
        model = Model([Line("/a.c:1", lambda s: 0.0)], speedups=(0.25, 0.5), noise=0.05, seed=seed)
        table = table_of(model, 4)
        estimates.append(log_ratios(table))
    expected = model_covariance(table) * 0.05**2 * 0.4e9 * 0.85
    assert np.cov(np.array(estimates).T) == pytest.approx(expected, rel=0.25)
    # Three residuals for each of two speedups, which share a baseline: their correlation is ½.
    assert residual_variance(table).freedom == pytest.approx(6 / 1.25, rel=0.05)


def test_fit_passes_through_the_origin_and_is_not_extended() -> None:
    speedups = np.array([0.1, 0.2, 0.4, 0.6])
    effect = 0.5 * speedups - 0.2 * speedups**2
    fit = fit_curve(speedups, np.ones(4), effect, np.tile(effect, (10, 1)))
    assert fit.degree == 2
    assert fit.effect[0] == 0
    middle = value_at(fit, 0.5)
    assert middle is not None
    assert middle[0] == pytest.approx(0.2, abs=1e-3)
    assert value_at(fit, 0.75) is None
    assert fit_curve(speedups[:3], np.ones(3), effect[:3], np.tile(effect[:3], (9, 1))).degree == 1


def test_curve_of_steep_effects_stays_finite_when_a_replicate_says_all_the_time() -> None:
    # A loss of several times is fitted as log(1 - effect), and 1 - 1 has no logarithm.
    speedups = np.array([0.2, 0.4, 0.6, 0.8])
    effect = np.array([-1.0, -2.0, -3.0, -4.0])
    replicates = np.tile(effect, (10, 1))
    replicates[:5] = 1.0
    fit = fit_curve(speedups, np.ones(4), effect, replicates)
    assert np.isfinite([fit.effect, fit.low, fit.high]).all()
    assert max(fit.high) <= 1


def test_slope_is_weighted_least_squares() -> None:
    speedups, weights = np.array([0.5, 1.0]), np.array([1.0, 3.0])
    slope = slope_operator(speedups, weights) @ np.array([0.2, 0.1])
    assert slope == pytest.approx((0.1 + 0.3) / (0.25 + 3))
