"""--until: what is measured of a profile, and when it is enough."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from synthetic import Line, Model, to_bytes

from cozcli.errors import CozError
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
        return series.wants_another(Ending())
    finally:
        series.close()


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


def test_missing_packages_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter without the analysis's packages refuses --until before the program starts."""
    interpreter = tmp_path / "python"
    interpreter.write_text(f'#!/bin/sh\nshift\nexec {sys.executable} -I -S "$@"\n')
    interpreter.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(interpreter))
    with pytest.raises(CozError, match="lacks numpy"):
        RunSeries(Goal(until=0.1), tmp_path / "p.coz")
