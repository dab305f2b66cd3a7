"""SQLite: threads that look rows up through one connection (lookups.c)."""

import re
import shutil
from pathlib import Path

from study import ROOT, Change, Run, Study, call

FILE = "lookups.db"


def fetch(folder: Path) -> None:
    """The amalgamation, and our program beside it, for the patch."""
    call([ROOT / "examples/sqlite/fetch.sh", folder], folder.with_name("fetch.log"))
    shutil.copy(ROOT / "examples/sqlite_lookups/lookups.c", folder)


def build(source: Path, output: Path) -> None:
    """As the other programs with SQLite."""
    files = [source / "lookups.c", source / "sqlite3.c"]
    options = ["-O2", "-g", "-DSQLITE_OMIT_LOAD_EXTENSION", f"-I{source}", f"-I{ROOT / 'include'}"]
    call(
        ["gcc", *options, "-o", output / "lookups", *files, "-lpthread", "-lm"], output.with_name("build.log")
    )


def parse(output: str) -> Run:
    """`N rows in S s by T threads, …`."""
    found = re.search(r"(\d+) rows in ([\d.]+) s", output)
    assert found, output
    return Run(float(found[1]), float(found[2]))


STUDY = Study(
    name="sqlite_lookups",
    title="SQLite",
    unit="row",
    fetch=fetch,
    build=build,
    workload=lambda output, scratch, seconds: [
        str(output / "lookups"),
        str(scratch / FILE),
        str(seconds),
        "2",
    ],
    parse=parse,
    packages=("tcl", "xz-utils"),
    coz_options=("--source-scope", "%/sqlite3.c", "--source-scope", "%/lookups.c"),
    changes=(
        Change(
            name="own_connection",
            patch="own_connection.diff",
            what="each thread has a connection of its own (+1 −2 lines)",
            target="sqlite3.c:27779",
            lock=True,
        ),
    ),
    scratch_bytes=lambda _seconds: 32e6,
)
