"""Runs that are repeated, appended, warmed up, or ended early."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from launching import RECORDS, Start, finish


def test_repeated_runs_go_into_one_profile(start: Start, tmp_path: Path) -> None:
    status, _, error = finish(start("exit", "0", options=("--repeat", "3"), FAKE_RECORDS=RECORDS))
    assert status == 0
    records = (tmp_path / "profile.coz").read_text()
    assert [records.count(f'"{kind}"') for kind in ("run", "experiment", "exit")] == [3, 3, 3]
    said = [line.partition(",")[0] for line in error.splitlines()]
    assert said[:2] == ["coz: 1 run", "coz: 3 runs"]  # and not one for each short run
    assert error.splitlines()[2].startswith("coz: 3 experiments on 1 line in profile.coz; ")


def test_repeated_runs_differ_in_their_seed(start: Start) -> None:
    options = ("--repeat", "2", "--seed", "18446744073709551615")
    _, out, _ = finish(start("environment", "COZ_SEED", options=options, FAKE_RECORDS=RECORDS))
    assert out.split() == ["18446744073709551615", "0"]


def test_a_run_knows_what_those_before_it_sampled(start: Start) -> None:
    samples = (
        '{"type":"samples","run_time":1000,"duration":1100,"total":9,"in_scope":9,"experiments":1,'
        '"lines":[{"kind":"line","location":"x.c:3","function":"f","count":7}]}\n'
    )
    options = ("--repeat", "3")
    records = RECORDS + samples
    _, out, _ = finish(start("environment", "COZ_EARLIER_SAMPLES", options=options, FAKE_RECORDS=records))
    assert out == "(none)\n1000\t1\nline\tx.c:3\t7\n2000\t2\nline\tx.c:3\t14\n"
    options = ("--repeat", "2", "--one-at-a-time")
    _, out, _ = finish(start("environment", "COZ_EARLIER_SAMPLES", options=options, FAKE_RECORDS=records))
    assert out == "(none)\n(none)\n"


def test_waits_and_regions_of_earlier_runs_are_handed_over_by_their_names(start: Start) -> None:
    lines = [
        f'{{"kind":"{kind}","location":"{location}","function":"f","count":5}}'
        for kind, location in (("wait", "wait x.c:3"), ("lock", "lock (all)"), ("region", "region a b"))
    ]
    samples = f'{{"type":"samples","run_time":1000,"total":9,"experiments":1,"lines":[{",".join(lines)}]}}\n'
    records = RECORDS + samples
    _, out, _ = finish(
        start("environment", "COZ_EARLIER_SAMPLES", options=("--repeat", "2"), FAKE_RECORDS=records)
    )
    assert out == "(none)\n1000\t1\nwait\tx.c:3\t5\nlock\t(all)\t5\nregion\ta b\t5\n"


@pytest.mark.parametrize("how", ["exit", "raise"])
def test_after_a_failure_there_is_no_other_run(start: Start, tmp_path: Path, how: str) -> None:
    status, _, error = finish(start(how, "6", options=("--duration", "1h"), FAKE_RECORDS=RECORDS))
    assert status == (6 if how == "exit" else -6)
    how_it_ended = "ended with status 6" if how == "exit" else "was ended by SIGABRT"
    assert f"run 1 {how_it_ended}, which counts as a failure, so the program is not run again" in error
    assert (tmp_path / "profile.coz").read_text().count('"exit"') == 1


def test_an_interrupted_run_is_the_last_however_it_ends(start: Start, tmp_path: Path) -> None:
    process = start("leave", options=("--repeat", "50"), FAKE_RECORDS=RECORDS)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    status, _, error = finish(process)
    assert status == 0
    assert "run 1 was interrupted, so the program is not run again" in error
    assert (tmp_path / "profile.coz").read_text().count('"exit"') == 1


def test_a_signal_that_is_ignored_ends_no_series(start: Start, tmp_path: Path) -> None:
    """As below nohup, and in the background of a script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = start("leave", options=("--repeat", "2"), FAKE_RECORDS=RECORDS)
    finally:
        signal.signal(signal.SIGINT, before)
    assert process.stdout is not None
    for _ in range(2):
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
    status, _, error = finish(process)
    assert status == 0
    assert "interrupted" not in error
    assert (tmp_path / "profile.coz").read_text().count('"exit"') == 2


def test_a_time_that_has_passed_ends_the_series(start: Start) -> None:
    options = ("--duration", "1ms", "--repeat", "9")
    _, _, error = finish(start("exit", "0", options=options, FAKE_RECORDS=RECORDS))
    assert "coz: 1 run, " in error
    assert "2 runs" not in error


def test_end_of_profiling_is_handed_on(start: Start) -> None:
    options = ("--stop-after", "1.5s")
    _, out, _ = finish(start("environment", "COZ_STOP_AFTER", options=options, FAKE_RECORDS=RECORDS))
    assert out == "1500000000\n"
    status, _, error = finish(start("exit", "0", options=(*options, "--end-to-end")))
    assert status != 0
    assert "--end-to-end makes the whole run one experiment" in error


def test_warmup_is_handed_on(start: Start) -> None:
    _, out, _ = finish(start("environment", "COZ_WARMUP", options=("--warmup", "1.5s"), FAKE_RECORDS=RECORDS))
    assert out == "1500000000\n"
    _, out, _ = finish(start("environment", "COZ_WARMUP", COZ_WARMUP="7", FAKE_RECORDS=RECORDS))
    assert out == "(none)\n"


@pytest.mark.parametrize(
    "options",
    [("--repeat", "0"), ("--duration", "0"), ("--duration", "2d"), ("--until", "0%"), ("--until", "60%"),
     ("--warmup", "-1"), ("--warmup", "25h")],
)  # fmt: skip
def test_other_goals_are_refused(start: Start, tmp_path: Path, options: tuple[str, str]) -> None:
    status, _, error = finish(start("exit", "0", options=options))
    assert status == 2
    assert f"argument {options[0]}" in error
    assert not (tmp_path / "profile.coz").exists()


def test_a_second_run_is_appended_and_said(start: Start, tmp_path: Path) -> None:
    finish(start("exit", "0", FAKE_RECORDS=RECORDS))
    _, _, error = finish(start("exit", "0", FAKE_RECORDS=RECORDS))
    assert "profile.coz holds earlier runs" in error
    assert "coz: 1 experiment on" in error
    assert (tmp_path / "profile.coz").read_text().count('"experiment"') == 2
