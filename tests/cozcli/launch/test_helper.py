"""What is said of a helper that crashed, or came to its limits."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from cozcli.launch.helper import Helper, failure

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
