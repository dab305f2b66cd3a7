"""A program under `coz run` behaves as it does without."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COZ = ROOT / "build/bin/coz"


@pytest.mark.first
@pytest.mark.parametrize("status", [0, 1, 42, 255])
def test_exit_status(coz, build, status):
    run = coz.run([build("loop.c"), 0.3, "exit", status])
    assert run.status == status
    assert run.records("exit")[-1]["status"] == status


@pytest.mark.parametrize("name", ["SIGTERM", "SIGSEGV", "SIGABRT"])
def test_death_by_signal(coz, build, name):
    number = getattr(signal, name).value
    run = coz.run([build("loop.c"), 0.3, "raise", number])
    assert run.status in (-number, 128 + number)
    assert run.records("exit")[-1]["signal"] == number


def test_a_program_that_does_not_end_is_ended(coz, build):
    run = coz.run([build("loop.c"), 1000], "--end-after", "1s", "--repeat", "2")
    assert run.status == 0
    assert [record["signal"] for record in run.records("exit")] == [signal.SIGTERM, signal.SIGTERM]


def test_a_program_that_ends_before_its_time_ends_as_it_likes(coz, build):
    run = coz.run([build("loop.c"), 0.3, "exit", 7], "--end-after", "50s")
    assert run.status == 7


def test_output_is_the_programs_own(coz, build):
    program = [str(build("loop.c")), "0.3", "some text"]
    alone = subprocess.run(program, capture_output=True, text=True, check=True)
    run = coz.run(program)
    assert run.out == alone.stdout
    assert "err\n" in run.err


def test_arguments_and_input(coz, build):
    arguments = ["", "two words", "--help", "---", "-o", "$HOME", "*", "ü"]
    run = coz.run([build("arguments.c"), *arguments], input="line one\nline two\n")
    assert run.out == "".join(f"[{a}]\n" for a in arguments) + "line one\nline two\n"


@pytest.mark.parametrize("separator", ["---", "--"])
def test_separators(coz, build, separator):
    run = coz("run", "-o", coz.profile, separator, build("loop.c"), 0.2, "exit", 9)
    assert run.status == 9


def test_from_any_folder_and_by_a_link(coz, build, tmp_path):
    link = tmp_path / "my coz"
    link.symlink_to(os.path.relpath(COZ, tmp_path))
    done = subprocess.run([link, "run", "-o", "p.coz", "---", build("loop.c"), "0.2"], cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "p.coz").exists()


@pytest.mark.parametrize("locale", ["C.UTF-8", ""])
def test_environment_is_left_alone(coz, tmp_path, locale):
    """Nothing but what the launch contract names is added. Without a locale Python sets one for itself."""
    for name in ("LANG", "LC_ALL", "LC_CTYPE"):
        coz.environment.pop(name, None)
    if locale:
        coz.environment["LANG"] = locale
    probe = tmp_path / "probe.c"
    probe.write_text(
        "#include <coz.h>\n#include <stdio.h>\nextern char** environ;\n"
        "int main(void) { for (char** e = environ; *e; e++) puts(*e); COZ_PROGRESS; return 0; }\n"
    )
    subprocess.run(["gcc", "-g", "-I", ROOT / "include", "-o", tmp_path / "probe", probe], check=True)
    names = {line.split("=")[0] for line in coz.run([tmp_path / "probe"]).out.splitlines() if "=" in line}
    added = names - set(coz.environment)
    assert all(name == "LD_PRELOAD" or name.startswith("COZ_") for name in added), added


def test_children(coz, build):
    run = coz.run([build("family.c")])
    assert run.status == 0
    assert "child: 5\n" in run.out
    assert "shell: 3\n" in run.out
    assert "stray children: 0\n" in run.out
    (preload,) = [line for line in run.out.splitlines() if line.startswith("preload: ")]
    assert "libcoz.so" in preload
    # The children are not profiled and write nothing.
    assert len(run.records("run")) == 1


def test_preload_of_the_user_comes_first(coz, build):
    run = coz.run([build("family.c")], env={"LD_PRELOAD": "libm.so.6"})
    (preload,) = [line for line in run.out.splitlines() if line.startswith("preload: ")]
    assert preload.index("libm.so.6") < preload.index("libcoz.so")


def test_what_programs_rely_on(coz, build):
    run = coz.run([build("manners.cpp")])
    assert run.status == 0, run.err
    wrong = [line for line in run.out.splitlines() if not line.endswith(": yes")]
    assert wrong == []
    assert len(run.out.splitlines()) == 12


MODES = ["perf-trap", "perf-signal", "timer"]
SIGSTKFLT = 16


@pytest.mark.parametrize("sampling", MODES)
def test_blocking_calls_keep_their_promises(coz, build, sampling):
    """Return values, errors, the program's own signals, cancellation."""
    run = coz.run([build("blocking_calls.cpp")], "--sampling", sampling)
    assert run.status == 0, run.err
    assert [line for line in run.out.splitlines() if not line.endswith(": yes")] == []
    assert len(run.out.splitlines()) == 51


@pytest.mark.parametrize("sampling", MODES)
def test_samples_interrupt_no_call(coz, build, sampling):
    """In two modes even a flood of what the program takes for samples."""
    flood = 0 if sampling == "perf-trap" else SIGSTKFLT
    run = coz.run([build("interrupted_calls.cpp"), flood], "--sampling", sampling)
    assert run.status == 0, run.err
    assert [line for line in run.out.splitlines() if not line.endswith(": yes")] == []
    assert len(run.out.splitlines()) == 33


@pytest.mark.parametrize("sampling", MODES)
@pytest.mark.parametrize("read", ["trap", "stkflt", "usr1", "both", "all"])
def test_a_signal_that_cannot_be_read_is_named(coz, build, sampling, read):
    """By `signalfd` the program never gets the signal of samples: said if it asks for that one by itself."""
    run = coz.run([build("signal_descriptor.c"), read], "--sampling", sampling)
    assert (run.status, run.out) == (0, "read SIGUSR1\n"), run.err
    ours, other = ("trap", "perf-signal") if sampling == "perf-trap" else ("stkflt", "perf-trap")
    told = [line for line in run.err.splitlines() if "from a descriptor" in line]
    if read != ours:
        assert told == []
        return
    (line,) = told
    assert f"reads SIG{ours.upper()} " in line
    assert line.endswith(f"--sampling {other}")


@pytest.mark.parametrize("sampling", MODES)
@pytest.mark.parametrize("number", [54, 55, 56])
def test_a_program_that_handles_a_stand_in_is_told(coz, build, sampling, number):
    """One real-time signal carries the program's use of the signal of samples, and is not the program's."""
    run = coz.run([build("real_time_signal.c"), number], "--sampling", sampling)
    is_ours = number == (56 if sampling == "perf-trap" else 55)
    assert (run.status, run.out) == (0, "came 0\n" if is_ours else "came 1\n"), run.err
    told = [line for line in run.err.splitlines() if f"handles signal {number}" in line]
    assert len(told) == (1 if is_ours else 0), run.err


def test_ctrl_c_leaves_a_profile(coz, build):
    process = coz.start([build("loop.c"), 60], "--speedups", "50")
    coz.wait_for_experiments(6)
    os.killpg(process.pid, signal.SIGINT)
    run = coz.finished(process)
    assert run.status in (-signal.SIGINT, 130)
    assert len(run.records("experiment")) >= 2
    assert coz.results() is not None


def test_sigterm_reaches_the_program(coz, build, pid_of):
    program = build("loop.c")
    process = coz.start([program, 60])
    pid = pid_of(process, program)
    coz.wait_for_experiments(1)
    process.send_signal(signal.SIGTERM)
    run = coz.finished(process)
    assert run.status in (-signal.SIGTERM, 143)
    assert run.records("exit")[-1]["signal"] == signal.SIGTERM
    time.sleep(0.1)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_kill_9_leaves_a_readable_profile(coz, build, pid_of):
    program = build("loop.c")
    process = coz.start([program, 60], "--speedups", "50")
    coz.wait_for_experiments(6)
    os.kill(pid_of(process, program), signal.SIGKILL)
    run = coz.finished(process)
    assert run.status in (-signal.SIGKILL, 137)
    assert len(run.records("experiment")) >= 6
    report = coz("report", coz.profile)
    assert report.status == 0, report.err
