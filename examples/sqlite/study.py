"""SQLite: threads with a database each, which share the library (sessions.c)."""

from pathlib import Path

import sqlite_program
from study import Change, Study, printed

SESSIONS = Path(__file__).with_name("sessions.c")

STUDY = Study(
    name="sqlite",
    title="SQLite",
    unit="row",
    fetch=lambda folder: sqlite_program.fetch(SESSIONS, folder),
    build=lambda source, output: sqlite_program.build("sessions", source, output),
    workload=lambda output, _scratch, seconds: [str(output / "sessions"), str(seconds), "2"],
    parse=printed,
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
