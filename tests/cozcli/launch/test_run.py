"""`coz run` with a stand-in for the runtime and the helper: launching, signals, statuses, summaries."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, cast

import pytest
from launching import RECORDS, ROOT, Start, finish

from cozcli.launch.program import run_program


def test_status_passes_through_and_one_line_says_what_came_of_it(start: Start, tmp_path: Path) -> None:
    status, out, error = finish(start("exit", "42", FAKE_RECORDS=RECORDS))
    assert (status, out) == (42, "")
    summary = "coz: 1 experiment on 1 line in profile.coz; see them with: coz report profile.coz"
    assert error == f"{summary}   (they are few: run longer, or again, which adds to the profile)\n"
    experiment = next(line for line in RECORDS.splitlines() if '"experiment"' in line) + "\n"
    _, _, error = finish(start("exit", "0", options=("-o", "2"), FAKE_RECORDS=RECORDS + 8 * experiment))
    assert "9 experiments on 1 line in 2; " in error
    assert "few" not in error
    last = (tmp_path / "profile.coz").read_text().splitlines()[-1]
    assert json.loads(last) == {"type": "exit", "status": 42}


def test_an_empty_run_is_never_silent(start: Start, tmp_path: Path) -> None:
    _, _, error = finish(start("exit", "0", FAKE_RECORDS=RECORDS.splitlines()[0] + "\n"))
    # The form of `coz report`, but for the word: the program has run all the same.
    assert error.startswith("coz: warning: no experiment: ")
    assert error.splitlines()[1].startswith("coz: hint: ")
    assert " Also: coz doctor " in error
    assert error.count("\n") == 2
    _, _, error = finish(start("exit", "0", options=("-o", "other.coz")))
    assert "did not start" in error
    assert not (tmp_path / "other.coz").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_death_by_a_signal_passes_through(start: Start, tmp_path: Path, number: int) -> None:
    status, _, _ = finish(start("raise", str(int(number)), FAKE_RECORDS=RECORDS))
    assert status == -number
    last = (tmp_path / "profile.coz").read_text().splitlines()[-1]
    assert json.loads(last) == {"type": "exit", "signal": number}


def test_a_broken_last_record_is_closed(start: Start, tmp_path: Path) -> None:
    finish(start("raise", "9", FAKE_RECORDS=RECORDS + '{"type":"exp'))
    lines = (tmp_path / "profile.coz").read_text().splitlines()
    assert lines[-2:] == ['{"type":"exp', '{"type": "exit", "signal": 9}']


def test_streams_are_the_programs_own(start: Start) -> None:
    status, out, _ = finish(start("cat"), "one\ntwo\n")
    assert (status, out) == (0, "one\ntwo\n")


def test_dispositions_and_mask_are_a_shells(start: Start) -> None:
    _, out, _ = finish(start("dispositions"))
    assert out == ""


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGINT])
def test_signals_to_the_launcher_reach_the_program_once(start: Start, number: int) -> None:
    process = start("wait", FAKE_RECORDS=RECORDS)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    assert process.stdout.readline() == f"got {int(number)}\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    status, out, error = finish(process)
    assert (status, out) == (33, "got 15\n")
    assert "1 experiment" in error


def test_ctrl_c_reaches_the_program_once(home: Path, tmp_path: Path) -> None:
    """From a terminal the kernel signals the whole foreground group; the launcher must not add one."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(tmp_path)
        os.environ.update(PYTHONPATH=str(ROOT), COZ_HOME=str(home), FAKE_RECORDS=RECORDS)
        command = [sys.executable, "-m", "cozcli", "run", "---", str(home / "program"), "wait"]
        os.execv(sys.executable, command)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    while b"got 2" not in seen:
        seen += os.read(terminal, 1000)
    time.sleep(0.3)
    os.kill(process, signal.SIGTERM)
    with contextlib.suppress(OSError):  # a terminal whose last user has left reads as an error
        while chunk := os.read(terminal, 1000):
            seen += chunk
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 33
    assert seen.count(b"got 2") == 1


def test_environment_of_the_program(start: Start, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("# chosen\n\na.c:9\tf\n  b c.c:1 # hot\na.c:3\n")
    options = (
        "--fixed-line",
        "a.c:3",
        "--fixed-lines",
        "lines",
        "--fixed-region",
        "part",
        "--fixed-speedup",
        "0",
    )
    options += ("--period", "500us", "--seed", "7")
    for name, value in (
        ("COZ_FIXED_TARGETS", "line\t/src/a.c:3\nline\t/src/a.c:9\nline\t/src/b c.c:1\nregion\tpart"),
        ("COZ_SPEEDUPS", "(none)"),
        ("COZ_FIXED_SPEEDUP", "0"),
        ("COZ_PERIOD", "500000"),
        ("COZ_SEED", "7"),
        ("COZ_OUTPUT", str(tmp_path / "profile.coz")),
        ("COZ_END_TO_END", "(none)"),
    ):
        _, out, _ = finish(start("environment", name, options=options))
        assert out == value + "\n"


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ((), "5"),
        (("--one-at-a-time",), "(none)"),
        (("--companions", "0"), "(none)"),
        (("--companions", "7.5%"), "7.5"),
    ],
)
def test_the_companions_dose_reaches_the_program(start: Start, options: tuple[str, ...], value: str) -> None:
    _, out, _ = finish(start("environment", "COZ_COMPANIONS", options=options))
    assert out == value + "\n"


@pytest.mark.parametrize(
    ("options", "waits", "fixed"),
    [
        ((), "(none)", "(none)"),
        (("--waits",), "sites", "(none)"),
        (("--wait-classes",), "classes", "(none)"),
        (("--fixed-wait", "a.c:3"), "sites", "wait\t/src/a.c:3"),
    ],
)
def test_which_waits_are_targets_reaches_the_program(
    start: Start, options: tuple[str, ...], waits: str, fixed: str
) -> None:
    for name, value in (("COZ_WAITS", waits), ("COZ_FIXED_TARGETS", fixed)):
        _, out, _ = finish(start("environment", name, options=options))
        assert out == value + "\n"


def test_functions_and_speedups_reach_the_program(start: Start) -> None:
    options = ("--granularity", "function", "--fixed-function", "f", "--fixed-function", "g")
    options += ("--speedups", "50,0,25%")
    for name, value in (
        ("COZ_FIXED_TARGETS", "function\t/src/f\nfunction\t/src/g"),
        ("COZ_SPEEDUPS", "25,50"),
        ("COZ_FIXED_SPEEDUP", "(none)"),
        ("COZ_GRANULARITY", "function"),
    ):
        _, out, _ = finish(start("environment", name, options=options))
        assert out == value + "\n"


SAMPLES = (
    '{"type":"samples","run_time":9,"total":9,"in_scope":9,"regions":["part","other"],"lines":['
    '{"kind":"line","location":"/src/a.c:3","count":9},'
    '{"kind":"callpath","location":"/src/a.c:9 < /src/a.c:1","count":9}]}\n'
)


def test_what_was_chosen_and_never_ran_is_said(start: Start) -> None:
    options = ("--fixed-line", "a.c:3", "--fixed-line", "a.c:9", "--fixed-line", "a.c:7")
    options += ("--fixed-region", "part", "--fixed-region", "zzz")
    _, _, error = finish(start("exit", "0", options=options, FAKE_RECORDS=RECORDS + SAMPLES))
    assert "no sample was taken in /src/a.c:7, region part: " in error
    assert "never entered the region zzz, " in error
    assert "regions that it entered: other, part\n" in error
    _, _, error = finish(
        start("exit", "0", options=(*options[:4], "-o", "2"), FAKE_RECORDS=RECORDS + SAMPLES)
    )
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("fixed", "words"),
    [
        ("region zzz", ("the run took no sample in region zzz", "part, other")),
        ("wait /a.c:3", ("no thread was seen to wait at /a.c:3", "at conditions and semaphores cannot be")),
    ],
)
def test_a_run_on_nothing_but_what_was_never_there(start: Start, fixed: str, words: tuple[str, ...]) -> None:
    run = {"type": "run", "format": "coz-profile", "version": 1, "fixed": [fixed]}
    records = json.dumps(run, separators=(",", ":")) + "\n"
    samples = json.loads(SAMPLES) | {
        "duration": 9,
        "points": [{"name": "p", "kind": "throughput", "visits": 3}],
    }
    records += json.dumps(samples, separators=(",", ":")) + "\n"
    _, _, error = finish(start("exit", "0", options=("--fixed-region", "zzz"), FAKE_RECORDS=records))
    assert all(each in error for each in ("no experiment: ", *words)), error


def test_ctrl_z_before_the_program_is_executed_stops_us_too(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child is stopped then, and we are waiting for it."""
    fork, execute, main = os.fork, os.execve, threading.get_ident()
    children: list[int] = []
    stops: list[int] = []

    def forked() -> int:
        children.append(fork())
        return children[-1]

    def stopped_before(*arguments: Any) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)
        execute(*arguments)

    def press() -> None:
        while not children or ") T " not in Path(f"/proc/{children[0]}/stat").read_text():
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGTSTP)

    class Row:
        def stop_process(self) -> None:
            """As if until `fg`."""
            stops.append(children[0])
            os.kill(children[0], signal.SIGCONT)

    class Live:
        row = Row()

        def start(self) -> None:
            """What the program does before it is shown."""

        def close(self) -> None:
            pass

    monkeypatch.setattr(os, "fork", forked)
    monkeypatch.setattr(os, "execve", stopped_before)
    presser = threading.Thread(target=press)
    presser.start()
    program = str(home / "program")
    ending = run_program(Path(program), [program, "exit", "3"], os.environ, live=cast("Any", Live()))
    presser.join()
    assert (ending.status, stops) == (3, children)
