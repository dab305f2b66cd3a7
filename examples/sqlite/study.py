"""SQLite: threads with a database each, which share the library (sessions.c)."""

import re
import shutil
from pathlib import Path

from study import ROOT, Change, Run, Study, call


def fetch(folder: Path) -> None:
    """The amalgamation, and our program beside it, so that patches can be to either."""
    call([ROOT / "examples/sqlite/fetch.sh", folder], folder.with_name("fetch.log"))
    shutil.copy(ROOT / "examples/sqlite/sessions.c", folder)


def build(source: Path, output: Path) -> None:
    """As `make demo` builds the other SQLite example."""
    files = [source / "sessions.c", source / "sqlite3.c"]
    options = ["-O2", "-g", "-DSQLITE_OMIT_LOAD_EXTENSION", f"-I{source}", f"-I{ROOT / 'include'}"]
    call(
        ["gcc", *options, "-o", output / "sessions", *files, "-lpthread", "-lm"],
        output.with_name("build.log"),
    )


def parse(output: str) -> Run:
    """`N rows in S s by T threads, …`."""
    found = re.search(r"(\d+) rows in ([\d.]+) s", output)
    assert found, output
    return Run(float(found[1]), float(found[2]))


STUDY = Study(
    name="sqlite",
    title="SQLite",
    unit="row",
    fetch=fetch,
    build=build,
    workload=lambda output, _scratch, seconds: [str(output / "sessions"), str(seconds), "2"],
    parse=parse,
    packages=("tcl", "xz-utils"),
    coz_options=("--source-scope", "%/sqlite3.c"),
    changes=(
        Change(
            name="memory_statistics",
            patch="memory_statistics.diff",
            what="no global count of memory in use, nor the lock for it (1 line)",
            target="sqlite3.c:27779",
            lock=True,
        ),
        Change(
            name="nobody_waits",
            patch="nobody_waits.diff",
            what="a mutex and counters for each thread, in place of shared ones (17 lines)",
            target="sqlite3.c:27779",
            lock=True,
        ),
    ),
)
