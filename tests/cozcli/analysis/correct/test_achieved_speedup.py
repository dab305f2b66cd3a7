"""Chance in sampling, taken out: against profiles in which the target samples of a window make its effect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from synthetic import Line, Model, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.correct.achieved_speedup import AchievedSpeedup, correct_for_achieved_speedup
from cozcli.analysis.correct.chain import CORRECTIONS
from cozcli.analysis.input.series import make_series
from cozcli.analysis.input.windows import usable_windows
from cozcli.analysis.result import Analysis
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records

#: 40 target samples in a window: their number varies by 16 %.
LINES = [
    Line("/a.c:1", lambda s: 0.4 * s, rate=0.1e-6),
    Line("/a.c:2", lambda s: 0.1 * s, rate=0.1e-6),
    Line("/a.c:3", lambda s: 0.0, rate=0.1e-6),
]
SPEEDUPS = (0.1, 0.25, 0.4, 0.5, 0.75, 1.0)


def records_of(seed: int, blocks: int, chance: bool = True) -> list[dict[str, Any]]:
    model = Model(
        LINES, chance=chance, noise=0.01, seed=seed, speedups=SPEEDUPS, per_block=len(SPEEDUPS), drift=0.05
    )
    return model.records(blocks * len(LINES))


def profile_of(records: list[dict[str, Any]]) -> Profile:
    lines = to_bytes(records).splitlines(keepends=True)
    return Profile(collect_runs(read_records(lines, ReadProblems()), "x"), ["x"])


def profile(seed: int, blocks: int, chance: bool = True) -> Profile:
    return profile_of(records_of(seed, blocks, chance))


def errors_of(analysis: Analysis) -> list[float]:
    truth = {line.location: line.effect for line in LINES}
    return [p.effect - truth[r.location](p.speedup) for r in analysis.results for p in r.curve[1:]]


#: All corrections but this one.
OTHERS = [each for each in CORRECTIONS if not isinstance(each, AchievedSpeedup)]


def test_chance_is_taken_out() -> None:
    corrected = [error for seed in range(10) for error in errors_of(analyse(profile(seed, 6)))]
    plain = [
        error for seed in range(10) for error in errors_of(analyse(profile(seed, 6), corrections=OTHERS))
    ]
    assert np.std(corrected) < 0.95 * np.std(plain)  # what is left is mostly the samples of all windows
    assert abs(np.mean(corrected)) < 0.003


@pytest.mark.parametrize("chance", [True, False])
@pytest.mark.parametrize("blocks", [4, 8])
def test_intervals_keep_their_coverage(blocks: int, chance: bool) -> None:
    truth = {line.location: line.effect for line in LINES}
    covered = [
        p.low <= truth[r.location](p.speedup) <= p.high
        for seed in range(25)
        for r in analyse(profile(seed, blocks, chance)).results
        for p in r.curve[1:]
    ]
    assert np.mean(covered) >= 0.9


def test_samples_that_make_no_difference_change_nothing() -> None:
    analysed = profile(1, 6, chance=False)
    corrected = errors_of(analyse(analysed))
    plain = errors_of(analyse(analysed, corrections=OTHERS))
    assert np.abs(np.array(corrected) - np.array(plain)).max() < 0.01


def test_threads_of_a_pool_run_at_once_less_often_under_a_speedup() -> None:
    """Samples of three threads at once cause the delay of one."""
    records = records_of(1, 6)
    for record in records:
        if record["type"] == "experiment":
            record["hits"] = round((3 - 2 * record["speedup"]) * record["hits"])
    analysed = profile_of(records)
    corrected = errors_of(analyse(analysed))
    plain = errors_of(analyse(analysed, corrections=OTHERS))
    assert np.abs(np.array(corrected) - np.array(plain)).max() < 0.006


def test_too_few_windows_are_left_alone() -> None:
    analysed = profile(1, 1)
    corrected = errors_of(analyse(analysed))
    assert errors_of(analyse(analysed, corrections=OTHERS)) == corrected


def test_waits_are_charged_without_chance_and_stay_as_they_are() -> None:
    """Some waiting for each visit is shared at high speedups: to the correction that would be chance."""
    effects = []
    for location in ("wait /a.c:1", "/a.c:1"):
        records = records_of(1, 6)
        for record in records:
            if record.get("location") != "/a.c:1":
                continue
            record["location"] = location
            if record["speedup"] == 1.0:
                record["hits"] *= 2
        made = profile_of(records)
        found = [
            {r.location: r.curve for r in analyse(made, corrections=each).results}[location]
            for each in (CORRECTIONS, OTHERS)
        ]
        effects.append([[point.effect for point in curve] for curve in found])
    waits, lines = effects
    assert waits[0] == waits[1]
    assert lines[0] != lines[1]


def test_windows_of_slow_moments_are_weighted_down_once() -> None:
    """As MachineSpeed leaves them: their times are less already."""
    windows = usable_windows(profile(1, 6).runs).by_target["/a.c:2"]
    (series,) = make_series("/a.c:2", windows)
    weight = np.random.default_rng(1).uniform(0.05, 1, len(windows))
    numerator, denominator, time = (
        each * weight for each in (series.numerator, series.denominator, series.time)
    )
    shorter = replace(series, numerator=numerator, denominator=denominator, time=time)
    corrected = correct_for_achieved_speedup(shorter).numerator
    assert correct_for_achieved_speedup(replace(shorter, weight=weight)).numerator == pytest.approx(corrected)
    assert corrected != pytest.approx(numerator)


@pytest.mark.parametrize("part", [0.54, 0.2])
def test_visits_that_other_threads_make_without_the_line_are_no_chance(part: float) -> None:
    """One of two threads runs the line all the time. At 100 % hardly any effective time is left. What lies
    between visits, by the clock of another thread, is no part of it.
    """
    windows = usable_windows(profile(1, 8).runs).by_target["/a.c:1"]
    (series,) = make_series("/a.c:1", windows)
    chance = np.random.default_rng(1).normal(0, 0.02, len(series.speedup))
    delay = np.minimum(series.speedup * (1 + chance), 0.99999)
    effective = 150e6 * (1 - delay)
    independent = replace(
        series,
        numerator=np.maximum(effective, 2e6),
        time=effective,
        effective=effective,
        denominator=150e6 * (part + (1 - part) * (1 - series.speedup)) / 275e3,
        target_share=1 / (1 - delay),
        delay_share=delay / (1 - delay),
    )
    corrected = correct_for_achieved_speedup(independent)
    periods = corrected.numerator / corrected.denominator
    for speedup in (0.1, 0.25, 0.4, 0.5, 0.75):
        period = periods[series.speedup == speedup].mean()
        assert period == pytest.approx(275e3 / (part / (1 - speedup) + 1 - part), rel=0.03)
    assert np.prod([factor.relative_error for factor in corrected.factors]) < 0.1
