"""SQLite: threads that look rows up through one connection (lookups.c)."""

from pathlib import Path

import sqlite_program
from study import Change, Study, printed

LOOKUPS = Path(__file__).with_name("lookups.c")

STUDY = Study(
    name="sqlite_lookups",
    title="SQLite",
    unit="row",
    fetch=lambda folder: sqlite_program.fetch(LOOKUPS, folder),
    build=lambda source, output: sqlite_program.build("lookups", source, output),
    workload=lambda output, scratch, seconds: [
        str(output / "lookups"),
        str(scratch / "lookups.db"),
        str(seconds),
        "2",
    ],
    parse=printed,
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
