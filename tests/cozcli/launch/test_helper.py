"""What is said of a helper that crashed, or came to its limits."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from cozcli.launch.helper import Helper, failure
from cozcli.launch.messages.scope import no_debug_info

BUILT = Path(__file__).resolve().parents[3] / "build" / "libexec" / "coz-linetable"


def helper(folder: Path, script: str) -> Helper:
    path = folder / "coz-linetable"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return Helper(path)


def test_a_crash_names_the_signal_and_the_file(tmp_path: Path) -> None:
    status, answer = helper(tmp_path, "kill -SEGV $$").build("/bin/bad")
    assert status == -signal.SIGSEGV
    problem = failure("/bin/bad", status, answer)
    assert "/bin/bad" in problem.text
    assert "SIGSEGV" in problem.text
    assert "-b" in problem.hint


def test_a_limit_that_was_reached_is_told(tmp_path: Path) -> None:
    text = '{"error": "limit", "message": "reading /bin/bad takes too long"}'
    problem = failure("/bin/bad", *helper(tmp_path, f"echo '{text}'; exit 6").build("/bin/bad"))
    assert "takes too long" in problem.text
    assert "-b" in problem.hint


def test_other_failures_point_at_the_cache(tmp_path: Path) -> None:
    problem = failure("/bin/a", *helper(tmp_path, "echo no space left >&2; exit 5").build("/bin/a"))
    assert "no space left" in problem.text
    assert "XDG_CACHE_HOME" in problem.hint


def test_without_a_home_there_is_another_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = helper(tmp_path, """echo '{"error": "cache", "message": "m"}'; exit 5""").build("/bin/a")
    monkeypatch.setenv("HOME", "/root")
    assert "free space" in failure("/bin/a", *answer).hint
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert "neither HOME nor XDG_CACHE_HOME is set" in failure("/bin/a", *answer).text


@pytest.mark.parametrize("name", ["bash", "sh", "python3.11", "make"])
def test_who_runs_others_is_not_to_be_compiled_anew(name: str) -> None:
    hint = no_debug_info(f"/usr/bin/{name}").hint
    assert "coz run -b NAME" in hint
    assert "compile it" not in hint
    assert "compile it with -g" in no_debug_info(f"/usr/bin/my{name}").hint


@pytest.mark.parametrize("name", ["mpirun", "mpiexec.openmpi", "srun", "taskset"])
def test_a_launcher_is_left_outside(name: str) -> None:
    hint = no_debug_info(f"/usr/bin/{name}").hint
    assert hint == f"name the program that it starts: coz run -l PROGRAM --- /usr/bin/{name} … PROGRAM …"


def test_the_former_names_of_a_command_still_work() -> None:
    answers = [
        subprocess.run([BUILT, command, option, "main", BUILT], capture_output=True, text=True, check=True)
        for command, option in (("locations", "--location"), ("places", "--place"))
    ]
    assert '"name":"main"' in answers[0].stdout
    assert answers[0].stdout == answers[1].stdout


def test_an_option_of_another_command_is_refused() -> None:
    run = subprocess.run([BUILT, "lines", "--no-cache"], capture_output=True, text=True)
    assert run.returncode == 2
    assert "lines has no option --no-cache" in run.stderr
