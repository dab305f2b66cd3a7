"""Loading numpy and scipy: with one thread, and without a trace in the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import os, sys
sys.path.insert(0, sys.argv[1])
from cozcli.commands.options import require_packages
require_packages("numpy", "scipy")
import cozcli.analysis.analyse
import numpy
numpy.ones((300, 300)) @ numpy.ones((300, 300))
print(len(os.listdir("/proc/self/task")), os.environ.get("OPENBLAS_NUM_THREADS"))
"""


@pytest.mark.parametrize(("given", "printed"), [(None, "1 None"), ("1", "1 1")])
def test_one_thread_and_nothing_to_inherit(given: str | None, printed: str) -> None:
    environment = {name: value for name, value in os.environ.items() if "_NUM_THREADS" not in name}
    if given is not None:
        environment["OPENBLAS_NUM_THREADS"] = given
    command = [sys.executable, "-c", SCRIPT, str(ROOT)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == printed


@pytest.mark.parametrize("form", ["json", "csv", "annotate", "sarif"])
def test_forms_for_scripts_need_no_rich(form: str) -> None:
    blocked = "import sys; sys.modules['rich'] = None; sys.path.insert(0, sys.argv.pop(1))"
    script = f"{blocked}; from cozcli.cli import main; sys.exit(main())"
    for name in ("four-lines.coz", "amp-lines.coz"):
        profile = str(ROOT / "tests/golden" / name)
        command = [sys.executable, "-c", script, str(ROOT), "report", f"--{form}", profile]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout or (form, name) == ("annotate", "amp-lines.coz")  # no effect of which is certain
