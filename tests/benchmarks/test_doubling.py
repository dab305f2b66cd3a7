"""The arithmetic of benchmarks/doubling: truth, share, prediction, table; cases and control groups."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from doubling import control_group, outcome, table
from doubling.__main__ import chosen
from doubling.outcome import Interval, Logged, Outcome, Region
from doubling.program import BUILD, ROOT, Case, Work
from doubling.programs import PROGRAMS


def logged(period: float, region: float = 0.5) -> Logged:
    return Logged(units=100, seconds=100 * period, processor=1.0, region=region)


def result(predicted: Interval | None, truth: Interval | None = None) -> Outcome:
    return Outcome(
        program="packer 1.0",
        case="sort/4",
        threads="4 of a pool",
        runs=2,
        cores=2,
        periods=((2.0, 1.0),),
        region=Region(0.8, 0.5),
        truth=truth or Interval(0.40, 0.38, 0.42),
        predicted=predicted,
        marks=("too few cores",),
        experiments=100,
    )


def test_log_is_read() -> None:
    assert outcome.parse_log("9 1 2 1\n99 2.5 3.5 1.25\n") == Logged(99, 2.5, 3.5, 1.25)
    assert Logged(50, 2.5, 3.5, 1.25).period == pytest.approx(0.05)
    with pytest.raises(ValueError, match="has logged nothing"):
        outcome.parse_log("")


def test_truth_is_the_time_that_one_run_saves() -> None:
    pairs = [(logged(0.010 * slow), logged(0.006 * slow)) for slow in (1.0, 1.1, 1.2, 1.3, 1.5, 2.0)]
    truth = outcome.truth_of(pairs)
    assert (truth.value, truth.low, truth.high) == pytest.approx((0.4, 0.4, 0.4))


def test_truth_has_an_interval_around_it() -> None:
    pairs = [(logged(0.01), logged(0.01 * left)) for left in (0.55, 0.58, 0.59, 0.61, 0.62, 0.65)]
    truth = outcome.truth_of(pairs)
    assert truth.low < truth.value < truth.high
    assert truth.value == pytest.approx(0.4, abs=0.01)
    assert (truth.low, truth.high) == pytest.approx((0.35, 0.45), abs=0.001)


def test_region_is_undone_by_what_it_takes_less_with_one_run() -> None:
    twice, once = Logged(100, 1.0, 2.0, 1.6), Logged(50, 1.0, 2.0, 0.44)
    region = outcome.region_of([(twice, once)])
    assert region.share == pytest.approx(0.8)
    assert region.undone == pytest.approx(1 - 0.0088 / 0.016)


def curve(*effects: tuple[float, float | None]) -> list[dict[str, Any]]:
    return [
        {
            "speedup": at,
            "effect": effect,
            "low": effect and effect - 0.02,
            "high": effect and effect + 0.04,
        }
        for at, effect in effects
    ]


def test_prediction_is_read_between_the_points_of_the_region() -> None:
    results = [
        {"location": "region other", "point": "unit", "curve": curve((0.5, 0.9)), "notes": []},
        {
            "location": "region sort",
            "point": "unit",
            "curve": curve((0.0, 0.0), (0.25, None), (0.4, 0.2), (0.5, 0.3)),
            "notes": ["too few cores"],
        },
    ]
    found = outcome.prediction_of({"results": results}, "sort", 0.45)
    assert found is not None
    assert (found[0].value, found[0].low, found[0].high) == pytest.approx((0.25, 0.23, 0.29))
    assert found[1] == ["too few cores"]
    assert outcome.prediction_of({"results": results}, "sort", 0.5)[0].value == pytest.approx(0.3)  # type: ignore[index]
    assert outcome.prediction_of({"results": results}, "sort", 0.2)[0].value == pytest.approx(0.1)  # type: ignore[index]


def test_no_prediction_beyond_the_curve_or_without_the_region() -> None:
    results = [{"location": "region sort", "point": "unit", "curve": curve((0.25, 0.1)), "notes": []}]
    assert outcome.prediction_of({"results": results}, "sort", 0.5) is None
    assert outcome.prediction_of({"results": results}, "read", 0.2) is None


@pytest.mark.parametrize(
    ("predicted", "held"),
    [
        (Interval(0.43, 0.425, 0.435), True),  # near
        (Interval(0.46, 0.455, 0.465), False),  # far, and certain
        (Interval(0.46, 0.39, 0.47), True),  # far, but the interval holds it
        (Interval(0.34, 0.33, 0.38), False),
        (Interval(0.34, 0.33, 0.397), True),  # by the truth's own interval
        (None, False),
    ],
)
def test_held(predicted: Interval | None, held: bool) -> None:
    assert result(predicted).held is held


def test_table_counts_what_is_held() -> None:
    outcomes = [
        result(Interval(0.43, 0.42, 0.44)),
        result(Interval(0.60, 0.59, 0.61)),
        result(None),
    ]
    text = table.render(outcomes)
    assert "| packer 1.0, sort | 2 | 4 of a pool | 2 | 80 % | 50 % | 40.0 [38.0, 42.0] |" in text
    assert "| 43.0 [42.0, 44.0] | +3.0 | yes |" in text
    assert "| 60.0 [59.0, 61.0] | +20.0 | **no** |" in text
    assert "| no result | – | **no** |" in text
    assert "Held: 1 of 3" in text
    assert "mean 11.5 points, largest 20.0" in text


def test_outcomes_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.json"
    assert outcome.load(path) == []
    outcomes = [result(Interval(0.43, 0.42, 0.44)), result(None)]
    outcome.save(path, outcomes)
    assert outcome.load(path) == outcomes


def test_cases_are_chosen_by_the_beginnings_of_names() -> None:
    assert len(chosen([])) >= 12
    assert len({program.name for program, _ in chosen([])}) >= 6
    names = [
        f"{program.name}/{case.name}"
        for program, case in chosen(["pbzip2/sort/4", "zstd", "pbzip2/sort/4/1"])
    ]
    assert names == ["pbzip2/sort/4/1", "zstd/literals/3", "zstd/checksum/3"]
    with pytest.raises(ValueError, match="there is no case pb"):
        chosen(["pb"])


def test_every_wrapped_function_has_a_wrapper() -> None:
    for program in PROGRAMS:
        (wrapper,) = (ROOT / "benchmarks/doubling/wrappers").glob(f"{program.name}.c*")
        source = wrapper.read_text()
        for symbol in program.wrapped:
            assert symbol in source
        for case in program.cases:
            assert f'TWICE("{case.region}"' in source


def test_input_is_as_long_as_asked(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"0123456789")
    path = Path(Work(tmp_path, tmp_path, 2, 2.5).input(10))
    assert path.read_bytes() == b"0123456789012345678901234"
    assert Work(tmp_path, tmp_path, 2, 0.001).times(10) == 1


def test_quota_in_either_version_of_control_groups(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io\n")
    control_group.with_quota(1.5, tmp_path)
    assert (tmp_path / "coz-doubling/cpu.max").read_text() == "150000 100000"
    old = tmp_path / "old"
    (old / "cpu").mkdir(parents=True)
    (old / "cpu/cpu.cfs_quota_us").write_text("-1")
    enter = control_group.with_quota(1.0, old)
    assert (old / "cpu/coz-doubling/cpu.cfs_quota_us").read_text() == "100000"
    enter()
    assert (old / "cpu/coz-doubling/cgroup.procs").read_text() == str(os.getpid())
    with pytest.raises(control_group.NoControlGroupError, match="no controller"):
        control_group.with_quota(1.0, tmp_path / "none")


def test_a_region_runs_twice_and_is_logged(tmp_path: Path) -> None:
    """twice.c itself: the function runs as often as asked, and the log has units and the clocked region."""
    source = tmp_path / "program.c"
    source.write_text(
        '#include "twice.h"\n#include <stdio.h>\n'
        "static int runs;\n"
        "static void work(void) { for (volatile int i = 0; i < 3000000; i++); runs++; }\n"
        "int main(void) {\n"
        '  for (int i = 0; i < 5; i++) { TWICE("work", work(), work()); twice_unit(); }\n'
        '  printf("%d", runs);\n  return 0;\n}\n'
    )
    here = ROOT / "benchmarks/doubling"
    program = tmp_path / "program"
    command = [
        "gcc",
        "-O1",
        f"-I{here}",
        f"-I{ROOT / 'include'}",
        "-o",
        program,
        source,
        here / "twice.c",
        "-ldl",
    ]
    subprocess.run(command, check=True)

    def run(**environment: str) -> str:
        done = subprocess.run([program], env={**os.environ, **environment}, check=True, capture_output=True)
        return done.stdout.decode()

    log = tmp_path / "log"
    assert run() == "5"
    assert not log.exists()
    assert run(TWICE="other") == "5"
    assert run(TWICE="work", TWICE_LOG=str(log)) == "10"
    assert outcome.parse_log(log.read_text()).region == 0
    assert run(TWICE="work", TWICE_RUNS="4") == "20"
    run(TWICE="work", TWICE_LOG=str(log), TWICE_CLOCK="work")
    two = outcome.parse_log(log.read_text())
    assert two.units == 4
    assert 0 < two.region <= two.processor
    assert two.region > 0.5 * two.processor
    assert math.isfinite(two.period)


def test_command_lists_and_refuses() -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(ROOT / "benchmarks"), str(ROOT)])
        command = [sys.executable, "-m", "doubling", *arguments]
        return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)

    listed = run("--list", "zstd")
    assert listed.stdout.splitlines() == [
        "zstd/literals/3: a pipeline: read, decode, write",
        "zstd/checksum/3: a pipeline: read, decode, write",
    ]
    assert "there is no case nothing" in run("nothing").stderr
    assert "--pairs" in run("--pairs", "3").stderr
    assert Case("sort", 4, "", 1.0).name == "sort/4/1"
    assert BUILD.parent.name == "build"
