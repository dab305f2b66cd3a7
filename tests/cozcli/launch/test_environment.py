"""The environment contract."""

from __future__ import annotations

from pathlib import Path

from cozcli.launch.environment import VARIABLES, Settings, make_environment
from cozcli.launch.line_tables import LineTable, matches_binary

SETTINGS = Settings(
    library=Path("/lib/libcoz.so"),
    program=Path("/bin/p"),
    output=Path("/tmp/p.coz"),
    tables=(LineTable("/bin/p", "/t/1"), LineTable("/lib/l.so", "/t/2")),
    seed=5,
)


def test_nothing_of_an_outer_run_is_left() -> None:
    outer = {**dict.fromkeys(VARIABLES, "old"), "HOME": "/h"}
    environment = make_environment(SETTINGS, outer)
    assert "old" not in environment.values()
    assert environment["HOME"] == "/h"
    assert "COZ_FIXED_SPEEDUP" not in environment
    assert environment["COZ_LINE_TABLES"] == "/bin/p\t/t/1\n/lib/l.so\t/t/2"


def test_preload_comes_after_what_stood_there() -> None:
    assert make_environment(SETTINGS, {"LD_PRELOAD": "/j.so"})["LD_PRELOAD"] == "/j.so:/lib/libcoz.so"
    assert make_environment(SETTINGS, {"LD_PRELOAD": ""})["LD_PRELOAD"] == "/lib/libcoz.so"


def test_speedup_zero_is_a_speedup() -> None:
    settings = SETTINGS._replace(fixed_speedup=0)
    assert make_environment(settings, {})["COZ_FIXED_SPEEDUP"] == "0"


def test_binary_patterns() -> None:
    assert matches_binary("MAIN", "/bin/p", True)
    assert not matches_binary("MAIN", "/bin/p", False)
    assert matches_binary("%libsql%", "/usr/lib/libsqlite3.so.0", False)
    # Without a slash, the file's name alone may match.
    assert matches_binary("libsql%", "/usr/lib/libsqlite3.so.0", False)
    assert not matches_binary("lib/libsql%", "/usr/lib/libsqlite3.so.0", False)
