"""Profiles in the classic form: what other readers make of them is what our own profile says."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from in_fork import coz
from synthetic import Line, Model, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.profile.classic_writer import ClassicWriter
from cozcli.profile.profile import load_profile
from cozcli.profile.records import ExperimentRecord, LatencyPoint, RunRecord, SamplesRecord, ThroughputPoint

#: Debian's coz-profiler 0.2.2: the viewer's own parser, which is a script for browsers.
VIEWER = Path("/usr/share/coz-profiler/viewer/js/profile.js")


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    lines = [Line("/s/a.c:1", lambda s: 0.5 * s, latency=lambda s: 0.2 * s), Line("/s/b.c:7", lambda s: 0.0)]
    path = tmp_path / "own.coz"
    path.write_bytes(to_bytes(Model(lines, seed=1).records(60)))
    return path


def periods(experiments: list[ExperimentRecord]) -> dict[tuple[str, float, str], tuple[float, float]]:
    """By line, speedup and point: time and visits; for latency, time by what is in progress, and arrivals."""
    sums: dict[tuple[str, float, str], tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for experiment in experiments:
        for point in experiment.points:
            key = experiment.location, experiment.speedup, point.name
            weight = point.in_progress if isinstance(point, LatencyPoint) else 1.0
            count = point.arrivals if isinstance(point, LatencyPoint) else point.visits
            sums[key] = sums[key][0] + weight * point.elapsed, sums[key][1] + count
    return sums


def test_arrivals_are_no_progress(profile: Path) -> None:
    records = [json.loads(line) for line in profile.read_bytes().splitlines()]
    for record in records:
        if record["type"] == "experiment":
            record["points"].append({"name": "come", "kind": "arrival", "visits": 7, "elapsed": 1_000_000})
    profile.write_bytes(to_bytes(records))
    assert coz("convert", "--to", "classic", "-o", "other", "own.coz", cwd=profile.parent).returncode == 0
    back = load_profile([str(profile.parent / "other")])
    names = {point.name for experiment in back.runs[0].experiments for point in experiment.points}
    assert "request" in names
    assert "come" not in names


def test_runs_under_different_loads_are_told_of(profile: Path) -> None:
    records = Model([Line("/s/a.c:1", lambda s: 0.5 * s)], seed=2).records(20)
    for record in records:
        if record["type"] == "experiment":
            arrivals = {"count": 9, "charged": 450_000, "intervals": 9, "between": 9_000_000}
            record |= {"arrival_speedup": 50_000, "arrivals": arrivals}
    loaded = profile.with_name("loaded.coz")
    loaded.write_bytes(to_bytes(records))
    done = coz("convert", "--to", "classic", "-o", "other", "own.coz", "loaded.coz", cwd=profile.parent)
    assert done.returncode == 0
    assert "measured under different loads" in done.stderr


@pytest.mark.parametrize("form", ["classic", "classic-json"])
def test_reading_it_back_gives_the_same_periods(profile: Path, form: str) -> None:
    done = coz("convert", "--to", form, "-o", "other", "own.coz", cwd=profile.parent)
    assert (done.returncode, done.stdout) == (0, "")
    runs = load_profile([str(profile)]).runs
    back = load_profile([str(profile.parent / "other")])
    assert not back.warnings
    assert not back.rejected
    assert [run.record.classic for run in back.runs] == [True]
    before = periods(runs[0].experiments)
    after = periods(back.runs[0].experiments)
    assert set(before) == set(after)
    longest = max(point.elapsed for e in runs[0].experiments for point in e.points)
    for key, (time, visits) in before.items():
        assert after[key][1] == visits
        # With tabs, what is in progress is rounded; at most half an operation in one window is left over.
        left_over = 0.0 if form == "classic-json" else 0.6 * longest
        assert after[key][0] == pytest.approx(time, rel=1e-6, abs=left_over), key


@pytest.mark.parametrize("form", ["classic", "classic-json"])
def test_reading_it_back_gives_the_same_slopes_and_marks(profile: Path, form: str) -> None:
    """Also of programs with several points, of which each has an `experiment` of its own."""
    assert coz("convert", "--to", form, "-o", "other", "own.coz", cwd=profile.parent).returncode == 0
    before, after = (analyse(load_profile([str(p)])) for p in (profile, profile.with_name("other")))
    assert len({result.point for result in before.results}) > 1
    found = {(r.location, r.point, r.kind): r for r in after.results}
    assert len(found) == len(before.results)
    for result in before.results:
        back = found[result.location, result.point, result.kind]
        assert back.slope == pytest.approx(result.slope, abs=0.01)
        assert back.slope_high - back.slope_low < 4 * (result.slope_high - result.slope_low)
        assert back.marks == result.marks
        assert back.experiments == result.experiments


def test_samples_count_as_if_taken_each_millisecond() -> None:
    windows = [
        ExperimentRecord("/a.c:1", 0.5, 1000, target_samples=10, points=(ThroughputPoint("t", 5, 1000),))
    ]
    (run,) = load_profile_of(*windows)
    run.record = RunRecord(time=1, period=5_000_000)
    run.samples = SamplesRecord(10**9, 2 * 10**9, in_scope=10, lines=())
    lines = [line.rstrip().split("\t") for line in ClassicWriter(False).lines([run])]
    assert lines[1][-1] == "selected-samples=50"
    assert lines[-1] == ["runtime", f"time={10**9 + 25_000_000}"]


@pytest.mark.parametrize(
    "lost", ["experiment\tselected=/a.c:2\tspeed", "experiment\tselected=/a.c:2\tduration=-5"]
)
def test_points_of_a_lost_experiment_are_not_those_of_the_one_before(tmp_path: Path, lost: str) -> None:
    head = "experiment\tselected=/a.c:{}\tspeedup=0.00\tduration=1000\tselected-samples=0"
    lines = ["startup\ttime=1"]
    for experiment, visits in [(head.format(1), 10), (lost, 500), (head.format(3), 20)]:
        lines += [experiment, f"throughput-point\tname=t\tdelta={visits}"]
    path = tmp_path / "broken.coz"
    path.write_text("\n".join(lines) + "\n")
    profile = load_profile([str(path)])
    assert profile.rejected
    found = [(e.location, [p.visits for p in e.points]) for e in profile.runs[0].experiments]
    assert found == [("/a.c:1", [10]), ("/a.c:3", [20])]


def test_tabs_carry_fractions_of_operations_on() -> None:
    writer = ClassicWriter(is_json=False)
    point = LatencyPoint("t", 10, 10, 1000, 1.4)
    experiment = ExperimentRecord("/a.c:1", 0.25, 1000, points=(point, ThroughputPoint("t2", 0, 1000)))
    lines = [line for _ in range(5) for line in writer._experiment(experiment, 0)]
    assert lines[0] == "experiment\tselected=/a.c:1\tspeedup=0.25\tduration=1000\tselected-samples=0\n"
    differences = [int(line.rpartition("=")[2]) for line in lines if line.startswith("latency")]
    assert sum(differences) == 7
    assert len(lines) == 10  # a point without visits says nothing


def test_windows_that_estimates_leave_out_are_left_out_here_too() -> None:
    points = (ThroughputPoint("t", 5, 1000),)
    of_load = ExperimentRecord("none", 0.0, 1000, points=points, target="none")
    runs = load_profile_of(of_load)
    assert [line.split("\t")[0] for line in ClassicWriter(False).lines(runs)] == ["startup"]


def load_profile_of(*experiments: ExperimentRecord) -> list:  # type: ignore[type-arg]
    from cozcli.profile.profile import Run
    from cozcli.profile.records import RunRecord

    return [Run(RunRecord(time=1), "f", experiments=list(experiments))]


def test_an_input_or_another_file_is_not_overwritten(profile: Path) -> None:
    folder = profile.parent
    before = profile.read_bytes()
    assert coz("convert", "-o", "own.coz", "own.coz", cwd=folder).returncode == 2
    assert profile.read_bytes() == before
    (folder / "notes.txt").write_text("precious\n")
    assert coz("convert", "-o", "notes.txt", "own.coz", cwd=folder).returncode == 2
    assert (folder / "notes.txt").read_text() == "precious\n"


DRIVER = """
const fs = require('fs'), vm = require('vm');
const warnings = [];
const context = {console, d3: {}, science: {}};
vm.createContext(context);
vm.runInContext(fs.readFileSync(process.argv[1], 'utf8') + '\\nthis.Profile = Profile;', context);
const text = fs.readFileSync(process.argv[2], 'utf8');
const profile = new context.Profile(text, null, null, () => 1, (title, text) => warnings.push(title + text));
console.log(JSON.stringify({warnings, points: profile.getProgressPoints(), data: profile.getSpeedupData(1)}));
"""


@pytest.mark.skipif(not VIEWER.exists() or shutil.which("node") is None, reason="needs coz-profiler and node")
@pytest.mark.parametrize("form", ["classic", "classic-json"])
def test_the_classic_viewer_computes_the_effects_that_are_true(profile: Path, form: str) -> None:
    coz("convert", "--to", form, "-o", "other", "own.coz", cwd=profile.parent)
    done = subprocess.run(
        ["node", "-e", DRIVER, str(VIEWER), str(profile.parent / "other")],
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(done.stdout)
    assert answer["warnings"] == []
    names = {result["name"] for result in answer["data"]}
    assert names == {"/s/a.c:1", "/s/b.c:7"}
    (first,) = (result for result in answer["data"] if result["name"] == "/s/a.c:1")
    (request,) = (point for point in first["progress_points"] if point["name"] == "request")
    at_half = [m["progress_speedup"] for m in request["measurements"] if 0.4 <= m["speedup"] <= 0.6]
    assert sum(at_half) / len(at_half) == pytest.approx(0.25, abs=0.05)
