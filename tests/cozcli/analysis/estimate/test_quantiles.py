"""Quantiles of the latency: effects of programs whose distribution is known, and their intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cozcli.analysis.estimate.quantiles import MIN_BLOCKS, estimate_quantiles
from cozcli.analysis.input.durations import Durations, lower_bounds
from cozcli.analysis.input.series import Factor
from cozcli.analysis.result import Quantile

BUCKETS = np.arange(1 + 28 * 64)
MS = 1e6


def bucket_of(durations: np.ndarray) -> np.ndarray:
    return np.asarray(np.searchsorted(lower_bounds(BUCKETS), durations, side="right") - 1)


def measured(
    draw: Callable[[np.random.Generator, float, int], np.ndarray],
    *,
    blocks: int = 30,
    operations: int = 2000,
    speedups: tuple[float, ...] = (0.0, 0.25, 0.5),
    drift: float = 0.1,
    seed: int = 1,
) -> Durations:
    """Windows in which operations take what `draw` says for a speedup; each block is slower by a factor."""
    rng = np.random.default_rng(seed)
    counts, speedup, stratum = [], [], []
    for block in range(blocks):
        slower = np.exp(drift * rng.standard_normal())
        for each in speedups:
            # Windows are not equally long.
            number = int(operations * rng.uniform(0.5, 1.5))
            row = np.bincount(bucket_of(draw(rng, each, number) * slower), minlength=len(BUCKETS))
            counts.append(row)
            speedup.append(each)
            stratum.append(block)
    table = np.array(counts, dtype=np.float64)
    used = np.flatnonzero(table.sum(axis=0))
    return Durations(np.array(speedup), np.array(stratum), used, table[:, used])


def slow_path(rng: np.random.Generator, speedup: float, number: int) -> np.ndarray:
    """One operation of 20 takes ten times as long; only what is slow in it becomes faster."""
    slow = rng.random(number) < 0.05
    usual = 1 * MS * np.exp(0.03 * rng.standard_normal(number))
    return usual + slow * 9 * MS * (1 - speedup)


def test_a_slope_has_a_small_p_value_just_where_its_interval_leaves_out_zero() -> None:
    def draw(rng: np.random.Generator, speedup: float, number: int) -> np.ndarray:
        return np.asarray(MS * (1 - 0.04 * speedup) * np.exp(0.3 * rng.standard_normal(number)))

    known = [
        quantile
        for seed in range(80)
        for quantile in estimate_quantiles(measured(draw, blocks=6, operations=400, seed=seed), (), "x")
    ]
    excluded = [quantile.slope_low > 0 or quantile.slope_high < 0 for quantile in known]
    assert [quantile.p_no_slope < 0.05 for quantile in known] == excluded
    assert 0.1 < np.mean(excluded) < 0.9


def at(quantile: Quantile, speedup: float) -> tuple[float, float, float]:
    point = next(point for point in quantile.curve if point.speedup == speedup)
    return point.effect, point.low, point.high


def test_buckets_begin_where_the_runtime_says() -> None:
    bounds = lower_bounds(np.array([0, 1, 2, 64, 65, 66, 129]))
    assert bounds.tolist() == [0, 1024, 1040, 2032, 2048, 2080, 4096]


def test_a_faster_slow_path_moves_the_tail_alone() -> None:
    p50, p90, p99 = estimate_quantiles(measured(slow_path), (), "line")
    assert (p50.q, p90.q, p99.q) == (0.5, 0.9, 0.99)
    assert at(p50, 0.5)[0] == pytest.approx(0.0, abs=0.005)
    assert at(p90, 0.5)[0] == pytest.approx(0.0, abs=0.005)
    assert at(p99, 0.5)[0] == pytest.approx(0.45, abs=0.01)
    assert at(p99, 0.25)[0] == pytest.approx(0.225, abs=0.01)
    assert p99.baseline == pytest.approx(10 * MS, rel=0.2)
    assert p99.slope == pytest.approx(0.9, abs=0.02)
    assert p99.p_no_slope < 1e-6 < 0.01 < p50.p_no_slope
    effect, low, high = at(p99, 0.5)
    assert low < effect < high
    assert high - low < 0.1


def test_a_block_of_many_slow_operations_is_in_both_sides_alike() -> None:
    """In one block operations are slow, and its baseline window happened to be long."""

    def same(rng: np.random.Generator, speedup: float, number: int) -> np.ndarray:
        return np.exp(0.1 * rng.standard_normal(number)) * MS

    durations = measured(same, blocks=10, drift=0.0)
    slow = Durations(
        durations.speedup, durations.stratum, durations.buckets + 64, durations.counts * 10
    )  # twice as long, and ten times as many
    buckets = np.union1d(durations.buckets, slow.buckets)
    counts = np.zeros((len(durations.speedup), len(buckets)))
    for row, (block, speedup) in enumerate(zip(durations.stratum, durations.speedup, strict=True)):
        of = slow if block == 0 else durations
        factor = 1.0 if block != 0 or speedup == 0 else 0.1
        counts[row, np.searchsorted(buckets, of.buckets)] = of.counts[row] * factor
    found = estimate_quantiles(Durations(durations.speedup, durations.stratum, buckets, counts), (), "line")
    for quantile in found:
        assert at(quantile, 0.5)[0] == pytest.approx(0.0, abs=0.03)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    held = 0
    runs = 60
    for seed in range(runs):
        durations = measured(slow_path, blocks=12, operations=400, seed=seed)
        _, _, p99 = estimate_quantiles(durations, (), str(seed))
        _, low, high = at(p99, 0.5)
        held += low <= 0.45 <= high
    assert held >= 0.85 * runs


def test_corrections_multiply_the_effects() -> None:
    plain = estimate_quantiles(measured(slow_path), (), "line")[2]
    corrected = estimate_quantiles(measured(slow_path), (Factor(0.5, 0.01),), "line")[2]
    assert at(corrected, 0.5)[0] == pytest.approx(0.5 * at(plain, 0.5)[0])


def test_what_too_few_operations_or_blocks_say_is_left_out() -> None:
    few_operations = estimate_quantiles(measured(slow_path, blocks=8, operations=20), (), "line")
    assert [quantile.q for quantile in few_operations] == [0.5, 0.9]
    assert estimate_quantiles(measured(slow_path, blocks=MIN_BLOCKS - 1), (), "line") == ()
    assert estimate_quantiles(measured(slow_path, speedups=(0.0,)), (), "line") == ()
