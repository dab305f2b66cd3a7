"""--until: what is measured of a profile, and when it is enough."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from synthetic import Line, Model, to_bytes

from cozcli.errors import CozError, Problem
from cozcli.launch.ending import Ending
from cozcli.launch.leading_lines import Analyst, Leaders, LeadingLine
from cozcli.launch.series import Goal, RunSeries

LINES = [Line("/s/a.c:1", lambda s: 0.5 * s), Line("/s/b.c:1", lambda s: 0.0)]


def profile_of(folder: Path, blocks: int) -> Path:
    path = folder / f"{blocks}.coz"
    path.write_bytes(to_bytes(Model(LINES).records(blocks)))
    return path


def measure(profile: Path) -> float | None:
    analyst = Analyst(profile, is_idle=False)
    try:
        analyst.ask()
        leaders = analyst.answer(wait=True)
        return leaders.precision if leaders is not None else None
    finally:
        analyst.close()


def wants_another(goal: Goal, profile: Path) -> tuple[bool, str]:
    series = RunSeries(goal, profile)
    try:
        another, told = series.wants_another(Ending())
        assert isinstance(told, str)
        return another, told
    finally:
        series.close()


class Runs:
    """A series of short runs, each of which adds the same records to the profile."""

    def __init__(self, profile: Path, monkeypatch: pytest.MonkeyPatch, *records: dict[str, Any]) -> None:
        profile.touch()
        self._profile = profile
        self._records = to_bytes(list(records))
        self._now = 1000.0
        monkeypatch.setattr("cozcli.launch.series.time", SimpleNamespace(monotonic=lambda: self._now))

    def make(self, goal: Goal, each: float) -> tuple[int, list[str | Problem]]:
        """How many there are until the end, and all that is said. `each`: how long a run takes, s."""
        series = RunSeries(goal, self._profile)
        another, said = True, []
        while another:
            with self._profile.open("ab") as stream:
                stream.write(self._records)
            self._now += each
            another, told = series.wants_another(Ending())
            if told:
                said.append(told)
        return series.runs, said


def samples(visits: int) -> dict[str, Any]:
    points = [{"name": "p", "kind": "throughput", "visits": visits}]
    return {"type": "samples", "run_time": 9, "duration": 9, "total": 9, "points": points}


RUN = {"type": "run", "format": "coz-profile", "version": 1}
EXPERIMENT = {
    "type": "experiment",
    "location": "/s/a.c:1",
    "speedup": 0,
    "effective_duration": 9,
    "points": [],
}


@pytest.mark.parametrize(
    ("visits", "each", "runs", "words"),
    [
        (0, 0.125, 80, "none of 80 runs in 10 s finished an experiment or visited a progress point; "),
        (7, 0.125, 240, "none of 240 runs in 30 s finished an experiment; "),
        (7, 60, 5, "none of 5 runs in 300 s finished an experiment; "),
    ],
)
def test_a_series_that_measures_nothing_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visits: int, each: float, runs: int, words: str
) -> None:
    series = Runs(tmp_path / "p.coz", monkeypatch, RUN, samples(visits))
    number, said = series.make(Goal(duration=3600), each)
    assert number == runs
    assert isinstance(said[-1], Problem)
    assert said[-1].text.startswith(words)
    assert "the program is not run again" in said[-1].text


@pytest.mark.parametrize("records", [(RUN, EXPERIMENT, samples(7)), (RUN, EXPERIMENT)])
def test_a_series_that_measures_something_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: tuple[dict[str, Any], ...]
) -> None:
    series = Runs(tmp_path / "p.coz", monkeypatch, *records)
    assert series.make(Goal(duration=60), 0.125)[0] == 480


def test_earlier_experiments_of_the_profile_are_none_of_the_series(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.coz"
    path.write_bytes(to_bytes([RUN, EXPERIMENT]))
    assert Runs(path, monkeypatch, RUN, samples(0)).make(Goal(duration=60), 1)[0] == 10


def test_the_goal_ends_a_series_that_measures_nothing_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = Runs(tmp_path / "p.coz", monkeypatch, RUN, samples(0))
    number, said = series.make(Goal(repeat=6), 10)
    assert number == 5
    series = Runs(tmp_path / "q.coz", monkeypatch, RUN, samples(0))
    number, said = series.make(Goal(repeat=5), 10)
    assert number == 5
    assert said[-1] == "5 runs, 50 s"


def test_short_runs_are_told_of_every_ten_seconds_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = Runs(tmp_path / "p.coz", monkeypatch, RUN, EXPERIMENT)
    _, said = series.make(Goal(duration=25), 0.125)
    assert said == ["1 run, 0 s", "81 runs, 10 s", "161 runs, 20 s", "200 runs, 25 s"]
    series = Runs(tmp_path / "q.coz", monkeypatch, RUN, EXPERIMENT)
    assert len(series.make(Goal(repeat=4), 12)[1]) == 4


def test_precision_is_that_of_the_widest_leading_effect(tmp_path: Path) -> None:
    some, many = (measure(profile_of(tmp_path, blocks)) for blocks in (60, 600))
    assert some is not None
    assert many is not None
    assert 0.002 < many < some < 0.1


@pytest.mark.parametrize("blocks", [1, 4])
def test_few_data_have_no_precision(tmp_path: Path, blocks: int) -> None:
    assert measure(profile_of(tmp_path, blocks)) is None


def test_no_profile_has_no_precision(tmp_path: Path) -> None:
    (tmp_path / "empty.coz").touch()
    assert measure(tmp_path / "empty.coz") is None


def test_a_series_ends_when_intervals_are_narrow_enough(tmp_path: Path) -> None:
    path = profile_of(tmp_path, 120)
    half = measure(path)
    assert half is not None
    another, text = wants_another(Goal(until=half / 2), path)
    assert another
    assert f"certain to ±{100 * half:.1f} points" in text
    another, _ = wants_another(Goal(until=half * 1.01), path)
    assert not another
    another, _ = wants_another(Goal(until=half / 2, repeat=1), path)
    assert not another


@pytest.mark.parametrize(
    ("effects", "in_order"),
    [
        ((0.20, 0.10, 0.00), True),
        ((0.12, 0.10, 0.00), False),  # which one leads is open
        ((0.11, 0.10, 0.00), True),  # as good as equal
        ((0.10, 0.20, 0.00), True),  # ranked by the lower bound of the slope
    ],
)
def test_order_is_known_where_neighbours_differ_or_are_as_good_as_equal(
    effects: tuple[float, ...], in_order: bool
) -> None:
    lines = [LeadingLine(f"/s/a.c:{i}", True, 0.5, effect, 0.02) for i, effect in enumerate(effects)]
    assert Leaders(lines, 0.0).is_in_order(0.015) is in_order


@pytest.mark.parametrize("in_order", [False, True])
def test_a_series_goes_on_while_the_order_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_order: bool
) -> None:
    monkeypatch.setattr(RunSeries, "_measure", lambda _: (0.01, in_order))
    another, text = wants_another(Goal(until=0.02), tmp_path / "any.coz")
    assert another is not in_order
    assert ("not in their order yet" in text) is not in_order


def test_too_few_data_are_no_reason_to_stop(tmp_path: Path) -> None:
    another, text = wants_another(Goal(until=0.5), profile_of(tmp_path, 1))
    assert another
    assert "too few data" in text


def test_one_process_answers_again_and_again_and_a_dead_one_is_replaced(tmp_path: Path) -> None:
    analyst = Analyst(profile_of(tmp_path, 60), is_idle=True)
    try:
        used = []
        for _ in range(2):
            analyst.ask()
            leaders = analyst.answer(wait=True)
            assert leaders is not None
            assert {line.location for line in leaders.lines} == {"/s/a.c:1", "/s/b.c:1"}
            used.append(leaders.used)
        assert 0 < used[0] < used[1]
        analyst.ask()
        assert analyst._process is not None
        analyst._process.kill()
        assert analyst.answer(wait=True) is None
        analyst.ask()
        assert analyst.answer(wait=True) is not None
    finally:
        analyst.close()


@pytest.mark.parametrize("duration", [None, 3600.0])
def test_an_analysis_that_dies_again_and_again_is_given_up(tmp_path: Path, duration: float | None) -> None:
    series = RunSeries(Goal(duration=duration, until=0.01), profile_of(tmp_path, 1))
    analyst = series._analyst
    assert analyst is not None

    def killed(wait: bool) -> Leaders | None:
        analyst.close()
        return None

    analyst.answer = killed  # type: ignore[method-assign]
    assert series.wants_another(Ending())[0]
    another, told = series.wants_another(Ending())
    assert another is (duration is not None)
    assert isinstance(told, Problem)
    assert "ended twice without an answer" in told.text
    another, told = series.wants_another(Ending())
    assert isinstance(told, str)
    series.close()


def test_missing_packages_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter without the analysis's packages refuses --until before the program starts."""
    interpreter = tmp_path / "python"
    interpreter.write_text(f'#!/bin/sh\nshift\nexec {sys.executable} -I -S "$@"\n')
    interpreter.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(interpreter))
    with pytest.raises(CozError, match="lacks numpy"):
        RunSeries(Goal(until=0.1), tmp_path / "p.coz")
