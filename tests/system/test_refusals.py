"""Bad input: what is known before the start is refused before the start, and the message helps."""

import os
import shutil
import stat
import subprocess

import pytest


def refused(run, *words):
    """Not started, not zero, one readable message that has the words."""
    assert run.status not in (0, 42)
    assert "out:" not in run.out
    assert "Traceback" not in run.err
    assert "coz" in run.err
    for word in words:
        assert str(word).lower() in run.err.lower()
    return run


def test_no_program(coz):
    refused(coz("run"))
    refused(coz("run", "---"))


def test_program_not_found(coz):
    refused(coz.run(["./no-such-program"]), "no-such-program")
    refused(coz.run(["no-such-program-in-path"]), "no-such-program-in-path")


def test_not_executable(coz, build, tmp_path):
    program = tmp_path / "plain"
    shutil.copy(build("loop.c"), program)
    program.chmod(0o644)
    refused(coz.run([program, 0.2]), program)


def test_static(coz, build):
    refused(coz.run([build("loop.c", "-static"), 0.2]), "static")


@pytest.mark.skipif(shutil.which("musl-gcc") is None, reason="musl-gcc not found")
def test_musl(coz, tmp_path):
    source, program = tmp_path / "empty.c", tmp_path / "empty"
    source.write_text("int main(void) { return 0; }")
    subprocess.run(["musl-gcc", "-g", "-o", program, source], check=True)
    refused(coz.run([program]), "musl", "glibc")


def test_go(coz, with_section):
    program = with_section(".go.buildinfo", b"\xff Go buildinf:")
    refused(coz.run([program, 0.2]), "has code in Go", "pprof")
    doctor = coz("doctor", program)
    assert doctor.status == 1
    assert "has code in Go" in " ".join(doctor.out.split())


@pytest.mark.parametrize("sanitizer", ["address", "thread", "leak"])
def test_sanitizer(coz, build, sanitizer):
    refused(coz.run([build("loop.c", f"-fsanitize={sanitizer}"), 0.2]), "sanitizer")


@pytest.mark.skipif(os.getuid() == 0, reason="set-uid makes no difference to root")
def test_set_uid_as_user(coz, build, tmp_path):
    program = tmp_path / "privileged"
    shutil.copy(build("loop.c"), program)
    program.chmod(program.stat().st_mode | stat.S_ISUID)
    refused(coz.run([program, 0.2]), "set")


@pytest.mark.skipif(os.getuid() != 0, reason="takes root to give a program to another user")
def test_set_uid(coz, build, tmp_path):
    program = tmp_path / "privileged"
    shutil.copy(build("loop.c"), program)
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    refused(coz.run([program, 0.2]), "set")


def test_script(coz, tmp_path):
    script = tmp_path / "script.sh"
    script.write_text("#!/bin/sh\necho out: script\n")
    script.chmod(0o755)
    refused(coz.run([script]), "script")


def test_no_debug_information(coz, build):
    refused(coz.run([build("loop.c", "-s", debug="-g0"), 0.2]), "-g")


def test_scope_that_matches_nothing_names_what_exists(coz, build):
    refused(coz.run([build("loop.c"), 0.2], "-s", "%/nowhere.c"), "nowhere.c", "loop.c")


def test_line_not_found_names_the_nearest(coz, build):
    refused(coz.run([build("loop.c"), 0.2], "--fixed-line", "loop.c:1"), "loop.c:1", "loop.c:2")


def test_output_that_cannot_be_written(coz, build):
    refused(coz("run", "-o", "/no/such/folder/p.coz", "---", build("loop.c"), 0.2), "/no/such/folder")
    refused(coz("run", "-o", coz.folder, "---", build("loop.c"), 0.2), coz.folder)


@pytest.mark.parametrize("option", [("--fixed-speedup", "101"), ("--fixed-speedup", "x"), ("--nonsense",)])
def test_bad_options(coz, build, option):
    refused(coz.run([build("loop.c"), 0.2], *option), option[0])


def test_no_progress_point_is_said(coz, build):
    run = coz.run([build("loop.c", "-DNO_PROGRESS"), 1, "exit", 4])
    assert run.status == 4
    assert "progress" in run.err


def test_a_profile_that_is_not_one(coz, tmp_path):
    for name, text in (("empty", ""), ("broken", "\x00\x01{]"), ("other", '{"type": "nothing"}\n')):
        path = tmp_path / name
        path.write_text(text)
        refused(coz("report", path), name)
    refused(coz("plot", tmp_path / "other", "--output", tmp_path / "x.png"), "other")
    refused(coz("report", tmp_path / "absent"), "absent")
