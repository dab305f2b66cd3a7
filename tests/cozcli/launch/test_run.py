"""`coz run` with a stand-in for the runtime and the helper: launching, signals, statuses, summaries."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

ROOT = Path(__file__).resolve().parents[3]

RUNTIME = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* Writes what a test wants written, as the runtime would: only in the process that is profiled. */
__attribute__((constructor)) static void begin(void) {
  const char* process = getenv("COZ_PROCESS");
  if (!process || atoi(process) != getpid()) return;
  FILE* f = fopen(getenv("COZ_OUTPUT"), "a");
  if (f && getenv("FAKE_RECORDS")) fputs(getenv("FAKE_RECORDS"), f);
  if (f) fclose(f);
}
"""

HELPER = r"""#!{python}
import json, os, sys
answers = json.loads(os.environ.get("FAKE_HELPER", "{{}}"))
if "FAKE_CALLS" in os.environ:
    open(os.environ["FAKE_CALLS"], "a").write(" ".join(sys.argv) + "\n")
if sys.argv[1] == "build":
    status, answer = answers.get("build", [0, {{"table": "/t", "binary": sys.argv[-1], "warnings": []}}])
else:
    chosen = [{{"kind": option[2:], "wanted": text, "nearest": [],
                "found": [{{"location": "/src/" + text, "function": "f", "in_scope": True}}]}}
              for option, text in zip(sys.argv, sys.argv[1:]) if option in ("--line", "--function")]
    status, answer = answers.get("scope", [0, {{"lines": 3, "functions": 2, "files": [],
                                               "all_files": ["/src/a.c"], "chosen": chosen}}])
print(json.dumps(answer))
sys.exit(status)
"""

PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void say(const char* text) { if (write(1, text, strlen(text)) < 0) _exit(9); }
static void on(int n) {
  say(n == SIGTERM ? "got 15\n" : n == SIGUSR1 ? "got 10\n" : "got 2\n");
  if (n == SIGTERM) _exit(33);
}
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "exit")) return atoi(argv[2]);
  if (!strcmp(what, "raise")) { raise(atoi(argv[2])); return 0; }
  if (!strcmp(what, "cat")) { int c; while ((c = getchar()) != EOF) putchar(c); return 0; }
  if (!strcmp(what, "environment")) { puts(getenv(argv[2]) ? getenv(argv[2]) : "(none)"); return 0; }
  if (!strcmp(what, "dispositions")) {
    struct sigaction a; sigset_t m;
    for (int n = 1; n < 32; n++)
      if (!sigaction(n, 0, &a) && a.sa_handler != SIG_DFL) printf("%d changed\n", n);
    sigprocmask(SIG_BLOCK, 0, &m);
    for (int n = 1; n < 32; n++) if (sigismember(&m, n)) printf("%d blocked\n", n);
    return 0;
  }
  if (!strcmp(what, "leave")) {
    sigset_t m; int n;
    sigemptyset(&m); sigaddset(&m, SIGINT); sigprocmask(SIG_BLOCK, &m, 0);
    say("ready\n");
    return sigwait(&m, &n);
  }
  if (!strcmp(what, "wait")) {
    signal(SIGTERM, on); signal(SIGUSR1, on); signal(SIGINT, on);
    say("ready\n");
    for (;;) pause();
  }
  return 0;
}
"""

RECORDS = (
    '{"type":"run","format":"coz-profile","version":1,"program":"/p"}\n'
    '{"type":"experiment","block":0,"location":"/src/a.c:3","speedup":0,"effective_duration":9,"points":[]}\n'
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    (folder / "lib" / "coz").mkdir(parents=True)
    (folder / "libexec" / "coz").mkdir(parents=True)
    (folder / "runtime.c").write_text(RUNTIME)
    (folder / "program.c").write_text(PROGRAM)
    library = str(folder / "lib" / "coz" / "libcoz.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "runtime.c", "-o", library], cwd=folder, check=True)
    subprocess.run(["gcc", "-g", "program.c", "-o", "program"], cwd=folder, check=True)
    helper = folder / "libexec" / "coz" / "coz-linetable"
    helper.write_text(HELPER.format(python=sys.executable))
    helper.chmod(0o755)
    return folder


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(home: Path, tmp_path: Path) -> Start:
    def starter(*arguments: str, options: tuple[str, ...] = (), **extra: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COZ_HOME": str(home), **extra}
        command = [sys.executable, "-m", "cozcli", "run", *options, "---", str(home / "program")]
        return subprocess.Popen(
            [*command, *arguments],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return starter


def finish(process: subprocess.Popen[str], text: str = "") -> tuple[int, str, str]:
    out, error = process.communicate(text, timeout=60)
    return process.returncode, out, error


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


def test_a_run_on_nothing_but_a_region_never_entered(start: Start) -> None:
    records = '{"type":"run","format":"coz-profile","version":1,"fixed":["region zzz"]}\n'
    samples = json.loads(SAMPLES) | {
        "duration": 9,
        "points": [{"name": "p", "kind": "throughput", "visits": 3}],
    }
    records += json.dumps(samples, separators=(",", ":")) + "\n"
    _, _, error = finish(start("exit", "0", options=("--fixed-region", "zzz"), FAKE_RECORDS=records))
    assert "no experiment: the run took no sample in region zzz" in error
    assert "part, other" in error


def test_repeated_runs_go_into_one_profile(start: Start, tmp_path: Path) -> None:
    status, _, error = finish(start("exit", "0", options=("--repeat", "3"), FAKE_RECORDS=RECORDS))
    assert status == 0
    records = (tmp_path / "profile.coz").read_text()
    assert [records.count(f'"{kind}"') for kind in ("run", "experiment", "exit")] == [3, 3, 3]
    assert [line.partition(",")[0] for line in error.splitlines()[:3]] == [
        "coz: 1 run", "coz: 2 runs", "coz: 3 runs",
    ]  # fmt: skip
    assert error.splitlines()[3].startswith("coz: 3 experiments on 1 line in profile.coz; ")


def test_repeated_runs_differ_in_their_seed(start: Start) -> None:
    options = ("--repeat", "2", "--seed", "18446744073709551615")
    _, out, _ = finish(start("environment", "COZ_SEED", options=options, FAKE_RECORDS=RECORDS))
    assert out.split() == ["18446744073709551615", "0"]


@pytest.mark.parametrize("how", ["exit", "raise"])
def test_after_a_failure_there_is_no_other_run(start: Start, tmp_path: Path, how: str) -> None:
    status, _, error = finish(start(how, "6", options=("--duration", "1h"), FAKE_RECORDS=RECORDS))
    assert status == (6 if how == "exit" else -6)
    assert f"run 1 ended {'with status' if how == 'exit' else 'by signal'} 6; there is no other" in error
    assert (tmp_path / "profile.coz").read_text().count('"exit"') == 1


def test_an_interrupted_run_is_the_last_however_it_ends(start: Start, tmp_path: Path) -> None:
    process = start("leave", options=("--repeat", "50"), FAKE_RECORDS=RECORDS)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    status, _, error = finish(process)
    assert status == 0
    assert "run 1 was interrupted; there is no other" in error
    assert (tmp_path / "profile.coz").read_text().count('"exit"') == 1


def test_a_time_that_has_passed_ends_the_series(start: Start) -> None:
    options = ("--duration", "1ms", "--repeat", "9")
    _, _, error = finish(start("exit", "0", options=options, FAKE_RECORDS=RECORDS))
    assert "coz: 1 run, " in error
    assert "2 runs" not in error


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
    assert "coz run: error: unrecognized arguments: --nonsense" in error


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
