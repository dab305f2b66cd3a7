"""Builds the programs of the rows."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from comparison import COZ, PROGRAMS, ROOT
from compiled import KEPT, compiled

_COMPILERS = {".c": ["gcc", "-std=gnu11"], ".cpp": ["g++", "-std=c++20"]}


@pytest.fixture(scope="session")
def build() -> Callable[..., Path]:
    """build(SOURCE, FLAGS): compiles a program of programs/, unless it is there."""

    def compile_program(source: str, flags: Sequence[str] = (), shared: bool = False) -> Path:
        path = PROGRAMS / source
        if path.suffix == ".rs":
            command = ["rustc", "--edition", "2021", "-C", "opt-level=2", "-g", *flags, str(path)]
        elif path.suffix == ".go":
            command = ["go", "build", *flags]
        else:
            compiler = ["musl-gcc"] if "musl" in flags else _COMPILERS[path.suffix]
            given = [flag for flag in flags if flag != "musl"]
            command = [*compiler, "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"]
            command += ["-I", str(ROOT / "include"), str(path)]
            command += [*(["-shared", "-fPIC"] if shared else []), *given, "-lpthread"]
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} not found")
        cache = {"GOCACHE": str(KEPT.parent / "go"), "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
        return compiled(command, path, f"lib{path.stem}.so" if shared else path.stem, os.environ | cache)

    return compile_program


def pytest_configure() -> None:
    if not COZ.exists() or not shutil.which("gcc"):
        pytest.exit("the transparency tests need build/bin/coz: run them by `make test`", 1)
