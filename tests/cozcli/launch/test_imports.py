"""What `coz run` imports: users wait for it, and it must work where no package is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {
    "numpy",
    "scipy",
    "matplotlib",
    "rich",
    "shutil",
    "termios",
    "dataclasses",
    "cozcli.analysis.analyse",
    "cozcli.profile.reader",
}


def test_run_needs_the_standard_library_only() -> None:
    imported = imports_of("cli.parse(['run'], ['./program'])")
    assert HEAVY.isdisjoint(imported)
    assert "cozcli.commands.run" in imported


def test_without_a_terminal_there_is_no_display_to_import() -> None:
    imported = imports_of(
        "from cozcli.commands import run; from argparse import Namespace; "
        "run._make_live(None, None, 0, Namespace(quiet=False, live='auto'))"
    )
    assert HEAVY.isdisjoint(imported)


def imports_of(statements: str) -> set[str]:
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from cozcli import cli; {statements}; "
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())
