"""The arithmetic of the case studies: nothing is fetched, built or run here."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import perf
import pytest
import report
import run
import sampled
import study
from gain import gain, rank_sums
from study import Change, Run, Study

CURVE = {
    "location": "util/crc32c.cc:app::Extend(char const*)",
    "function": "app::Extend",
    "fit": {
        "speedup": [0.0, 0.5, 1.0],
        "effect": [0.0, 0.10, 0.12],
        "low": [0.0, 0.06, 0.02],
        "high": [0.0, 0.14, 0.22],
    },
}
CHANGE = Change("fast", "fast.diff", "a fast one", target="app::Extend", symbols=("app::Extend",))


class TestGain:
    def test_rates_that_double_save_half_of_the_time(self) -> None:
        found = gain([100.0] * 12, [200.0] * 12)
        assert found.effect == pytest.approx(0.5)
        assert (found.low, found.high) == pytest.approx((0.5, 0.5))
        assert found.significant
        assert (found.before, found.after, found.pairs) == (100, 200, 12)

    def test_drift_that_both_share_cancels(self) -> None:
        drift = [100.0, 150.0, 220.0, 90.0, 60.0, 180.0]
        assert gain(drift, [rate * 1.25 for rate in drift]).effect == pytest.approx(0.2)

    def test_a_loss_is_negative(self) -> None:
        assert gain([100.0] * 8, [80.0] * 8).effect == pytest.approx(-0.25)

    def test_differences_either_way_are_chance(self) -> None:
        found = gain([100, 120, 90, 110, 100, 95], [110, 100, 100, 100, 95, 105])
        assert not found.significant
        assert found.low < 0 < found.high

    def test_interval_and_test_agree(self) -> None:
        for shift in (1.0, 1.02, 1.05, 1.1):
            found = gain([100.0] * 9, [shift * rate for rate in (100, 103, 98, 101, 99, 104, 97, 102, 105)])
            assert found.significant == (not found.low <= 0 <= found.high)

    def test_a_spoilt_run_counts_as_one(self) -> None:
        after = [111.0, 109, 110, 112, 108, 110, 111, 109, 110, 110, 109]
        found = gain([100.0] * 12, [*after, 10.0])
        assert found.effect == pytest.approx(0.09, abs=0.01)
        assert found.significant

    def test_rank_sums_are_those_of_the_tables(self) -> None:
        # Wilcoxon's tables: 8 pairs 3, 12 pairs 13 are the greatest sums below 2.5 %.
        for pairs, greatest in ((8, 3), (12, 13)):
            chances = rank_sums(pairs).cumsum()
            assert chances[greatest] <= 0.025 < chances[greatest + 1]
            assert chances[-1] == pytest.approx(1)

    def test_four_pairs_cannot_be_certain(self) -> None:
        # All four one way: two of sixteen choices of signs are as extreme.
        assert gain([100.0] * 4, [200.0] * 4).p == pytest.approx(2 / 16, abs=0.02)

    @pytest.mark.parametrize(("before", "after"), [([], []), ([1.0], [1.0, 2.0])])
    def test_pairs_are_demanded(self, before: list[float], after: list[float]) -> None:
        with pytest.raises(ValueError, match="as many rates"):
            gain(before, after)


class TestOwnSpeedup:
    def test_samples_are_taken_for_each_unit_of_work(self) -> None:
        before = perf.Samples({"f": 1000, "g": 9000}, units=100)
        after = perf.Samples({"f": 600, "g": 9000}, units=120)
        own, low, high = perf.own_speedup(before, after, ["f"])
        assert own == pytest.approx(0.5)
        assert low < own < high

    def test_a_function_that_is_not_there_is_refused(self) -> None:
        samples = perf.Samples({"f": 1}, units=1)
        with pytest.raises(SystemExit, match="no samples of g"):
            perf.own_speedup(samples, samples, ["g"])


def test_samples_of_all_runs_by_functions(tmp_path: Path) -> None:
    """Of each run the last record counts, which has all of it."""

    def record(final: bool, count: int, visits: int) -> str:
        lines = [{"function": "f", "count": count}, {"function": "g", "count": 1}]
        points = [{"name": "p", "visits": visits}]
        return json.dumps({"type": "samples", "final": final, "lines": lines, "points": points})

    profile = tmp_path / "own.coz"
    profile.write_text(
        "\n".join(['{"type":"run"}', record(False, 5, 2), record(True, 30, 9), record(True, 10, 3)])
    )
    found = sampled.read(profile)
    assert found.units == 12
    assert found.functions == {"f": 40, "g": 2}
    profile.write_text('{"type":"run"}\n')
    with pytest.raises(SystemExit, match="no samples"):
        sampled.read(profile)


class TestPrediction:
    @pytest.mark.parametrize(
        ("own", "effect", "low"), [(0.25, 0.05, 0.03), (0.75, 0.11, 0.04), (1.0, 0.12, 0.02), (-0.1, 0, 0)]
    )
    def test_is_read_between_the_points(self, own: float, effect: float, low: float) -> None:
        found = report.predict(CHANGE, {"fast": (own, own, own)}, [CURVE])
        assert found is not None
        assert (found.effect, found.low) == pytest.approx((effect, low))

    def test_what_is_left_out_is_faster_by_all_of_it(self) -> None:
        gone = Change("gone", "gone.diff", "without it", target="app::Extend", removed=True)
        found = report.predict(gone, {}, [CURVE])
        assert found is not None
        assert (found.own, found.effect) == (1.0, pytest.approx(0.12))

    def test_effects_of_other_functions_are_added(self) -> None:
        other = {**CURVE, "location": "util/crc32c.h:app::step", "function": "app::step"}
        change = Change("gone", "d", "w", target="app::Extend", removed=True, others=("app::step",))
        found = report.predict(change, {}, [CURVE, other])
        assert found is not None
        assert found.effect == pytest.approx(0.24)
        assert (found.low, found.high) == pytest.approx((0.24 - 0.1 * 2**0.5, 0.24 + 0.1 * 2**0.5))
        assert report.predict(change, {}, [CURVE]) is None

    def test_a_lock_that_is_gone_is_waited_for_no_longer(self) -> None:
        waits = {**CURVE, "location": "lock util/memory.c:7", "function": "allocate"}
        change = Change("lock", "d", "w", target="memory.c:7", lock=True)
        found = report.predict(change, {}, [waits])
        assert found is not None
        assert (found.own, found.effect) == (1.0, pytest.approx(0.12))
        assert a_study(changes=(change,)).predicts_by == ""
        assert a_study(changes=(CHANGE, change)).predicts_by == "functions"
        by_function = ("--granularity", "function")
        assert a_study(changes=(CHANGE,), coz_options=by_function).predicts_by == "lines"

    def test_none_without_a_curve_or_for_a_change_that_removes_waiting(self) -> None:
        assert report.predict(CHANGE, {"fast": (0.5, 0.5, 0.5)}, []) is None
        waiting = Change("lock", "lock.diff", "no lock")
        assert report.predict(waiting, {}, [CURVE]) is None


def a_study(**other: Any) -> Study:
    values: dict[str, Any] = {
        "name": "app",
        "title": "App 1.0",
        "unit": "job",
        "fetch": lambda _folder: None,
        "build": lambda _source, _output: None,
        "workload": lambda _output, _scratch, _seconds: ["true"],
        "parse": lambda _output: Run(1, 1),
        "coz_options": (),
        "changes": (CHANGE,),
    }
    return Study(**(values | other))


def test_the_row_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "BUILD", tmp_path)
    monkeypatch.setattr(report, "_curves", lambda _profile, _coz: [CURVE])
    app = a_study()
    app.output.mkdir(parents=True)
    gains = {"fast": asdict(gain([1000.0] * 12, [1250.0] * 12))}
    (app.output / "measure.json").write_text(json.dumps({"rates": {}, "gains": gains}))
    found = {"functions": [["app::Extend", 0.146]], "own": {"fast": [0.5, 0.4, 0.6]}}
    (app.output / "perf.json").write_text(json.dumps(found))
    lines = report.text(app, "coz").splitlines()
    assert "   14.6%  app::Extend" in lines
    cells = [cell.strip() for cell in lines[-1].strip("|").split("|")]
    assert cells[:4] == ["App 1.0", "a fast one", "1,000 jobs/s", "1,250"]
    assert cells[4] == "20.0 % [20.0, 20.0]"
    assert cells[6:] == ["50.0 % [40.0, 60.0]", "10.0 % [6.0, 14.0]"]


@pytest.mark.parametrize("name", run.names())
def test_studies_load_and_their_patches_are_there(name: str) -> None:
    loaded = run.load(name)
    assert loaded.name == name
    for change in loaded.changes:
        text = (loaded.folder / change.patch).read_text()
        assert text.startswith("--- a/")
        has_speedup = change.symbols or change.removed or change.with_callees or change.lock
        assert bool(change.target) == bool(has_speedup)


def test_files_go_to_memory_only_where_it_has_room(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.scratch_folder(1e18, tmp_path) == tmp_path
    assert "too little room" in capsys.readouterr().out


def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no-such-program is missing"):
        study.call(["no-such-program"], tmp_path / "log")


def test_the_end_of_what_a_failed_step_said_is_shown(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"(?s)status 3.*log.*the reason"):
        study.call(["sh", "-c", "echo the reason; exit 3"], tmp_path / "log")


@pytest.mark.parametrize("document", ["README.md", "docs/case_studies/README.md"])
def test_every_study_is_in_the_table(document: str) -> None:
    root = Path(__file__).resolve().parents[2]
    text = (root / document).read_text()
    for name in run.names():
        assert f"{name}.md" in text
        assert (root / f"docs/case_studies/{name}.md").is_file()


def test_an_unknown_study_is_refused_with_those_there_are() -> None:
    with pytest.raises(SystemExit, match=r"no case study sqlit\..*sqlite"):
        run.load("sqlit")
