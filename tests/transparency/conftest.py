"""Builds the programs of the rows, once a session."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from comparison import COZ, PROGRAMS, ROOT

_COMPILERS = {".c": ["gcc", "-std=gnu11"], ".cpp": ["g++", "-std=c++20"]}


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """build(SOURCE, FLAGS): compiles a program of programs/."""
    folder = tmp_path_factory.mktemp("programs")
    made: dict[tuple[str, ...], Path] = {}

    def compile_program(source: str, flags: Sequence[str] = (), shared: bool = False) -> Path:
        key = (source, *flags, str(shared))
        if key in made:
            return made[key]
        path = PROGRAMS / source
        place = Path(tempfile.mkdtemp(dir=folder))
        program = place / (f"lib{path.stem}.so" if shared else path.stem)
        if path.suffix == ".rs":
            command = ["rustc", "--edition", "2021", "-C", "opt-level=2", "-g", *flags]
            command += ["-o", str(program), str(path)]
        elif path.suffix == ".go":
            command = ["go", "build", *flags, "-o", str(program), str(path)]
        else:
            compiler = ["musl-gcc"] if "musl" in flags else _COMPILERS[path.suffix]
            given = [flag for flag in flags if flag != "musl"]
            command = [
                *compiler,
                "-O2",
                "-g",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-D_GNU_SOURCE",
                "-I",
                str(ROOT / "include"),
            ]
            command += ["-o", str(program), str(path), *(["-shared", "-fPIC"] if shared else []), *given]
            command.append("-lpthread")
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} not found")
        cache = {"GOCACHE": str(folder / "go"), "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
        done = subprocess.run(command, env=os.environ | cache, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        made[key] = program
        return program

    return compile_program


def pytest_configure() -> None:
    if not COZ.exists() or not shutil.which("gcc"):
        pytest.exit("the transparency tests need build/bin/coz: run them by `make test`", 1)
