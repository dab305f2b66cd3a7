"""Effects of all targets from combined windows, against programs whose truth is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from combined_evidence import analyse_records
from combined_profiles import SHAPES, Measurement, Program

from cozcli.analysis.estimate.shape import effect_at
from cozcli.analysis.result import Analysis, LineResult, Mark
from cozcli.profile.profile import load_profile

SHOWN = (0.25, 0.5, 0.75)


def by_line(program: Program, analysis: Analysis) -> dict[int, LineResult]:
    number = {program.location(line): line for line in range(program.lines)}
    return {number[result.location]: result for result in analysis.results}


def with_work(shape: str, *work: float) -> Program:
    """A program of chosen shares."""
    program = Program(shape, len(work))
    program.work = np.array(work) / SHAPES[shape](np.array(work))
    return program


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("lines", "windows"), [(10, 300), (60, 300), (300, 500)])
def test_intervals_hold_the_truth(shape: str, lines: int, windows: int) -> None:
    held, errors, near = [], [], []
    for seed in range({10: 6, 60: 2, 300: 1}[lines]):
        program = Program(shape, lines, seed)
        results = by_line(program, analyse_records(Measurement(seed=seed).records(program, windows)))
        # A large line is no companion, and may never have been main.
        assert len(results) >= lines - 1 - lines // 50
        for line, result in results.items():
            for speedup in SHOWN:
                effect, truth = effect_at(result, speedup), program.truth(line, speedup)
                assert effect is not None
                held.append(effect.low <= truth <= effect.high)
                errors.append(effect.effect - truth)
                near.append(effect.half < 0.03)
    assert np.mean(held) >= 0.9
    assert np.sqrt(np.mean(np.square(errors))) < 0.015
    assert np.mean(near) > 0.8


def test_too_few_windows_for_companions_tell_of_main_targets() -> None:
    program = Program("serial", 10)
    records = Measurement().records(program, 300)
    first = next(r["location"] for r in records if r["type"] == "experiment")
    few = [r for r in records if r["type"] != "experiment" or (r["block"] == 0 and r["speedup"] <= 0.5)]
    results = analyse_records(few).results
    assert [result.location for result in results] == [first]


def test_few_of_the_starred_lines_have_no_effect() -> None:
    stars = false = 0
    for seed in range(3):
        program = Program("pipeline", 60, seed)
        for line, result in by_line(
            program, analyse_records(Measurement(seed=seed, dose=0.1).records(program, 300))
        ).items():
            stars += result.significant
            false += result.significant and program.truth(line, 0.5) < 0.001
    assert stars > 5
    assert false <= 0.1 * stars


def test_a_line_that_runs_rarely_cannot_gain_much_whatever_was_measured() -> None:
    program = with_work("serial", 0.004, *[0.0996] * 10)
    records = Measurement().records(program, 40)
    result = by_line(program, analyse_records(records))[0]
    assert result.bound is not None
    assert result.bound < 0.02
    for point in (*result.curve, *by_line(program, analyse_records(records))[0].curve):
        assert point.effect <= point.high <= result.bound * point.speedup + 1e-12
        assert point.low > -0.02
    assert max(result.fit.high) <= result.bound + 1e-12
    assert max(result.slope_high, result.adjusted_high) <= result.bound + 1e-12


def test_what_is_beyond_the_share_is_marked_and_cut() -> None:
    """Samples of one line are lost, as of one whose time is in calls that are not sampled."""
    program = with_work("serial", *[0.05] * 20)
    records = Measurement().records(program, 900)
    location = program.location(0)
    number = next(r["number"] for r in records if r["type"] == "target" and r["location"] == location)
    for record in records:
        if record["type"] == "experiment":
            record["hits"] //= 10 if record["location"] == location else 1
            for companion in record["companions"]:
                companion[2] //= 10 if companion[0] == number else 1
    records[-1]["lines"][0]["count"] //= 10
    analysis = analyse_records(records)
    result = by_line(program, analysis)[0]
    assert Mark.BEYOND_SHARE in result.marks
    assert result.bound is not None
    assert result.slope <= result.bound < 0.02
    others = [r for r in analysis.results if r.location != location]
    assert sum(Mark.BEYOND_SHARE in r.marks for r in others) <= 1


@pytest.mark.parametrize("saved", [0.9, 0.97])
def test_a_latency_may_fall_by_more_than_the_time_of_its_line(saved: float) -> None:
    """Behind a queue that a faster line keeps empty, from a speedup of 50 % on."""
    program = with_work("serial", *[0.05] * 20)
    records = Measurement().records(program, 900)
    rng = np.random.default_rng(1)
    for record in records:
        if record["type"] != "experiment":
            continue
        speedup = record["speedup"] if record["location"] == program.location(0) else 0.0
        latency = 2e7 * (1 - saved * min(2 * speedup, 1.0)) * np.exp(0.03 * rng.standard_normal())
        point = record["points"][0]
        arrivals, elapsed = point["visits"], point["elapsed"]
        record["points"] = [
            {"name": "request", "kind": "latency", "arrivals": arrivals, "departures": arrivals}
            | {"elapsed": elapsed, "in_progress": latency * arrivals / elapsed}
        ]
    result = by_line(program, analyse_records(records))[0]
    effects = {point.speedup: point for point in result.curve}
    assert effects[0.5].effect == pytest.approx(saved, abs=0.1)
    assert effects[0.75].effect == pytest.approx(saved, abs=0.025)
    assert effects[0.5].low < effects[0.5].high <= 1
    assert effects[0.75].low < min(saved + 0.01, effects[0.75].high)
    assert result.bound is None
    assert 1 < result.slope < result.slope_high <= result.adjusted_high + 1e-12
    assert Mark.BEYOND_SHARE not in result.marks


def test_a_line_that_does_harm_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def harmful(work: np.ndarray) -> np.ndarray:
        return np.asarray(work[..., 1:].sum(axis=-1) - work[..., 0])

    monkeypatch.setitem(SHAPES, "harmful", harmful)
    program = with_work("harmful", 0.15, *[0.05] * 23)
    analysis = analyse_records(Measurement(dose=0.1).records(program, 600))
    results = by_line(program, analysis)
    assert results[0].contention
    assert results[0].slope == pytest.approx(-0.15, abs=0.05)
    assert not any(result.contention for line, result in results.items() if line)


def test_every_line_has_effects_at_three_speedups_however_obtained() -> None:
    program = Program("serial", 60)
    analysis = analyse_records(Measurement().records(program, 160))
    measured = 0
    for result in analysis.results:
        points = {point.speedup: point for point in result.curve}
        assert {0.0, *SHOWN} <= points.keys()
        assert all(points[s].low <= points[s].effect <= points[s].high for s in SHOWN)
        measured += points[0.5].experiments > 0
        effect = effect_at(result, 0.5)
        assert effect is not None
        assert effect.measured == (points[0.5].experiments > 0)
        assert result.companion_windows > 0 or points[0.5].experiments > 0
    assert 0 < measured < len(analysis.results)


def test_a_large_line_without_a_window_is_told_from_its_share() -> None:
    program = with_work("serial", 0.7, 0.2, 0.06, 0.04)
    records = Measurement().records(program, 300)
    never = program.location(1)
    others = [record for record in records if record.get("location") != never]
    result = by_line(program, analyse_records(others))[1]
    effect = effect_at(result, 0.5)
    assert effect is not None
    assert not effect.measured
    assert effect.low <= program.truth(1, 0.5) <= effect.high <= result.bound
    assert Mark.FEW_DATA in result.marks
    assert not result.significant


def test_windows_without_a_main_target_tell_of_all_lines() -> None:
    program = Program("serial", 60)
    results = by_line(program, analyse_records(Measurement(mains=0).records(program, 300)))
    assert len(results) > 50
    for line, result in results.items():
        effect = effect_at(result, 0.5)
        assert effect is not None
        assert effect.low <= program.truth(line, 0.5) <= effect.high


def test_windows_of_other_targets_improve_a_line() -> None:
    program = Program("serial", 60)
    records = Measurement().records(program, 600)
    few = records[: len(records) // 4]
    narrow, wide = (by_line(program, analyse_records(r)) for r in (records, [*few, records[-1]]))
    for line in narrow.keys() & wide.keys():
        pair = [effect_at(results[line], 0.5) for results in (narrow, wide)]
        assert pair[0] is not None
        assert pair[1] is not None
        assert pair[0].half < pair[1].half * 1.05


def test_runs_of_either_kind_are_one_profile() -> None:
    program = Program("serial", 20)
    single = Measurement(dose=0.0, seed=2).records(program, 160)
    combined = Measurement(seed=3).records(program, 160)
    alone, both = (by_line(program, analyse_records(*runs)) for runs in ([combined], [combined, single]))
    assert len(both) == 20
    halves = [
        [float(np.mean([e.half for r in of.values() if (e := effect_at(r, 0.5))]))] for of in (alone, both)
    ]
    assert halves[1] < halves[0]


def test_a_bent_curve_of_a_main_target_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    def two_threads(work: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(work[..., 0] + work[..., 2:].sum(axis=-1), work[..., 1] + 0.3))

    monkeypatch.setitem(SHAPES, "bent", two_threads)
    program = with_work("bent", 0.6, 0.3, *[0.04] * 10)
    results = by_line(program, analyse_records(Measurement(noise=0.02).records(program, 600)))
    for speedup in (0.25, 0.5, 0.75, 1.0):
        effect = effect_at(results[0], speedup)
        assert effect is not None
        assert effect.effect == pytest.approx(program.truth(0, speedup), abs=0.035)
    assert program.truth(0, 1.0) < 0.45


def test_results_do_not_depend_on_the_order_of_runs() -> None:
    program = Program("join", 20)
    runs = [Measurement(seed=seed).records(program, 80) for seed in (1, 2)]
    first, second = (by_line(program, analyse_records(*of)) for of in (runs, runs[::-1]))
    for line, result in first.items():
        assert result.slope == pytest.approx(second[line].slope, rel=1e-3, abs=1e-6)


def spoiled(change: Callable[[dict[str, Any]], None]) -> list[dict[str, Any]]:
    records = Measurement().records(Program("serial", 10), 160)
    for record in records:
        if record["type"] == "experiment":
            change(record)
    return records


def test_one_wild_window_in_twenty_changes_little() -> None:
    def spoil(record: dict[str, Any]) -> None:
        if record["start"] // 200_000_000 % 20 == 7:
            record["points"][0]["elapsed"] *= 2

    program = Program("serial", 10)
    for line, result in by_line(program, analyse_records(spoiled(spoil))).items():
        effect = effect_at(result, 0.5)
        assert effect is not None
        assert effect.effect == pytest.approx(program.truth(line, 0.5), abs=0.04)


def test_windows_with_companions_whose_record_is_lost_are_left_out(tmp_path: Path) -> None:
    number = 0

    def spoil(record: dict[str, Any]) -> None:
        nonlocal number
        number += 1
        if number % 10 == 0:
            record["companions"].append([999, 0.5, 3])

    program = Program("serial", 10)
    records = spoiled(spoil)
    assert len(by_line(program, analyse_records(records))) >= 9
    path = tmp_path / "p.coz"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    profile = load_profile([str(path)])
    assert profile.experiments == number - number // 10
    (warning,) = profile.warnings
    assert f"{number // 10} experiments left out" in warning.text
