"""What is said of the lines that a report sums up: which they are, and what they gain together at most."""

from __future__ import annotations

from dataclasses import replace

import pytest
from combined_evidence import analyse_records
from combined_profiles import SHAPES, Measurement, Program

from cozcli.analysis.rank.rest import MANY, MIN_SHOWN, TELLING, divide, sum_up
from cozcli.analysis.result import CurvePoint, Fit, LineResult, Mark, Phase


def small(number: int, high: float = 0.004, share: float | None = 0.01) -> LineResult:
    """A line of combined windows that gains `high` at most at 25 %."""
    at_rest, told = CurvePoint(0.0, 0.0, 0.0, 0.0, 0), CurvePoint(TELLING, high / 2, -high / 4, high, 0)
    return LineResult(
        f"/a.c:{number}", "f", "request", "throughput", 0.1, 0.0, 0.2, 0.0, 0.2, False, False, Phase(),
        (at_rest, told), Fit(2, (), (), (), ()), is_combined=True, share=share, samples=10_000.0,
    )  # fmt: skip


def test_lines_that_are_certain_not_to_matter_are_the_rest_where_there_are_many() -> None:
    many = [small(number) for number in range(MANY + 7)]
    many[7] = replace(many[7], significant=True)
    many[8] = replace(many[8], marks=(Mark.CORES,))
    many[11] = replace(many[11], marks=(Mark.FEW_DATA,))  # but its share says enough
    many[9] = small(9, high=0.02)
    many[10] = replace(many[10], is_combined=False)
    shown, rest = divide(many)
    assert shown == (*many[:MIN_SHOWN], *many[7:11])
    assert len(shown) + len(rest) == len(many)
    assert divide(many[:MANY]) == (tuple(many[:MANY]), ())


def test_of_few_lines_those_that_change_nothing_are_the_rest_but_not_the_first() -> None:
    few = [small(0, high=0.0002), small(1, high=0.0002), small(2)]
    assert divide(few) == ((few[0], few[2]), (few[1],))


def test_together_is_the_sum_of_what_each_gains_at_most() -> None:
    found = sum_up([small(1, 0.001), small(2, 0.002), small(3, -0.001)])
    assert found is not None
    assert found.targets == 3
    assert found.gain == pytest.approx(0.002)
    assert found.together == pytest.approx(0.003)


def test_together_is_no_more_than_their_share_of_the_time_allows() -> None:
    results = [small(number, 0.009) for number in range(40)]
    found = sum_up(results)
    assert found is not None
    # 0.4 of the time at 25 %, with the slack of a bound, which counts once; 36 % is the sum.
    assert 0.1 < found.together < 0.13
    unknown = sum_up([replace(results[0], share=None), *results[1:]])
    latency = sum_up([replace(result, kind="latency") for result in results])
    assert unknown is not None
    assert latency is not None
    assert unknown.together == latency.together == pytest.approx(0.36)


def test_points_and_loads_are_not_added_up() -> None:
    results = [small(1), replace(small(1), point="other"), replace(small(1), arrival_speedup=5)]
    found = sum_up(results)
    assert found is not None
    assert found.targets == 1
    assert found.together == pytest.approx(0.004)
    assert sum_up([]) is None


@pytest.mark.parametrize("shape", SHAPES)
def test_what_they_really_gain_together_is_not_more(shape: str) -> None:
    program = Program(shape, 60, 2)
    results = analyse_records(Measurement(dose=0.1, seed=2).records(program, 300)).results
    _, rest = divide(results)
    assert len(rest) > 15
    found = sum_up(rest)
    assert found is not None
    number = {program.location(line): line for line in range(program.lines)}
    work = program.work.copy()
    for result in rest:
        work[number[result.location]] *= 1 - TELLING
    assert 1 - float(SHAPES[shape](work)) <= found.together < 0.25
