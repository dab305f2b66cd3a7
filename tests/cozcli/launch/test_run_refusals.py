"""What `coz run` refuses before the start, and options that make no sense."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from launching import RECORDS, ROOT, Start, finish

TWO_LINES = [{"location": f"/src/{name}:7", "in_scope": True} for name in ("a.c", "lib/a.c")]


@pytest.mark.parametrize(
    ("answers", "options", "words"),
    [
        ({"build": [3, {"error": "no-debug-info", "message": "m"}]}, (), "compile it with -g"),
        ({"build": [5, {"error": "cache", "message": "disk full"}]}, (), "disk full"),
        ({"scope": [0, {"lines": 0, "all_files": ["/src/a.c"]}]}, ("-s", "%zzz%"), "/src/a.c"),
        (
            {"scope": [0, {"lines": 9, "chosen": [{"found": [], "nearest": ["/src/a.c:9"]}]}]},
            ("--fixed-line", "a.c:10"),
            "/src/a.c:9",
        ),
        (
            {"scope": [0, {"chosen": [{"found": [{"location": "/usr/x.h:1", "in_scope": False}]}]}]},
            ("--fixed-line", "x.h:1"),
            "/usr/x.h:1 is out of scope",
        ),
        (
            {"scope": [0, {"chosen": [{"found": TWO_LINES, "nearest": []}]}]},
            ("--fixed-line", "a.c:7"),
            "a.c:7 is ambiguous: 2 files in scope",
        ),
        ({"scope": [0, {"lines": 9, "functions": 0}]}, ("--granularity", "function"), "no source function"),
        ({}, ("--granularity", "function", "--fixed-line", "a.c:3"), "--fixed-function"),
        ({}, ("--fixed-function", "f"), "--granularity function"),
        ({}, ("--fixed-lines", "nowhere"), "nowhere cannot be read"),
        ({}, ("--fixed-lines", "/dev/null"), "/dev/null lists no line"),
        ({}, ("-o", "/"), "directory"),
    ],
)
def test_refusals_before_the_start(
    start: Start, tmp_path: Path, answers: object, options: tuple[str, ...], words: str
) -> None:
    status, out, error = finish(start("cat", options=options, FAKE_HELPER=json.dumps(answers)))
    assert status == 2
    assert out == ""
    assert words in error
    assert "coz: error: " in error
    assert "coz: hint: " in error
    assert list(tmp_path.iterdir()) == []


SCOPE = {"lines": 0, "all_files": ["/src/a.c"], "chosen": [{"found": [], "nearest": []}]}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-b", "%nothing%"), ("nothing that is loaded at the start matches -b %nothing%", "libc.so")),
        (("-b", "MAIN", "-b", "%/p.so", "-s", "%zzz%"), ("no source line that is there at the start",)),
        (("-b", "MAIN", "-b", "%/p.so", "--fixed-line", "a.c:3"), ("it is selected once a library",)),
    ],
)
def test_what_may_be_loaded_later_is_no_reason_to_refuse(
    start: Start, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    answers = json.dumps({"scope": [0, SCOPE]})
    status, out, error = finish(
        start("environment", "COZ_TABLE_SOCKET", options=options, FAKE_HELPER=answers, FAKE_RECORDS=RECORDS)
    )
    assert (status, error.count("coz: error")) == (0, 0)
    assert int(out) >= 512
    for word in words:
        assert word in error
    # The stand-in for the runtime never asks.
    assert "the program loaded no library that matches -b" in error


@pytest.mark.parametrize("option", ["--fixed-wait", "--fixed-lock"])
def test_waits_are_refused_where_no_line_is_there_at_the_start(start: Start, option: str) -> None:
    """Whatever is loaded later: only lines are looked for then."""
    options = ("-b", "MAIN", "-b", "%/p.so", option, "a.c:3")
    status, _, error = finish(start("cat", options=options, FAKE_HELPER=json.dumps({"scope": [0, SCOPE]})))
    assert status == 2
    assert "coz: error: " in error
    assert "a.c:3" in error
    assert "once a library" not in error


def test_a_library_that_never_came_is_a_failure_if_nothing_was_measured(start: Start) -> None:
    nothing = RECORDS.splitlines()[0] + "\n"
    for options, records, arguments, wanted in (
        (("-b", "%/nolib.so"), nothing, ("exit", "0"), 2),
        (("-b", "nolib"), nothing, ("exit", "0"), 2),  # may be a program that this one starts
        (("-b", "%/nolib.so"), nothing, ("exit", "7"), 7),
        (("-b", "%/nolib.so"), RECORDS, ("exit", "0"), 0),
        (("-b", "MAIN", "-b", "%/nolib.so"), nothing, ("exit", "0"), 0),
    ):
        status, _, error = finish(start(*arguments, options=options, FAKE_RECORDS=records))
        assert status == wanted, (options, error)
        assert "matches -b" in error


def test_without_such_patterns_there_is_no_socket(start: Start) -> None:
    for options in ((), ("-b", "MAIN")):
        _, out, _ = finish(start("environment", "COZ_TABLE_SOCKET", options=options))
        assert out == "(none)\n"


def test_debuginfod_is_asked_only_by_its_option(start: Start, tmp_path: Path) -> None:
    for options in ((), ("--debuginfod",)):
        calls = tmp_path / "calls"
        environment = {"FAKE_CALLS": str(calls), "DEBUGINFOD_URLS": "http://127.0.0.1:9"}
        finish(start("exit", "0", options=options, FAKE_RECORDS=RECORDS, **environment))
        assert ("--debuginfod" in calls.read_text()) == bool(options)


def test_what_is_wrong_with_a_file_of_lines_has_its_numbers(start: Start, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("a.c:1\n#\na.c\nb.c:0\n")
    status, _, error = finish(start("cat", options=("--fixed-lines", "lines")))
    assert status == 2
    assert "line 3 is 'a.c'; line 4 is 'b.c:0'" in error
    (tmp_path / "lines").write_text("\na.c:10\nzzz.c:4\n")
    chosen = [{"found": [], "nearest": ["/src/a.c:9", "/src/a.c:12"]}, {"found": [], "nearest": []}]
    answers = {"scope": [0, {"lines": 9, "all_files": ["/src/a.c"], "chosen": chosen}]}
    status, _, error = finish(
        start("cat", options=("--fixed-lines", "lines"), FAKE_HELPER=json.dumps(answers))
    )
    assert status == 2
    assert "a.c:10 (lines, line 2; nearest: /src/a.c:9, /src/a.c:12)" in error
    assert "zzz.c:4 (lines, line 3; nothing near)" in error
    (tmp_path / "lines").write_text("a.c:7\n\na.c:7\n")
    answers = {"scope": [0, {"lines": 9, "chosen": [{"found": TWO_LINES, "nearest": []}] * 2}]}
    status, _, error = finish(
        start("cat", options=("--fixed-lines", "lines"), FAKE_HELPER=json.dumps(answers))
    )
    assert status == 2
    assert "a.c:7 (lines, line 1) is ambiguous: 2 files in scope" in error
    assert "/src/a.c:7, /src/lib/a.c:7" in error


def test_more_lines_than_an_environment_holds(start: Start, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("".join(f"{'d' * 100}/a.c:{i}\n" for i in range(1, 1300)))
    status, _, error = finish(start("cat", options=("--fixed-lines", "lines")))
    assert status == 2
    assert "1,299 chosen lines are more than" in error
    assert not (tmp_path / "profile.coz").exists()


@pytest.mark.parametrize(
    "options",
    [
        ("--speedups", "0"),
        ("--speedups", "25,101"),
        ("--speedups", "25,,50"),
        ("--speedups", "25,50,25"),
        ("--speedups", ""),
        ("--speedups", "25", "--fixed-speedup", "25"),
        ("--companions", "51"),
        ("--companions", "-1"),
        ("--companions", "some"),
        ("--companions", "5", "--one-at-a-time"),
        ("--fixed-line", "a.c:0"),
        ("--fixed-region", " "),
        ("--fixed-speedup", "101"),
        ("--fixed-speedup", "0.5"),
        ("--fixed-speedup", "-1"),
        ("--period", "1us"),
        ("--period", "1s"),
        ("--period", "soon"),
        ("--seed", "-1"),
        ("--fixed-line", "a.c"),
        ("--sampling", "magic"),
    ],
)
def test_options_that_make_no_sense(start: Start, options: tuple[str, ...]) -> None:
    status, _, error = finish(start("exit", "0", options=options))
    assert status == 2
    assert options[0] in error


def test_unknown_options_show_the_usage_of_their_command(start: Start) -> None:
    status, _, error = finish(start("exit", "0", options=("--nonsense",)))
    assert status == 2
    assert error.startswith("usage: coz run [options] --- PROGRAM")
    assert "coz run: error: unrecognized arguments: --nonsense\n" in error


def test_an_option_with_a_slip_is_guessed(start: Start) -> None:
    status, _, error = finish(start("exit", "0", options=("--progres=a.c:3",)))
    assert status == 2
    assert "unrecognized arguments: --progres=a.c:3 (did you mean --progress?)" in error


def test_no_program(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for words in ([], ["---"], ["./prog", "x"]):
        done = subprocess.run(
            [sys.executable, "-m", "cozcli", "run", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert "coz run --- ./prog" in done.stderr
