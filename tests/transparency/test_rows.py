"""Each row's program does under `coz run` what it does without: output, status, signals, children, files."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
from comparison import COZ, LIBRARIES, Row, records, run, setting
from rows import ROWS

#: How often each row is run under the profiler; `make transparency` sets more.
ROUNDS = int(setting("ROUNDS", "1"))
#: Of `coz run`, for all rows, such as --tree; rows with options of their own have only these.
OPTIONS = setting("OPTIONS", "").split()


def _environment(row: Row, tmp_path: Path) -> dict[str, str]:
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), **row.environment}
    preloaded = environment.get("LD_PRELOAD", "")
    if preloaded.startswith("/") and not Path(preloaded).exists():
        pytest.skip(f"{preloaded} not found")
    return environment


def _command(row: Row, build, tmp_path: Path) -> list[object]:
    flags = list(row.flags)
    if row.library:
        library = build(row.library, (), shared=True)
        flags += [f"-L{library.parent}", f"-l{Path(row.library).stem}", f"-Wl,-rpath,{library.parent}"]
    needed = [flag[3:] for flag in row.flags if flag.startswith("-l:")]
    for name in needed:
        if not (LIBRARIES / name).exists():
            pytest.skip(f"{name} not found")
    others = []
    for source, how in row.others:
        other = build(source, [flag for flag in how if flag != "setuid"])
        if "setuid" in how:
            if os.getuid() != 0:
                pytest.skip("takes root to give a program to another user")
            own = tmp_path / "setuid"
            shutil.copy(other, own)
            os.chown(own, 65534, 65534)
            own.chmod(stat.S_ISUID | 0o755)
            other = own
        others.append(other)
    return [build(row.source, flags), *row.arguments, *others]


def _parameter(row: Row):
    is_all = row.fails and not row.breaks
    marks = [pytest.mark.xfail(strict=row.runs, run=row.runs, reason=row.fails)] if is_all else []
    return pytest.param(row, id=row.name, marks=marks)


def _mended(row: Row, out: str) -> str:
    """The output as if what the row breaks were kept; it must be broken."""
    broken = f"{row.breaks}: NO\n"
    assert broken in out, f"no longer broken, or not reached: {out!r}"
    return out.replace(broken, f"{row.breaks}: yes\n")


@pytest.mark.parametrize("row", [_parameter(row) for row in ROWS])
def test_row(row: Row, build, tmp_path):
    if "--tree" in OPTIONS and row.name == "Unix sockets":
        pytest.skip("what clients notice with --tree, the next row says")
    command = _command(row, build, tmp_path)
    environment = _environment(row, tmp_path)
    plain = run(command, tmp_path / "work", environment)
    assert plain.status == row.ends, plain
    assert "NO" not in plain.out, plain.out
    rounds = max(ROUNDS, len(row.modes)) if row.in_all_modes else ROUNDS
    for index in range(rounds):
        mode = row.modes[index % len(row.modes)]
        profile = tmp_path / "profile.coz"
        profile.unlink(missing_ok=True)
        options = ["--sampling", mode, "--period", "250us", *(row.options or OPTIONS)]
        under = [COZ, "run", "-o", profile, *options, "---", *command]
        profiled = run(under, tmp_path / "work", environment)
        if row.breaks:
            profiled.out = _mended(row, profiled.out)
        assert plain.differences(profiled) == [], f"round {index}, {mode}"
        if not row.sampled:
            continue
        # Or it would hold for want of a profiler.
        assert records(profile, "run")[0]["sampling"] == mode
        if row.ends >= 0 and records(profile, "samples"):
            assert records(profile, "samples")[-1]["in_scope"] > 0
        if row.lasts:
            samples = records(profile, "samples")
            assert [record["final"] for record in samples][-1:] == [True], f"not finished: {index}, {mode}"
            covered = samples[-1]["duration"] / 1e6
            assert covered >= row.lasts, f"finished after {covered} ms: {index}, {mode}"
        # With --tree, those of children count, too.
        if row.visits and "--tree" not in OPTIONS:
            found = {
                point["name"]: point.get("visits") for point in records(profile, "samples")[-1]["points"]
            }
            assert {name: found[name] for name in row.visits} == row.visits, f"round {index}, {mode}"
    if row.breaks:
        pytest.xfail(row.fails)


@pytest.mark.parametrize("prefix", ["COZ_TRANSPARENCY", "COZ_SURVIVAL"])
def test_settings_have_their_old_name_too(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COZ_TRANSPARENCY_HANGS", raising=False)
    monkeypatch.setenv(f"{prefix}_HANGS", "7")
    assert setting("HANGS", "120") == "7"
