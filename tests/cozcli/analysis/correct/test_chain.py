"""The chain of corrections: each does what it says, and can be taken out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from synthetic import Line, Model, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.correct.achieved_speedup import AchievedSpeedup
from cozcli.analysis.correct.chain import CORRECTIONS
from cozcli.analysis.correct.machine_speed import MachineSpeed
from cozcli.analysis.correct.overhead import OverheadOfSamples
from cozcli.analysis.correct.phase import PhaseOfLine
from cozcli.analysis.correct.protocol import Correction
from cozcli.analysis.correct.queue_flow import QueueFlow
from cozcli.analysis.result import LineResult
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records

SPEEDUPS = (0.25, 0.5, 0.75)


def profile(share: float = 1.0, **options: Any) -> Profile:
    """A line that takes 40 % of the time."""
    line = Line("/a.c:1", lambda s: 0.4 * s, share=share, rate=0.1e-6)
    other = Line("/a.c:2", lambda s: 0.0)
    model = Model([line, other], speedups=SPEEDUPS, per_block=3, **options)
    lines = to_bytes(model.records(32)).splitlines(keepends=True)
    return Profile(collect_runs(read_records(lines, ReadProblems()), "x"), ["x"])


def result_of(profile: Profile, without: type | None = None) -> LineResult:
    chain: list[Correction] = [each for each in CORRECTIONS if without is None or type(each) is not without]
    results = analyse(profile, corrections=chain).results
    return next(result for result in results if result.location == "/a.c:1")


def half_width(result: LineResult) -> float:
    return float(np.mean([point.high - point.low for point in result.curve[1:]])) / 2


def test_the_order_is_that_of_the_list() -> None:
    kinds = [type(each) for each in CORRECTIONS]
    assert kinds == [QueueFlow, MachineSpeed, AchievedSpeedup, OverheadOfSamples, PhaseOfLine]


@pytest.mark.parametrize("without", [type(each) for each in CORRECTIONS])
def test_on_an_ideal_machine_no_correction_matters(without: type) -> None:
    ideal = profile(noise=0.005)
    assert result_of(ideal, without).slope == pytest.approx(result_of(ideal).slope, abs=0.02)


def test_without_the_machine_speed_intervals_are_wider() -> None:
    disturbed = profile(disturbed=0.4, noise=0.01)
    assert half_width(result_of(disturbed)) < 0.5 * half_width(result_of(disturbed, MachineSpeed))


def test_without_the_achieved_speedup_points_scatter_more() -> None:
    corrected, plain = [], []
    for seed in range(6):
        by_chance = profile(chance=True, noise=0.005, seed=seed)
        corrected += [point.effect - 0.4 * point.speedup for point in result_of(by_chance).curve]
        plain += [point.effect - 0.4 * point.speedup for point in result_of(by_chance, AchievedSpeedup).curve]
    assert np.std(corrected) < np.std(plain)


def test_without_the_overhead_effects_are_smaller_by_its_factor() -> None:
    slowed = profile(references=True, slowdown=1.25, sample_cost=30_000, noise=0.005)
    ratio = result_of(slowed).slope / result_of(slowed, OverheadOfSamples).slope
    assert ratio == pytest.approx(1.25 * 0.97, rel=0.03)
    assert half_width(result_of(slowed)) > half_width(result_of(slowed, OverheadOfSamples))


def test_without_the_phase_effects_are_those_while_the_line_runs() -> None:
    in_phases = profile(share=0.3, noise=0.005)
    corrected, plain = result_of(in_phases), result_of(in_phases, PhaseOfLine)
    assert plain.slope == pytest.approx(0.4, rel=0.05)
    assert corrected.slope == pytest.approx(corrected.phase.factor * plain.slope)
    assert corrected.phase.factor < 0.7
    assert plain.phase.factor == 1


def test_no_correction_at_all() -> None:
    assert analyse(profile(noise=0.005), corrections=()).overheads == {}
