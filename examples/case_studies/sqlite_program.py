"""Programs of ours with SQLite, compiled together with it."""

from __future__ import annotations

import shutil
from pathlib import Path

from study import ROOT, call


def fetch(program: Path, folder: Path) -> None:
    """The amalgamation, and the program's source beside it, so that patches can be to either."""
    call([ROOT / "examples/sqlite/fetch.sh", folder], folder.with_name("fetch.log"))
    shutil.copy(program, folder)


def build(name: str, source: Path, output: Path) -> None:
    """NAME.c and SQLite, as `make demo` builds its example: `output/name`."""
    files = [source / f"{name}.c", source / "sqlite3.c"]
    options = ["-O2", "-g", "-DSQLITE_OMIT_LOAD_EXTENSION", f"-I{source}", f"-I{ROOT / 'include'}"]
    call(["gcc", *options, "-o", output / name, *files, "-lpthread", "-lm"], output.with_name("build.log"))
