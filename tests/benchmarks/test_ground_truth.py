"""The arithmetic of `make bench-accuracy`: no program is run here, and nothing is profiled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ground_truth import compare, figure, predict, programs, table, truth
from ground_truth.compare import Comparison, Measured, Results
from ground_truth.predict import Prediction, ProgramPrediction
from ground_truth.programs import Program
from ground_truth.truth import ProgramTruth, Truth


def true(line: str, speedup: int, effect: float) -> Truth:
    return Truth(line, speedup, effect, 0.1, (effect,))


def predicted(line: str, speedup: int, effect: float, half: float = 1.0) -> Prediction:
    return Prediction(line, speedup, effect, effect - half, effect + half, fitted=False)


class TestPrograms:
    def test_marks_are_found_by_name(self) -> None:
        assert programs.marked_lines("x\n  f();  // LINE one\n\ng();  // LINE two\n") == {"one": 2, "two": 4}

    def test_a_mark_must_be_unique(self) -> None:
        with pytest.raises(ValueError, match="two lines are marked one"):
            programs.marked_lines("f();  // LINE one\ng();  // LINE one\n")

    def test_outcome(self) -> None:
        outcome = programs.parse_outcome("line a 3000\nline b 50\nvisits 200 seconds 0.500000\n")
        assert outcome.iterations == {"a": 3000, "b": 50}
        assert outcome.period == pytest.approx(2500)

    def test_slices(self) -> None:
        outcome = programs.parse_outcome(
            "line a 3000\nslice -1 visits 10 seconds 0.075\n"
            "slice 2 visits 12 seconds 0.075 latency_us 80 stolen 0.020\nvisits 200 seconds 0.5\n"
        )
        assert [(one.case, one.visits) for one in outcome.slices] == [(-1, 10), (2, 12)]
        assert outcome.slices[0].period == pytest.approx(7500)
        assert outcome.slices[1].period == 80
        assert [one.stolen for one in outcome.slices] == [0, 0.02]

    def test_a_latency_is_the_period_that_counts(self) -> None:
        assert programs.parse_outcome("visits 200 seconds 0.5 latency_us 812.5").period == 812.5

    @pytest.mark.parametrize("text", ["", "visits 0 seconds 1.0", "visits", "hello\nvisits 1 seconds 1.0"])
    def test_other_output_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"printed|unpack"):
            programs.parse_outcome(text)

    def test_choice_by_name(self) -> None:
        assert [p.name for p in programs.choose(["serial"])] == ["serial"]
        assert programs.choose([]) == list(programs.PROGRAMS)
        with pytest.raises(ValueError, match="no such program: serials"):
            programs.choose(["serials"])


class TestTruth:
    def test_effect_is_against_both_neighbours(self) -> None:
        assert truth.effect_between(100, 88, 120) == pytest.approx(20)

    def test_each_slice_is_compared_with_the_baselines_at_its_sides(self) -> None:
        periods = [(-1, 100), (0, 90), (-1, 100), (1, 60), (-1, 140), (0, 126), (-1, 140), (1, 10)]
        slices = [programs.Slice(1, period / 1e6, None, case) for case, period in periods]
        first, second = ([one.effect for one in found] for found in truth.effects_of(slices, 2))
        assert first == pytest.approx([10, 10])
        assert second == pytest.approx([50])  # the last one has no baseline behind it

    def test_slices_from_which_a_hypervisor_took_are_left_out(self) -> None:
        slices = [
            programs.Slice(1, period / 1e6, None, case, stolen)
            for case, period, stolen in (
                (-1, 100, 0.0),
                (0, 90, 0.0),
                (-1, 100, 0.0),
                (0, 95, 1e-5),
                (-1, 100, 0),
            )
        ]
        (found,) = truth.effects_of(slices, 1)
        assert [one.stolen > 0 for one in found] == [False, True]
        assert truth.undisturbed(found) == pytest.approx([10])

    def test_where_all_is_disturbed_the_least_disturbed_count(self) -> None:
        effects = [truth.Effect(number, number / 10) for number in range(1, 10)]
        assert truth.undisturbed(effects) == [1, 2, 3]
        assert truth.undisturbed([]) == []

    def test_one_odd_slice_does_not_count(self) -> None:
        summary = truth.summarize("a", 25, [10.0, 11.0, 10.5, 90.0, 10.4])
        assert summary.effect == 10.5
        assert summary.spread < 1

    def test_steepest_line_may_be_a_harmful_one(self) -> None:
        truths = ProgramTruth(100, (true("a", 50, 10), true("b", 50, -30), true("a", 75, 80)))
        assert truths.steepest() == "b"

    def test_turns_are_put_together(self) -> None:
        program = Program("serial")
        line = next(iter(program.lines))
        turn = [
            programs.Slice(1, period / 1e6, None, case) for case, period in ((-1, 100), (0, 90), (-1, 100))
        ]
        slower = [
            programs.Slice(1, period / 1e6, None, case) for case, period in ((-1, 200), (0, 160), (-1, 200))
        ]
        every = [
            [
                *turn,
                *(
                    one
                    for case in range(1, len(truth.cases_of(program)))
                    for one in (programs.Slice(1, 1e-4, None, case), programs.Slice(1, 1e-4, None, -1))
                ),
            ]
            for turn in (turn, slower)
        ]
        found = truth.of_turns(program, every)
        assert found.of(line, 25).effects == pytest.approx((10, 20))
        assert found.period == pytest.approx(100)

    def test_settings_are_met_in_turns(self) -> None:
        program = Program("serial")
        settings = truth.Settings(seconds=0.1, slices=40)
        cases = len(truth.cases_of(program))
        assert truth.seconds_of_a_turn(program, settings, 1) == pytest.approx(0.1 * (80 * cases + 3))
        assert truth.seconds_of_a_turn(program, settings, 6) == pytest.approx(0.1 * (14 * cases + 3))


def result(speedups: list[float], fit: list[float]) -> dict[str, Any]:
    return {
        "curve": [
            {"speedup": s, "effect": s / 2, "low": s / 2 - 0.01, "high": s / 2 + 0.01} for s in speedups
        ],
        "fit": {
            "speedup": fit,
            "effect": [s / 4 for s in fit],
            "low": [s / 4 - 0.1 for s in fit],
            "high": [s / 4 + 0.1 for s in fit],
        },
    }


class TestPredict:
    def test_a_measured_speedup_is_taken_as_measured(self) -> None:
        found = predict.prediction("a", 50, result([0, 0.25, 0.5], [0, 0.5]))
        assert found == Prediction("a", 50, pytest.approx(25), pytest.approx(24), pytest.approx(26), False)

    def test_others_are_read_from_the_curve(self) -> None:
        found = predict.prediction("a", 50, result([0, 0.45, 0.7], [0, 0.4, 0.7]))
        assert found == Prediction(
            "a", 50, pytest.approx(12.5), pytest.approx(2.5), pytest.approx(22.5), True
        )

    def test_curves_are_not_extended(self) -> None:
        assert predict.prediction("a", 75, result([0, 0.5], [0, 0.5])) is None

    def test_an_effect_without_an_interval_is_no_prediction(self) -> None:
        values = result([0, 0.5], [0, 0.5])
        values["curve"][1]["high"] = None
        assert predict.prediction("a", 50, values) is None

    def test_lines_are_found_by_file_and_number(self) -> None:
        program = Program("serial")
        number = program.lines["minor"]
        document = {
            "results": [
                {"location": place, "point": "iteration", "kind": "throughput", **result([0, 0.5], [0, 0.5])}
                for place in (f"/a/b/serial.cpp:{number}", f"/a/b/unserial.cpp:{number}", "/a/b/serial.cpp:1")
            ]
        }
        assert [(p.line, p.speedup) for p in predict.predictions_in(document, program)] == [
            ("minor", 25),
            ("minor", 50),
        ]

    def test_prefix_of_a_profile(self) -> None:
        def experiment(start: float) -> str:
            return json.dumps({"type": "experiment", "start": start * 1e9, "duration": 1e9})

        run = json.dumps({"type": "run"})
        samples = [json.dumps({"type": "samples", "duration": d * 1e9}) for d in (5, 12)]
        records = [run, experiment(1), samples[0], experiment(8.5), experiment(9.5), samples[1], "{bro"]
        assert predict.prefix(records, 10) == [run, experiment(1), samples[0], experiment(8.5)]

    def test_runs_of_a_profile_are_one_after_the_other(self) -> None:
        def experiment(start: float) -> str:
            return json.dumps({"type": "experiment", "start": start * 1e9, "duration": 1e9})

        run, samples = json.dumps({"type": "run"}), json.dumps({"type": "samples", "duration": 5e9})
        records = [run, experiment(1), samples, run, experiment(1), experiment(4), samples]
        assert predict.prefix(records, 8) == [run, experiment(1), samples, run, experiment(1)]

    def test_narrow_from_here_to_the_end(self) -> None:
        times = [10, 20, 30, 45]
        assert predict.first_narrow(times, [None, 1.9, 1.5, 1.0]) == 20
        assert predict.first_narrow(times, [1.9, 2.1, 1.5, 1.0]) == 30
        assert predict.first_narrow(times, [1.9, 1.0, 1.0, 2.1]) is None
        assert predict.first_narrow([], []) is None


def example() -> Results:
    truths = (true("a", 25, 10), true("a", 50, 20), true("b", 25, 0), true("b", 50, 0))
    good = (predicted("a", 25, 10.5), predicted("a", 50, 23), predicted("b", 25, -0.5))
    tool = ProgramPrediction(good, experiments=300, seconds=60.0, narrow_after=20.0)
    return Results(60, [Measured("serial", ProgramTruth(1000, truths), {"coz": tool})])


class TestCompare:
    def test_score(self) -> None:
        found = compare.score(example().programs[0].comparisons("coz"))
        assert (found.wanted, found.made) == (4, 3)
        assert found.mean == pytest.approx(4 / 3)
        assert found.largest == pytest.approx(3)
        assert found.coverage == pytest.approx(2 / 3)

    def test_the_truth_itself_is_known_to_its_own_error(self) -> None:
        def covered(spread: float) -> bool | None:
            return Comparison(Truth("a", 25, 12, spread, ()), predicted("a", 25, 10, half=1.0)).covered

        assert not covered(0.0)
        assert not covered(0.5)  # √(1² + 0.98²) is 1.4
        assert covered(1.0)

    def test_nothing_predicted(self) -> None:
        assert compare.score([Comparison(true("a", 25, 1), None)]).made == 0

    def test_survives_json(self, tmp_path: Path) -> None:
        compare.save(tmp_path / "accuracy.json", example())
        assert compare.load(tmp_path / "accuracy.json") == example()


class TestReports:
    def test_table(self) -> None:
        text = table.render(example())
        assert "+20.0 ± 0.1      +23.0  [+22.0, +24.0]     +3.0 !" in text
        assert text.count("no result") == 1
        assert (
            "serial                       3/4   1.33      3.0     67 %       300      20 s  a (+20 at 50 %)"
            in text
        )

    def test_truths_alone(self) -> None:
        results = example()
        results.programs[0].tools.clear()
        assert "a  25 %:  +10.0 ± 0.1   50 %:  +20.0 ± 0.1   (of 1000 µs)" in table.render(results)

    def test_figure(self, tmp_path: Path) -> None:
        figure.write_figure(example(), tmp_path / "accuracy.png")
        assert (tmp_path / "accuracy.png").stat().st_size > 10_000
