"""`start`: runs `coz run` with stand-ins (launching.py)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from launching import HELPER, PROGRAM, ROOT, RUNTIME, Start


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
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
