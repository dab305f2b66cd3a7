"""Stars of combined windows: lines that were never a main target get them, lines without effect do not."""

from __future__ import annotations

import numpy as np
import pytest
from combined_evidence import analyse_records
from combined_profiles import SHAPES, Measurement, Program

from cozcli.analysis.result import LineResult


def beside(work: np.ndarray) -> np.ndarray:
    """Every other line runs in a thread that nobody waits for."""
    return np.asarray(work[..., 1::2].sum(axis=-1))


def results_of(monkeypatch: pytest.MonkeyPatch, seeds: int, mains: float) -> list[tuple[LineResult, bool]]:
    """All results, and whether the line has an effect."""
    monkeypatch.setitem(SHAPES, "beside", beside)
    found = []
    for seed in range(seeds):
        program = Program("beside", 60, seed)
        number = {program.location(line): line for line in range(program.lines)}
        measured = Measurement(dose=0.1, seed=seed, mains=mains).records(program, 300)
        for result in analyse_records(measured).results:
            found.append((result, number[result.location] % 2 == 1))
    return found


@pytest.mark.parametrize("mains", [0.0, 1.0])
def test_no_more_than_one_star_in_twenty_is_of_a_line_without_effect(
    monkeypatch: pytest.MonkeyPatch, mains: float
) -> None:
    found = results_of(monkeypatch, 6, mains)
    never_main = [(result, has_effect) for result, has_effect in found if result.experiments == 0]
    for chosen in (found, never_main):
        stars = [has_effect for result, has_effect in chosen if result.significant]
        assert len(stars) >= 6
        assert stars.count(False) <= 0.05 * len(stars)
    assert not any(result.contention for result, _ in found)


def test_a_star_says_that_the_adjusted_interval_leaves_out_0(monkeypatch: pytest.MonkeyPatch) -> None:
    for result, _ in results_of(monkeypatch, 1, 0.5):
        leaves_out = result.adjusted_low > 0 or result.adjusted_high < 0
        assert leaves_out == result.significant


def slowest(work: np.ndarray) -> np.ndarray:
    """Each line is a stage of a pipeline of its own."""
    return np.asarray(work.max(axis=-1))


def test_a_curve_that_levels_off_has_a_star(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little is known of how it begins; its windows at large speedups tell all the same."""
    monkeypatch.setitem(SHAPES, "slowest", slowest)
    program = Program("slowest", 3)
    program.work = np.array([1.0, 0.6, 0.3])
    for seed in range(3):
        found = analyse_records(Measurement(seed=seed, noise=0.02).records(program, 200)).results
        assert [result.significant for result in found if result.location == program.location(0)] == [True]
        assert not any(result.significant for result in found if result.location != program.location(0))
