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
    "dataclasses",
    "cozcli.analysis.analyse",
    "cozcli.profile.reader",
}


def test_run_needs_the_standard_library_only() -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from cozcli import cli; "
        "cli.parse(['run']); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert HEAVY.isdisjoint(done.stdout.split())
    assert "cozcli.commands.run" in done.stdout.split()
