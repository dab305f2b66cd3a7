"""`coz run --format classic`: the profile is in the classic form, and nothing measured is ever lost."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from launching import RECORDS, Start, finish

from cozcli.profile.convert import append_classic

POINTS = '"points":[{"name":"p","kind":"throughput","visits":3,"elapsed":9}]'
MEASURED = RECORDS.replace('"points":[]', POINTS)
CLASSIC = (
    "experiment\tselected=/src/a.c:3\tspeedup=0.00\tduration=9\tselected-samples=0\n"
    "throughput-point\tname=p\tdelta=3\n"
)


def test_runs_add_up_in_the_classic_form(start: Start, tmp_path: Path) -> None:
    for _ in range(2):
        status, _, error = finish(start("exit", "7", options=("--format", "classic"), FAKE_RECORDS=MEASURED))
        assert status == 7
        assert "1 experiment on 1 line in profile.coz" in error
    assert (tmp_path / "profile.coz").read_text() == 2 * ("startup\ttime=0\n" + CLASSIC)
    assert [path.name for path in tmp_path.iterdir()] == ["profile.coz"]


def test_json_lines(start: Start, tmp_path: Path) -> None:
    finish(start("exit", "0", options=("--format", "classic-json"), FAKE_RECORDS=MEASURED))
    assert '{"type":"throughput-point","name":"p","delta":3}' in (tmp_path / "profile.coz").read_text()


def test_what_a_killed_coz_run_left_is_converted_with_the_next_run(start: Start, tmp_path: Path) -> None:
    earlier = MEASURED.replace('"effective_duration":9', '"effective_duration":8')
    assert earlier != MEASURED
    (tmp_path / "profile.coz.measured").write_text(earlier)
    finish(start("exit", "0", options=("--legacy-format",), FAKE_RECORDS=MEASURED))
    assert (tmp_path / "profile.coz").read_text().count(CLASSIC) == 2


def test_a_profile_of_our_own_form_stays_as_it_is(start: Start, tmp_path: Path) -> None:
    (tmp_path / "profile.coz").write_text(RECORDS)
    status, _, error = finish(start("exit", "0", options=("--format", "classic"), FAKE_RECORDS=MEASURED))
    assert status == 2
    assert "own format" in error
    assert "coz convert" in error
    assert (tmp_path / "profile.coz").read_text() == RECORDS


@pytest.mark.parametrize("form", ["classic", "classic-json"])
def test_a_classic_profile_takes_no_runs_in_our_own_form(start: Start, tmp_path: Path, form: str) -> None:
    finish(start("exit", "0", options=("--format", form), FAKE_RECORDS=MEASURED))
    before = (tmp_path / "profile.coz").read_text()
    status, _, error = finish(start("exit", "0", FAKE_RECORDS=MEASURED))
    assert status == 2
    assert "holds runs in the classic format" in error
    assert "--format classic" in error
    assert (tmp_path / "profile.coz").read_text() == before


def test_what_cannot_be_converted_is_kept(start: Start, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    options = ("--format", "classic", "-o", "out/p.coz")
    process = start("wait", options=options, FAKE_RECORDS=MEASURED)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    (tmp_path / "out" / "p.coz").mkdir()  # which no profile can be
    process.terminate()
    status, _, error = finish(process)
    assert status == 33
    assert "could not be added to out/p.coz" in error
    assert "out/p.coz.measured" in error
    assert '"location":"/src/a.c:3"' in (tmp_path / "out" / "p.coz.measured").read_text()


def test_what_can_be_converted_in_part_only_is_not_there_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured, output = tmp_path / "measured", tmp_path / "p.coz"
    measured.write_text(MEASURED)
    output.write_text(CLASSIC)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", full)
    descriptor = os.open(output, os.O_WRONLY | os.O_APPEND)
    with pytest.raises(OSError, match="full"):
        append_classic(measured, descriptor, "classic")
    os.close(descriptor)
    assert (output.read_text(), measured.read_text()) == (CLASSIC, MEASURED)


def test_the_variable_of_the_classic_tool_is_not_taken_for_ours(start: Start) -> None:
    status, _, error = finish(start("exit", "3", FAKE_RECORDS=MEASURED, COZ_PRELOAD="/x/libcoz.so"))
    assert status == 3
    assert "COZ_PRELOAD (/x/libcoz.so) is a variable of the classic Coz" in error


@pytest.mark.parametrize("option", ["-v", "--verbose"])
def test_options_that_we_have_not_are_refused_with_a_hint(start: Start, option: str) -> None:
    status, _, error = finish(start("exit", "3", options=(option,)))
    assert status == 2
    assert "coz doctor" in error
