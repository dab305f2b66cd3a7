"""The command line from outside: output, messages and statuses of report and plot."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from in_fork import coz
from synthetic import Line, Model, to_bytes

from cozcli.cli import parse
from cozcli.messages import duration, significant

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    lines = [Line("/src/a.c:1", lambda s: 0.5 * s), Line("/src/a.c:2", lambda s: 0.0)]
    (tmp_path / "profile.coz").write_bytes(to_bytes(Model(lines).records(40)))
    return tmp_path


def test_report_reads_profile_coz_by_default(profile: Path) -> None:
    done = coz("report", cwd=profile)
    assert done.returncode == 0
    assert "a.c:1" in done.stdout
    assert done.stderr == ""


def test_report_json_and_filters(profile: Path) -> None:
    done = coz("report", "--json", "--line", "a.c:2", "--progress-point", "request", cwd=profile)
    results = json.loads(done.stdout)["results"]
    assert [result["location"] for result in results] == ["/src/a.c:2"]


def test_warnings_go_to_standard_error(profile: Path) -> None:
    with (profile / "profile.coz").open("ab") as stream:
        stream.write(b"rubbish\n")
    done = coz("report", "--json", cwd=profile)
    (warning,) = json.loads(done.stdout)["warnings"]
    assert warning["text"].startswith("profile.coz: 1 line skipped")
    assert warning["hint"].startswith("if two programs wrote to this file")
    assert "coz: warning: profile.coz: 1 line skipped" in done.stderr


def test_plot_prints_the_path(profile: Path) -> None:
    done = coz("plot", "-o", "out.svg", cwd=profile)
    assert (done.returncode, done.stdout) == (0, "out.svg\n")
    assert (profile / "out.svg").stat().st_size > 1000


def test_runs_of_one_speedup_are_drawn(profile: Path) -> None:
    records = Model([Line("/src/a.c:1", lambda s: 0.5 * s)], speedups=(0.4,)).records(20)
    (profile / "profile.coz").write_bytes(to_bytes(records))
    assert "--min-points 1" in coz("plot", cwd=profile).stderr
    records[0]["fixed_speedup"] = 0.4
    (profile / "profile.coz").write_bytes(to_bytes(records))
    assert coz("plot", cwd=profile).returncode == 0
    assert "--min-points 1" in coz("plot", "--min-points", "5", cwd=profile).stderr


def test_runs_of_few_speedups_are_drawn(profile: Path) -> None:
    records = Model([Line("/src/a.c:1", lambda s: 0.5 * s)], speedups=(0.25, 0.5)).records(20)
    records[0]["speedups"] = [0.25, 0.5]
    (profile / "profile.coz").write_bytes(to_bytes(records))
    assert coz("plot", cwd=profile).returncode == 0
    assert "--min-points 2" in coz("plot", "--min-points", "3", cwd=profile).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "none.coz"], "no profile none.coz"),
        (["report", "."], "directory"),
        (["report", "empty"], "empty"),
        (["report", "text"], "not a coz profile"),
        (["report", "unfinished"], "no experiment"),
        (["report", "--min-points", "30"], "--min-points"),
        (["report", "--line", "zzz"], "no line"),
        (["plot", "-o", "x.gif"], ".png, .svg or .pdf"),
        (["plot", "-o", "x"], ".png, .svg or .pdf"),
        (["plot", "-o", "no/such/dir/x.png"], "cannot be written"),
        (["plot", "-o", "dir.png"], "directory"),
        (["plot", "--min-points", "30"], "--min-points"),
    ],
)
def test_bad_input_has_a_message_a_hint_and_a_status(profile: Path, arguments: list[str], words: str) -> None:
    (profile / "empty").touch()
    (profile / "text").write_text("hello\n")
    (profile / "unfinished").write_text('{"type":"run","format":"coz-profile","version":1,"program":"/p"}\n')
    (profile / "dir.png").mkdir()
    done = coz(*arguments, cwd=profile)
    assert done.returncode != 0
    assert done.stdout == ""
    assert done.stderr.startswith("coz: error: ")
    assert "coz: hint: " in done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["report", "plot"])
def test_unknown_options_show_the_usage_of_their_command(profile: Path, command: str) -> None:
    done = coz(command, "--nonsense", cwd=profile)
    assert done.returncode == 2
    assert done.stderr.startswith(f"usage: coz {command} ")
    assert "--nonsense" in done.stderr.splitlines()[-1]


def test_the_first_steps_stand_on_lines_of_their_own(tmp_path: Path) -> None:
    text = coz("--help", cwd=tmp_path).stdout
    assert re.search(r"^first: +coz run --- \./program arguments$", text, re.MULTILINE)
    assert re.search(r"^then: +coz report$", text, re.MULTILINE)


def test_help_is_as_wide_as_columns_says(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for columns, widest in (("60", 58), ("150", 148), ("none", 78)):
        text = subprocess.run(
            [sys.executable, "-m", "cozcli", "doctor", "--help"],
            cwd=tmp_path,
            env={**environment, "COLUMNS": columns},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        assert widest - 12 < max(map(len, text.splitlines())) <= widest


def test_a_pipe_gets_the_table_before_the_warnings(profile: Path) -> None:
    with (profile / "profile.coz").open("ab") as stream:
        stream.write(b"rubbish\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    for command, first in (("report", "Program: "), ("plot", "profile.png")):
        done = subprocess.run(
            [sys.executable, "-m", "cozcli", command],
            cwd=profile,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.stdout.startswith(first)
        assert done.stdout.splitlines()[-1].startswith("coz: hint: ")


@pytest.mark.parametrize(
    "command",
    [
        ("view", "--no-open"),
        ("diff", "profile.coz", "profile.coz"),
        ("merge", "-o", "all.coz", "profile.coz"),
    ],
    ids=lambda command: command[0],
)
def test_a_command_imports_all_that_it_needs(profile: Path, command: tuple[str, ...]) -> None:
    """In a process of its own. Of the other commands, other tests show it."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "cozcli", *command],
        cwd=profile,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_closed_pipe_is_no_error(profile: Path) -> None:
    command = f"{sys.executable} -m cozcli report --json | head -c 1"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=profile,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "{"
    assert done.stderr == ""


def test_a_locale_without_unicode_still_gets_its_report(profile: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-m", "cozcli", "report"], cwd=profile, env=environment, check=False
    )
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["view", "--top", "0"], "argument --top: must be a whole number of at least 1 (got '0')"),
        (["view", "--top", "x"], "argument --top: must be a whole number of at least 1 (got 'x')"),
        (["report", "--min-points", "1.5"], "must be a whole number of at least "),
        (["compare", "-n", "1", "./a", "---", "vs", "./b"], "must be a whole number from "),
    ],
)
def test_numbers_that_an_option_does_not_take(words: list[str], said: str, tmp_path: Path) -> None:
    done = coz(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr


def test_fail_if_ends_with_status_1_and_says_which(profile: Path) -> None:
    thresholds = ("--fail-if", "a.c:1 > 10%", "--fail-if", "a.c:1 > 99%")
    done = coz("report", "--csv", *thresholds, cwd=profile)
    assert done.returncode == 1
    assert done.stderr.startswith("coz: threshold 'a.c:1 > 10%' is exceeded: ")
    assert "99%" not in done.stderr
    assert coz("report", *thresholds[2:], cwd=profile).returncode == 0
    missing = coz("report", "--fail-if", "nowhere.c > 1%", cwd=profile)
    assert missing.returncode == 2
    assert "coz: error: the threshold 'nowhere.c > 1%' cannot be checked" in missing.stderr
    moved = coz("report", "--fail-if", "a.c:7 > 1%", cwd=profile)
    assert moved.returncode == 2
    assert "The closest lines are /src/a.c:2, /src/a.c:1" in moved.stderr
    assert "its points are request" in moved.stderr
    assert coz("report", "--fail-if", "a.c:1 > 99% on reqest", cwd=profile).returncode == 2
    both = coz("report", "--fail-if", "nowhere.c > 1%", *thresholds[:2], cwd=profile)
    assert both.returncode == 1
    assert "coz: warning: the threshold 'nowhere.c > 1%'" in both.stderr
    line = {"location": "/src/a.c:7", "function": "f", "count": 1}
    samples = {"type": "samples", "run_time": 1, "total": 1, "lines": [line]}
    with (profile / "profile.coz").open("a") as stream:
        stream.write(json.dumps(samples) + "\n")
    rare = coz("report", "--fail-if", "a.c:7 > 1%", cwd=profile)
    assert rare.returncode == 0
    assert "takes too little time to have been measured" in rare.stderr
    with (profile / "profile.coz").open("rb+") as stream:
        records = [json.loads(text) for text in stream]
        window = next(record for record in records if record.get("speedup", 0) > 0)
        window["points"].append({"name": "commit", "kind": "throughput", "visits": 3, "elapsed": 1_000_000})
        stream.seek(0)
        stream.write(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    few = coz("report", "--fail-if", "% > 1% on commit", cwd=profile)
    assert few.returncode == 0
    assert "is not checked: commit was visited in too few experiments" in few.stderr
    assert "takes too little time" not in few.stderr
    refused = coz("report", "--fail-if", "a.c:1", cwd=profile)
    assert refused.returncode == 2
    assert "LINE > N% or LINE < N%" in refused.stderr


@pytest.mark.parametrize("shown", [("--line", "a.c:2"), ("--min-points", "5")])
def test_fail_if_looks_at_all_results_whichever_are_shown(profile: Path, shown: tuple[str, str]) -> None:
    """Of the line that the threshold names only two speedups were to be tried."""
    lines = [Line("/src/a.c:1", lambda s: 0.5 * s), Line("/src/a.c:2", lambda s: 0.0)]
    raw = b""
    for line, speedups in zip(lines, ([0.25, 0.5], [0.1, 0.25, 0.4, 0.5, 0.75, 1.0]), strict=True):
        records = Model([line], speedups=speedups).records(40)
        raw += to_bytes([records[0] | {"speedups": speedups}, *records[1:]])
    (profile / "profile.coz").write_bytes(raw)
    done = coz("report", "--csv", *shown, "--fail-if", "a.c:1 > 10%", cwd=profile)
    assert "a.c:1" not in done.stdout
    assert (done.returncode, "threshold 'a.c:1 > 10%' is exceeded" in done.stderr) == (1, True)


def test_a_threshold_beyond_the_curves_is_no_silent_pass(profile: Path) -> None:
    records = Model([Line("/src/a.c:1", lambda s: 0.5 * s)], speedups=(0.25, 0.5)).records(40)
    records[0]["speedups"] = [0.25, 0.5]
    (profile / "profile.coz").write_bytes(to_bytes(records))
    done = coz("report", "--fail-if", "a.c:1 > 10% at 75%", cwd=profile)
    assert done.returncode == 0
    assert "coz: warning: the threshold 'a.c:1 > 10% at 75%' is not checked: no such speedup" in done.stderr
    within = coz("report", "--fail-if", "a.c:1 > 90% at 50%", cwd=profile)
    assert (within.returncode, within.stderr) == (0, "")


def test_a_full_disk_is_an_error_of_its_own(profile: Path) -> None:
    """Status 1 would say that a threshold was exceeded."""
    command = [sys.executable, "-m", "cozcli", "report", "--json"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, cwd=profile, stdout=full, stderr=subprocess.PIPE, text=True, env=in_tree(), check=False
        )
    assert done.returncode == 2
    assert done.stderr.startswith("coz: error: standard output cannot be written (No space left")


@pytest.mark.parametrize("both", [False, True])
def test_a_gate_holds_though_nobody_reads_on(profile: Path, both: bool) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "cozcli", "report", "--json", "--fail-if", "a.c:1 > 1%"]
    complaints = writer if both else subprocess.PIPE
    done = subprocess.run(command, cwd=profile, stdout=writer, stderr=complaints, env=in_tree(), check=False)
    os.close(writer)
    assert done.returncode == 1, done.stderr


def test_a_removed_folder_is_no_crash(profile: Path, tmp_path: Path) -> None:
    here = tmp_path / "removed"
    command = f"mkdir {here}; cd {here}; rmdir {here}; {sys.executable} -m cozcli report --sarif "
    done = subprocess.run(
        ["bash", "-c", command + str(profile / "profile.coz")],
        env=in_tree(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "file:///" in done.stdout


def test_files_may_stand_on_both_sides_of_an_option() -> None:
    assert parse(["report", "a.coz", "--json", "b.coz"]).files == ["a.coz", "b.coz"]
    assert parse(["merge", "a.coz", "-o", "all.coz", "b.coz"]).files == ["a.coz", "b.coz"]
    with pytest.raises(SystemExit):
        parse(["view", "a.coz", "--compare", "b.coz", "c.coz"])


def test_a_picture_that_may_not_be_written_is_refused(profile: Path) -> None:
    done = coz("plot", "-o", "x" * 300 + ".png", cwd=profile)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr


def in_tree() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_stray_words_before_the_program_are_refused(tmp_path: Path) -> None:
    done = coz("run", "--fixed-line", "a.c:1", "a.c:2", "---", "/bin/true", cwd=tmp_path)
    assert done.returncode == 2
    assert "unrecognized arguments: a.c:2" in done.stderr


@pytest.mark.parametrize("option", ["--warmup", "--stop-after"])
def test_a_whole_run_has_no_parts(tmp_path: Path, option: str) -> None:
    done = coz("run", "--end-to-end", option, "5s", "---", "/bin/true", cwd=tmp_path)
    assert done.returncode == 2
    assert f"{option} profiles a part of the run" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--warmup", "60s", "--stop-after", "60s"), "--warmup is not shorter than --stop-after"),
        (("--warmup", "60s", "--end-after", "20s"), "--warmup is not shorter than --end-after"),
        (("--until", "2%", "--fixed-speedup", "0"), "--until would never be reached"),
    ],
)
def test_runs_that_could_measure_nothing_are_refused(
    tmp_path: Path, options: Sequence[str], words: str
) -> None:
    done = coz("run", *options, "---", "/bin/true", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr


def test_numbers_have_no_exponents() -> None:
    assert [duration(time) for time in (12, 999.7, 1.2e6, 999.6e6, 1234e9)] == [
        "12 ns",
        "1 µs",
        "1.2 ms",
        "1 s",
        "1,230 s",
    ]
    assert [significant(value, 4) for value in (12345, 0.012345, 5, 0)] == ["12,340", "0.01235", "5", "0"]
