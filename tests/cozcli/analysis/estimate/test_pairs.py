"""Pairs of targets that help only together, against programs whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from combined_evidence import analyse_records
from combined_profiles import SHAPES, Measurement, Program

from cozcli.analysis.estimate.shape import effect_at
from cozcli.analysis.rank.result_filter import ResultFilter
from cozcli.analysis.result import Analysis, Pair

SMALL = [0.001] * 12


def with_work(shape: str, work: Sequence[float]) -> Program:
    program = Program(shape, len(work))
    program.work = np.array(work) / SHAPES[shape](np.array(work))
    return program


def truth_of(program: Program, first: int, second: int) -> float:
    work = program.work.copy()
    work[[first, second]] *= 0.5
    both = float(1 - SHAPES[program.shape](work))
    return both - program.truth(first, 0.5) - program.truth(second, 0.5)


def profile(program: Program, seed: int, windows: int = 300, pairs: float = 0.25) -> Analysis:
    return analyse_records(Measurement(seed=seed, pairs=pairs).records(program, windows))


def lines_of(program: Program, pair: Pair) -> tuple[int, int]:
    numbers = {program.location(line): line for line in range(program.lines)}
    return numbers[pair.locations[0]], numbers[pair.locations[1]]


# Left thread: even lines; right thread: odd ones.
JOINS = {"balanced": [0.95, 0.95], "6 to 5": [1.2, 1.0]}


@pytest.mark.parametrize("name", JOINS)
def test_two_threads_that_wait_for_each_other_are_found_with_what_they_save(name: str) -> None:
    program = with_work("join", [*JOINS[name], *SMALL])
    truth, held = truth_of(program, 0, 1), []
    for seed in range(8):
        (pair,) = profile(program, seed).pairs
        assert sorted(lines_of(program, pair)) == [0, 1]
        assert pair.effect == pytest.approx(truth, abs=0.05)
        assert pair.low < pair.effect < pair.high
        assert pair.speedup == 0.5
        held.append(pair.low <= truth <= pair.high)
        for each, alone in zip(lines_of(program, pair), pair.alone, strict=True):
            assert alone == pytest.approx(program.truth(each, 0.5), abs=0.04)
        assert pair.alone[0] >= pair.alone[1]
    assert np.mean(held) >= 0.75


@pytest.mark.parametrize("name", JOINS)
def test_effects_of_single_lines_are_those_of_each_alone(name: str) -> None:
    program = with_work("join", [*JOINS[name], *SMALL])
    held = []
    for seed in range(6):
        for result in profile(program, seed).results:
            line = int(result.location.rpartition(":")[2]) - 1
            effect = effect_at(result, 0.5)
            assert effect is not None
            assert effect.effect == pytest.approx(program.truth(line, 0.5), abs=0.04)
            held.append(effect.low <= program.truth(line, 0.5) <= effect.high)
    assert np.mean(held) >= 0.9


def test_two_stages_of_a_pipeline_are_a_pair_and_the_third_is_in_none() -> None:
    program = with_work("pipeline", [0.9, 0.8, 0.4, *SMALL])
    found = [sorted(lines_of(program, pair)) for seed in range(6) for pair in profile(program, seed).pairs]
    assert found.count([0, 1]) == 6
    assert len(found) <= 7


def test_what_adds_up_is_no_pair() -> None:
    program = with_work("serial", [0.4, 0.3, 0.2, *[0.01] * 10])
    with_pairs = sum(bool(profile(program, seed).pairs) for seed in range(20))
    assert with_pairs <= 3  # one of 20 by chance; more than three, once in 60 times


@pytest.mark.parametrize("pairs", [0.0, 0.25])
def test_programs_of_many_small_lines_have_no_pairs(pairs: float) -> None:
    for seed in range(3):
        assert not profile(Program("serial", 60, seed), seed, 600, pairs).pairs


def test_windows_of_single_lines_say_nothing_of_large_pairs() -> None:
    program = with_work("join", [*JOINS["balanced"], *SMALL])
    assert not profile(program, 1, pairs=0.0).pairs


def test_a_companion_that_helps_only_once_a_large_line_is_faster_is_found() -> None:
    """The right thread is one line of a tenth of the time in each of several places."""
    program = with_work("join", [1.2, *[0.08, 0.001] * 12, 0.08])
    found = [pair for seed in range(4) for pair in profile(program, seed, windows=1600, pairs=0.0).pairs]
    right = [pair for pair in found if sorted(lines_of(program, pair))[0] == 0]
    assert len(right) >= 4
    assert all(pair.effect > 0 for pair in right)
    assert len(found) - len(right) <= 1


def test_filters_select_pairs_by_either_line() -> None:
    program = with_work("join", [*JOINS["balanced"], *SMALL])
    records = Measurement(seed=1, pairs=0.25).records(program, 300)
    for line, number in ((0, 1), (1, 1), (2, 0)):
        chosen = ResultFilter(line=program.location(line))
        assert len(analyse_records(records, result_filter=chosen).pairs) == number
