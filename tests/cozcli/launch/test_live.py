"""The row that is shown while a program runs: what it says, and where its leading lines come from."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from combined_profiles import Measurement, Program
from synthetic import Line, Model, to_bytes

from cozcli.launch import live
from cozcli.launch.leading_lines import Analyst, LeadingLine
from cozcli.launch.run_summary import describe, has_few
from cozcli.profile.tail import ProfileTail, read_tail

LEADERS = [
    LeadingLine("/s/a.c:1", True, 0.5, 0.123, 0.012),
    LeadingLine("/s/b.c:2", True, 0.5, -0.04, 0.001),
    LeadingLine("/s/c.c:3", True, 0.25, 0.02, 0.001),
]


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "p.coz"
    path.write_bytes(to_bytes(Model([Line("/s/a.c:1", lambda s: 0.5 * s)]).records(60)))
    return path


def test_experiments_lines_and_leading_lines_are_said(profile: Path) -> None:
    tail = read_tail(profile)
    text = live.compose(tail, LEADERS, "1:05", 200)
    assert text == (
        f"coz: 1:05, {tail.experiments} experiments on 1 line; if faster by 50 %: a.c:1 +12.3 ±1.2 %; "
        "b.c:2 -4.0 ±0.1 %; 25 %: c.c:3 +2.0 ±0.1 %"
    )


def test_combined_experiments_are_on_all_lines_and_say_how_many_are_known(tmp_path: Path) -> None:
    path = tmp_path / "p.coz"
    path.write_bytes(to_bytes(Measurement(dose=0.1).records(Program("serial", 60), 160)))
    tail = read_tail(path)
    assert len(tail.locations) < 30
    assert tail.targets == 60
    assert not has_few(tail)
    assert "160 experiments on 60 lines in x" in str(describe(path, 0, tail, "x"))
    analyst = Analyst(path, is_idle=False)
    try:
        analyst.ask()
        answer = analyst.answer(wait=True)
    finally:
        analyst.close()
    assert answer is not None
    known, targets = answer.known
    assert targets == 60
    assert 30 < known <= 60
    text = live.compose(tail, LEADERS, "1:05", 200, answer.known)
    assert text.startswith(
        f"coz: 1:05, 160 experiments, {known} of 60 lines known to ±2 %; if faster by 50 %: a.c:1"
    )
    # Where there is little room, the leading line is said instead.
    text = live.compose(tail, LEADERS, "1:05", 80, answer.known)
    assert text == "coz: 1:05, 160 experiments on 60 lines; if faster by 50 %: a.c:1 +12.3 ±1.2 %"
    # Of one target at a time, nothing is said of that.
    assert "known" not in live.compose(tail, LEADERS, "1:05", 200)


def test_only_what_fits_and_is_certain_enough_is_said(profile: Path) -> None:
    tail = read_tail(profile)
    for room in range(10, 120):
        text = live.compose(tail, LEADERS, "1:05", room)
        assert len(text) <= room
        assert "b.c:2" not in text or text.endswith(" %")
    few = [LEADERS[0]._replace(is_certain_enough=False), LEADERS[1]]
    assert "faster" not in live.compose(tail, few, "1:05", 200)
    # One that is limited by load, say: the next one leads.
    unreal = [LEADERS[0]._replace(is_trusted=False), LEADERS[1]]
    assert live.compose(tail, unreal, "1:05", 200).endswith("; if faster by 50 %: b.c:2 -4.0 ±0.1 %")
    assert live.compose(ProfileTail(profile, 0), [], "0:02", 200) == "coz: 0:02, 0 experiments"


def test_leading_lines_come_without_waiting_and_again_when_their_cost_allows(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_FIRST", 0.0)
    leading = live.Leading(Analyst(profile, is_idle=True))
    try:
        end = time.monotonic() + 120
        while not leading.lines:
            assert time.monotonic() < end
            begin = time.monotonic()
            leading.look()
            assert time.monotonic() - begin < 10
            time.sleep(0.02)
        assert [line.location for line in leading.lines] == ["/s/a.c:1"]
        # A hundred times what the analysis took is still to pass.
        leading.look()
        assert not leading._analyst.is_asked
    finally:
        leading.close()
