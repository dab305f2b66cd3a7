"""-b names a program that the launched one starts: it is profiled, and what starts it is not."""

import os
import shutil
import signal
import stat
import subprocess
import time

import pytest

QUIET = ("--fixed-speedup", 0)


@pytest.fixture
def prog(build, tmp_path):
    """A program with a name of its own."""
    program = tmp_path / "prog"
    shutil.copy(build("loop.c"), program)
    return program


def profiled(run):
    return [record["program"] for record in run.records("run")]


@pytest.mark.parametrize("name", ["prog", "%/prog", "pr%g"])
@pytest.mark.parametrize("shell", ["{} {}; true", "exec {} {}"])
def test_of_a_shell_the_named_program_is_profiled(coz, prog, name, shell):
    run = coz.run_until(1, ["sh", "-c", shell.format(prog, coz.enough)], "-b", name, *QUIET)
    assert run.status == 0, run.err
    assert profiled(run) == [str(prog)]
    assert run.records("experiment"), run.err
    assert "experiment" in run.err
    assert run.warnings() == []


def test_a_launcher_stays_outside_and_starts_coz_in_place_of_the_program(coz, prog):
    command = ["sh", "-c", 'for i in 1 2; do "$@"; done', "sh", prog, "0.5"]
    run = coz.run(command, "-l", "prog", *QUIET)
    assert run.status == 0, run.err
    assert profiled(run) == [str(prog)] * 2


def test_a_launcher_of_another_program_is_refused(coz, prog):
    run = coz.run(["nice", "-n", "1", prog, "0.5"], "-l", "other")
    assert run.status == 2
    assert f"no word of the command is other, so nothing was started: nice -n 1 {prog} 0.5" in run.err


def test_a_program_without_launcher_is_profiled_as_ever(coz, prog):
    run = coz.run([prog, "0.5"], "-l", "prog", *QUIET)
    assert run.status == 0, run.err
    assert profiled(run) == [str(prog)]


def test_of_make_the_named_program_is_profiled_run_by_run(coz, prog, tmp_path):
    (tmp_path / "Makefile").write_text(f"bench:\n\t@{prog} 0.5\n\t@echo between\n\t@{prog} 0.5 exit 0\n")
    run = coz.run(["make", "-s", "bench"], "-b", "prog", *QUIET)
    assert run.status == 0, run.err
    assert "between\n" in run.out
    assert profiled(run) == [str(prog)] * 2
    first, second = (record["seed"] for record in run.records("run"))
    assert second == (first + 1) % 2**64


def test_a_script_may_be_launched_and_its_status_is_kept(coz, prog, tmp_path):
    script = tmp_path / "suite"
    script.write_text(f"#!/bin/sh\n{prog} 0.5\nexit 7\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    run = coz.run([script], "-b", "prog", *QUIET)
    assert run.status == 7
    assert profiled(run) == [str(prog)]


def test_of_several_at_a_time_one_is_profiled(coz, prog):
    run = coz.run(["sh", "-c", f"{prog} 2 & {prog} 2 & {prog} 2 & wait"], "-b", "prog", *QUIET)
    assert profiled(run) == [str(prog)]
    assert "2 processes of the program ran at the same time as another, and were not profiled" in run.err


@pytest.mark.parametrize("wait", ["until [ -s {} ]; do sleep 0.05; done;", ""])
def test_one_that_outlives_the_launched_program_is_waited_for(coz, prog, wait):
    run = coz.run(["sh", "-c", f"{prog} 2 & {wait.format(coz.profile)} exit 3"], "-b", "prog", *QUIET)
    assert run.status == 3, run.err
    assert profiled(run) == [str(prog)]
    assert run.records("samples")[-1]["final"], run.err


def test_the_user_need_not_wait_for_one_that_does_not_end(coz, prog):
    """A shell's job in the background ignores the keyboard."""
    shell = f"{prog} 600 & until [ -s {coz.profile} ]; do sleep 0.05; done"
    running = coz.start(["sh", "-c", f"{shell}; echo $! > {coz.profile}.pid"], "-b", "prog", *QUIET)
    limit = time.monotonic() + 60
    mark = coz.profile.with_name(f"{coz.profile.name}.pid")
    while not (mark.exists() and mark.read_text()):
        assert time.monotonic() < limit
        time.sleep(0.1)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    time.sleep(1)
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    os.kill(int(mark.read_text()), signal.SIGKILL)  # it has our output
    assert coz.finished(running, timeout=60).status == 0


def test_without_descriptors_and_after_exec_it_asks_all_the_same(coz, prog):
    """What starts it may close all that it inherited, as Python does."""
    code = f"import subprocess; subprocess.run([{str(prog)!r}, '0.5'], close_fds=True, check=True)"
    run = coz.run(["python3", "-c", code], "-b", "prog", *QUIET)
    assert profiled(run) == [str(prog)], run.err


def test_points_and_lines_are_found_in_the_child(coz, build, request, tmp_path):
    program = tmp_path / "prog"
    shutil.copy(build("loop.c", "-DNO_PROGRESS"), program)
    lines = (request.config.rootpath / "tests/programs/loop.c").read_text().splitlines()
    line = next(f"loop.c:{number}" for number, text in enumerate(lines, 1) if "volatile int i" in text)
    options = ("-b", "prog", "--progress", "work", "--fixed-line", line, "--fixed-speedup", 0)
    run = coz.run_until(1, ["sh", "-c", f"{program} {coz.enough}; true"], *options)
    (record,) = run.records("run")
    assert [point["name"] for point in record["points"]] == ["work"]
    assert {e["location"].rpartition("/")[2] for e in run.records("experiment")} == {line}, run.err


def test_what_is_not_there_costs_the_profile_only(coz, prog):
    run = coz.run(["sh", "-c", f"{prog} 0.2; exit 5"], "-b", "prog", "--fixed-line", "nowhere.c:1")
    assert run.status == 5
    assert f"{prog} runs unprofiled" in run.err
    assert not coz.profile.exists()
    run = coz.run(["sh", "-c", "exit 6"], "-b", "prog")
    assert run.status == 6
    assert "warning: sh started no program that matches -b prog" in run.err
    assert not coz.profile.exists()


def test_a_stripped_program_is_named_with_the_remedy(coz, prog):
    subprocess.run(["strip", prog], check=True)
    run = coz.run(["sh", "-c", f"{prog} 0.2"], "-b", "prog")
    assert run.status == 0
    assert f"{prog} runs unprofiled: {prog} has no debug information" in run.err
    assert "-g" in run.err


def test_programs_that_would_be_refused_run_unprofiled(coz, with_section):
    for section, content, words in (
        (".note.go.buildid", b"Go", "has code in Go"),
        (".mark", b"__tsan_init\0", "is built with a sanitizer"),
    ):
        program = with_section(section, content)
        run = coz.run(["sh", "-c", f"{program} 0.2 exit 3"], "-b", program.name)
        assert run.status == 3
        assert f"{program} runs unprofiled: {program} {words}" in run.err
        assert not coz.profile.exists()


CHILD = '#include <stdio.h>\nint main(void) { puts("it ran"); return 3; }\n'


@pytest.mark.parametrize(
    ("compiler", "status"),
    [(["gcc", "-fsanitize=address"], 1), (["musl-gcc"], 127)],
    ids=["address sanitizer", "musl"],
)
@pytest.mark.parametrize("named", [True, False])
def test_children_that_cannot_bear_the_preloaded_library(coz, prog, tmp_path, compiler, status, named):
    """They end with a message of their own, and run without it: docs/troubleshooting.md."""
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} not found")
    child = tmp_path / "child"
    child.with_suffix(".c").write_text(CHILD)
    subprocess.run([*compiler, child.with_suffix(".c"), "-o", child], check=True)
    environment = {"ASAN_OPTIONS": "exitcode=1"}
    script = f"{child}; echo status $?; env -u LD_PRELOAD {child}; echo status $?; {prog} 0.5"
    options = ("-b", "prog", *QUIET) if named else ("--granularity", "function")
    run = coz.run(["sh", "-c", script], *options, env=environment)
    assert run.status == 0
    assert f"status {status}\nit ran\nstatus 3\n" in run.out, run.err
    assert "ASan runtime does not come first" in run.err or "arc4random" in run.err
    if named:
        assert profiled(run) == [str(prog)]
