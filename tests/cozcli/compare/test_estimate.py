"""Statistics of paired runs: intervals, verdicts, and what they promise over many comparisons."""

import math
import tracemalloc

import numpy as np
import pytest

from cozcli.compare.estimate import _WalshAverages, estimate, half_width, signed_rank_p
from cozcli.compare.result import MIN_PAIRS


def pairs_of(differences):
    """Pairs whose logarithms of B / A are `differences`; the machine's speed changes from pair to pair."""
    return [
        (speed, speed * math.exp(d))
        for speed, d in zip(np.linspace(1, 2, len(differences)), differences, strict=True)
    ]


def test_six_pairs_give_their_extremes():
    """P(all signs equal) = 2 · 2⁻⁶ = 3.1 %: the interval is the range of the six."""
    found = estimate(pairs_of([0.01, 0.02, 0.03, 0.05, 0.06, 0.07]), 0.01)
    assert (math.log(found.low), math.log(found.high)) == pytest.approx((0.01, 0.07))
    assert math.log(found.ratio) == pytest.approx(0.04)
    assert found.p == pytest.approx(2 / 64)
    assert (found.verdict, found.pairs, found.probability_faster) == ("slower", 6, 0)


def test_interval_of_ten_pairs_is_that_of_the_tables():
    """Of the 55 Walsh averages, 8 are left out at either end (P(T ≤ 8) = 0.0244)."""
    differences = np.array([0.3, -0.1, 0.9, 1.3, 2.1, 2.2, -0.7, 0.55, 1.7, 0.05]) / 100
    walsh = sorted((a + b) / 2 for i, a in enumerate(differences) for b in differences[i:])
    found = estimate(pairs_of(differences), 0.01)
    assert math.log(found.low) == pytest.approx(walsh[8])
    assert math.log(found.high) == pytest.approx(walsh[-9])


@pytest.mark.parametrize("decimals", [16, 2])
@pytest.mark.parametrize("pairs", [6, 7, 61])
def test_averages_are_counted_as_if_they_were_sorted(pairs, decimals):
    differences = np.round(np.random.default_rng(pairs).normal(0, 0.02, pairs), decimals)
    first, second = np.triu_indices(pairs)
    walsh = np.sort((differences[first] + differences[second]) / 2)
    found = _WalshAverages(differences)
    assert found.median() == pytest.approx(np.median(walsh), abs=1e-15)
    for rank in (0, 1, len(walsh) // 3, len(walsh) - 1):
        assert found.smallest(rank) == pytest.approx(walsh[rank], abs=1e-15)


def test_thousands_of_pairs_take_little_memory():
    """50 million averages would take gigabytes."""
    pairs = pairs_of(np.random.default_rng(1).normal(0.02, 0.02, 10_000))
    tracemalloc.start()
    try:
        found = estimate(pairs, 0.01)
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    assert found.low < 1.0202 < found.high


def test_too_few_pairs_are_an_error():
    pairs = pairs_of([0.01] * (MIN_PAIRS - 1))
    assert half_width(pairs) == math.inf
    with pytest.raises(ValueError, match="too few"):
        estimate(pairs, 0.01)


@pytest.mark.parametrize(
    ("shift", "noise", "verdict"),
    [
        (-0.03, 0.005, "faster"),
        (0.03, 0.005, "slower"),
        (0.0, 0.005, "equivalent"),
        (0.004, 0.002, "equivalent"),
        (0.0, 0.1, "inconclusive"),
    ],
)
def test_verdicts(shift, noise, verdict):
    differences = shift + noise * np.random.default_rng(1).standard_normal(30)
    assert estimate(pairs_of(differences), 0.01).verdict == verdict


def test_equal_runs_are_equivalent():
    found = estimate([(1.0, 1.0)] * 10, 0.01)
    assert (found.ratio, found.p, found.probability_faster, found.verdict) == (1, 1, 0.5, "equivalent")


def test_zeros_and_ties_have_a_p_value():
    assert signed_rank_p(np.array([0, 0, 1, 1, 1, 2, 2, 2, 3, 3])) < 0.05


@pytest.mark.parametrize("pairs", [6, 12, 30, 70])
@pytest.mark.parametrize("tails", [2, 100])
def test_intervals_hold_the_truth(pairs, tails):
    """95 %, whatever the tails; of 2,000 comparisons a share below 93.5 % has a probability of 0.2 %."""
    generator = np.random.default_rng(pairs)
    held = 0
    for _ in range(2000):
        found = estimate(pairs_of(0.02 + 0.01 * generator.standard_t(tails, pairs)), 0.01)
        held += math.log(found.low) <= 0.02 <= math.log(found.high)
    assert held / 2000 > 0.935


def test_the_detectable_difference_is_detected_in_four_of_five():
    generator = np.random.default_rng(3)
    noise, pairs = 0.01, 20
    detectable = np.mean(
        [
            estimate(pairs_of(noise * generator.standard_normal(pairs)), 0.01).minimum_detectable
            for _ in range(200)
        ]
    )
    verdicts = [
        estimate(pairs_of(detectable + noise * generator.standard_normal(pairs)), 0.0001).verdict
        for _ in range(500)
    ]
    assert verdicts.count("slower") / 500 == pytest.approx(0.8, abs=0.06)
