"""`coz diff` and `coz merge` as a user calls them."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from in_fork import coz
from synthetic import Line, Model, to_bytes


@pytest.fixture
def folder(tmp_path: Path, golden: Path) -> Path:
    before = [Line("/s/a.c:1", lambda s: 0.5 * s), Line("/s/=b|<i>.c:1", lambda s: 0.0, "=f")]
    after = [Line("/s/a.c:1", lambda s: 0.1 * s), Line("/s/n.c:1", lambda s: 0.0, "n")]
    (tmp_path / "a.coz").write_bytes(to_bytes(Model(before, seed=1).records(60)))
    (tmp_path / "b.coz").write_bytes(to_bytes(Model(after, seed=2, period=1e6).records(60)))
    for name in ("classic-0.2.2.tab.coz", "classic-0.2.5.jsonl.coz"):
        (tmp_path / name).write_bytes((golden / name).read_bytes())
    return tmp_path


def test_diff_says_what_changed(folder: Path) -> None:
    done = coz("diff", "a.coz", "b.coz", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "1 change more than chance; the surest: a.c:1 (work) on request, slope +0." in done.stdout
    assert "it matters less." in done.stdout
    assert "Period of request: " in done.stdout
    assert "Only in A:\n  =b|<i>.c:1 on request" in done.stdout
    assert "Compare them only if both profiles were made on one machine" in done.stdout
    assert "is also in" not in done.stderr
    same = coz("diff", "a.coz", "a.coz", cwd=folder)
    assert "No certain change in 2 lines" in same.stdout
    assert "a run in a.coz is also in a.coz" in same.stderr


def test_diff_for_programs(folder: Path) -> None:
    document = json.loads(coz("diff", "--json", "a.coz", "b.coz", cwd=folder).stdout)
    assert document["format"] == "coz-diff"
    change = document["changes"][0]["slope"]["change"]
    assert change["low"] < -0.4 < change["high"] < -0.3
    assert [entry["location"] for entry in document["only_after"]] == ["/s/n.c:1"]
    rows = list(csv.DictReader(io.StringIO(coz("diff", "--csv", "a.coz", "b.coz", cwd=folder).stdout)))
    assert [row["status"] for row in rows] == ["both", "before", "after"]
    assert rows[1]["function"] == "'=f"
    assert rows[1]["slope_after"] == ""
    markdown = coz("diff", "--markdown", "a.coz", "b.coz", cwd=folder).stdout
    assert "=b\\|\\<i\\>.c:1" in markdown
    assert "| a.c:1 | work | request |" in markdown


def test_diff_of_profiles_without_a_common_line(folder: Path) -> None:
    done = coz("diff", "a.coz", "classic-0.2.2.tab.coz", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "have no line and progress point in common" in done.stdout
    assert "coz: warning: the profiles have no line and progress point in common: nothing can" in done.stderr
    assert "coz: hint: compare profiles of one program" in done.stderr
    assert "in common" not in coz("diff", "a.coz", "b.coz", cwd=folder).stderr
    assert coz("diff", "a.coz", "none.coz", cwd=folder).returncode == 2


def test_diff_blames_the_line_or_the_point(folder: Path) -> None:
    def reason(*options: str) -> str:
        done = coz("diff", "a.coz", "b.coz", *options, cwd=folder)
        assert done.returncode == 2
        return done.stderr

    assert "no line of the profile matches 'z.c:1'" in reason("--line", "z.c:1")
    found = reason("--line", "a.c:1", "--progress-point", "z")
    assert "no progress point of the profile matches 'z'" in found
    assert "it has: request" in found


def test_diff_names_the_profile_that_has_nothing_to_show(folder: Path) -> None:
    (folder / "empty.coz").write_text('{"type":"run","format":"coz-profile","version":1}\n')
    for files in (["a.coz", "empty.coz"], ["empty.coz", "a.coz"]):
        done = coz("diff", *files, cwd=folder)
        assert done.returncode == 2
        assert done.stderr.startswith("coz: error: empty.coz: ")


def test_diff_names_a_profile_once_in_a_warning(folder: Path) -> None:
    (folder / "killed.coz").write_bytes((folder / "a.coz").read_bytes()[:-20])
    done = coz("diff", "a.coz", "killed.coz", cwd=folder)
    assert "coz: warning: killed.coz: the last record" in done.stderr


def results(folder: Path, *files: str) -> object:
    return json.loads(coz("report", "--json", *files, cwd=folder).stdout)["results"]


def test_a_merged_profile_gives_the_results_of_its_parts(folder: Path) -> None:
    inputs = ("a.coz", "classic-0.2.2.tab.coz", "classic-0.2.5.jsonl.coz", "b.coz")
    done = coz("merge", "-o", "all.coz", *inputs, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "4 runs with " in done.stderr
    assert results(folder, "all.coz") == results(folder, *inputs)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*inputs, "all.coz"])


def test_records_before_the_first_run_stay_by_themselves(folder: Path) -> None:
    """Not part of the last run of the file before."""
    whole = (folder / "b.coz").read_bytes().splitlines(keepends=True)
    (folder / "headless.coz").write_bytes(b"".join(line for line in whole if b'"run"' not in line[:14]))
    assert coz("merge", "-o", "all.coz", "a.coz", "headless.coz", cwd=folder).returncode == 0
    assert results(folder, "all.coz") == results(folder, "a.coz", "headless.coz")


def test_a_broken_end_is_left_out(folder: Path) -> None:
    whole = (folder / "a.coz").read_bytes()
    (folder / "killed.coz").write_bytes(whole[:-20])
    done = coz("merge", "-o", "all.coz", "killed.coz", "b.coz", cwd=folder)
    assert "the last record" in done.stderr
    clean = coz("report", "--json", "all.coz", cwd=folder)
    assert "incomplete" not in clean.stderr
    assert (folder / "all.coz").read_bytes().count(b"\n") == whole.count(b"\n") - 1 + (
        folder / "b.coz"
    ).read_bytes().count(b"\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "a.coz", "a.coz", "b.coz"], "is one of the profiles to be merged"),
        (["-o", "link.coz", "a.coz", "b.coz"], "is one of the profiles to be merged"),
        (["-o", "all.coz", "a.coz", "./a.coz"], "are the same file"),
        (["-o", "all.coz", "a.coz", "copy.coz"], "a run in copy.coz is also in a.coz"),
        (["-o", "notes.txt", "a.coz", "b.coz"], "is not a coz profile"),
        (["-o", ".", "a.coz", "b.coz"], "not an ordinary file"),
        (["-o", "nowhere/all.coz", "a.coz", "b.coz"], "cannot be written"),
        (["-o", "all.coz", "a.coz", "none.coz"], "there is no profile none.coz"),
    ],
)
def test_merge_refuses(folder: Path, arguments: list[str], words: str) -> None:
    (folder / "link.coz").symlink_to("a.coz")
    (folder / "copy.coz").write_bytes((folder / "a.coz").read_bytes())
    (folder / "notes.txt").write_text("precious\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = coz("merge", *arguments, cwd=folder)
    assert done.returncode == 2
    assert words in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_runs_of_pipelines_are_merged_once(folder: Path) -> None:
    """Their windows tell of the flow between threads."""
    for seed, name in ((1, "flows.coz"), (2, "others.coz")):
        records = Model([Line("/s/a.c:1", lambda s: 0.5 * s)], seed=seed).records(4)
        for record in records:
            if record["type"] == "experiment":
                flow = {"duration": record["duration"] // 2, "delay": 0, "visits": {"request": 9}}
                record["flows"] = [flow | {"threads": [{"thread": 1, "ran": 1, "releases": 0}]}] * 2
        (folder / name).write_bytes(to_bytes(records))
    done = coz("merge", "-o", "all.coz", "flows.coz", "others.coz", cwd=folder)
    assert "2 runs with " in done.stderr
    again = coz("merge", "-o", "twice.coz", "all.coz", "flows.coz", cwd=folder)
    assert (again.returncode, "a run in flows.coz is also in all.coz" in again.stderr) == (2, True)


def test_merge_refuses_a_pipe(folder: Path) -> None:
    """It is read twice, and a pipe has nothing more to tell."""
    read, write = os.pipe()
    records = Model([Line("/s/a.c:1", lambda s: 0.5 * s)], seed=3).records(2)
    os.write(write, to_bytes(records))
    os.close(write)
    done = coz("merge", "-o", "all.coz", "a.coz", f"/dev/fd/{read}", cwd=folder)
    os.close(read)
    assert done.returncode == 2
    assert f"/dev/fd/{read} is a pipe" in done.stderr
    assert not (folder / "all.coz").exists()


@pytest.mark.parametrize("command", [("merge",), ("convert", "--to", "classic")])
def test_a_profile_of_a_long_command_line_is_replaced(folder: Path, command: tuple[str, ...]) -> None:
    """Its first record is longer than what is looked at of a file."""
    run, *others = Model([Line("/s/a.c:1", lambda s: 0.5 * s)]).records(2)
    first = json.dumps({**run, "arguments": ["x" * 70_000]}, separators=(",", ":"))
    (folder / "long.coz").write_bytes(first.encode() + b"\n" + to_bytes(others))
    done = coz(*command, "-o", "long.coz", "a.coz", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert b"xxx" not in (folder / "long.coz").read_bytes()


def under_load(records: list[dict[str, Any]], arrival_speedup: int) -> bytes:
    """A profile of these records, as measured with that arrival speedup in nanoseconds."""
    arrivals = {"count": 9, "charged": 9 * arrival_speedup, "intervals": 9, "between": 9_000_000}
    for record in records:
        if record["type"] == "experiment" and arrival_speedup:
            record |= {"arrival_speedup": arrival_speedup, "arrivals": arrivals}
    return to_bytes(records)


@pytest.fixture
def loads(folder: Path) -> Path:
    """Two sweeps of two loads, whose intervals between arrivals were not measured alike."""
    for name, effects in (("calm.coz", (0.5, 0.2)), ("busy.coz", (0.5, 0.6))):
        raw = b""
        for speedup, effect in zip((0, 50_000 if name == "calm.coz" else 51_000), effects, strict=True):
            records = Model([Line("/s/a.c:1", lambda s, e=effect: e * s)], seed=speedup + 1).records(60)
            raw += under_load(records, speedup)
        (folder / name).write_bytes(raw)
    return folder


def test_diff_tells_loads_apart(loads: Path) -> None:
    text = coz("diff", "calm.coz", "busy.coz", cwd=loads).stdout
    assert "1 change more than chance; the surest: a.c:1 (arrivals 51 µs earlier)" in text
    document = json.loads(coz("diff", "--json", "calm.coz", "busy.coz", cwd=loads).stdout)
    loaded, base = document["changes"]
    assert (loaded["arrival_speedup"], loaded["certain"]) == (51_000, True)
    assert ("arrival_speedup" in base, base["certain"]) == (False, False)
    assert document["only_before"] == document["only_after"] == []
    rows = list(csv.DictReader(io.StringIO(coz("diff", "--csv", "calm.coz", "busy.coz", cwd=loads).stdout)))
    assert [row["arrival_speedup"] for row in rows] == ["51000", "0"]
    alone = json.loads(coz("diff", "--json", "a.coz", "busy.coz", cwd=loads).stdout)
    assert [entry.get("arrival_speedup") for entry in alone["only_after"]] == [51_000]


def test_periods_are_those_of_one_load(folder: Path) -> None:
    """Only the second profile has most of its windows under a load, under which visits come more often."""
    for name, blocks in (("base.coz", (60, 4)), ("loaded.coz", (60, 200))):
        raw = b""
        for speedup, number, period in zip((0, 50_000), blocks, (2e6, 1e6), strict=True):
            records = Model([Line("/s/a.c:1", lambda s: 0.5 * s)], seed=number, period=period).records(number)
            raw += under_load(records, speedup)
        (folder / name).write_bytes(raw)
    document = json.loads(coz("diff", "--json", "base.coz", "loaded.coz", cwd=folder).stdout)
    (period,) = document["periods"]
    assert period["after"] == pytest.approx(period["before"], rel=0.03)


def test_periods_are_of_the_points_that_are_shown(folder: Path) -> None:
    lines = [Line("/s/a.c:1", lambda s: 0.5 * s)]
    raw = b"".join(to_bytes(Model(lines, seed=1, point=point).records(40)) for point in ("parse", "request"))
    (folder / "two.coz").write_bytes(raw)
    every = json.loads(coz("diff", "--json", "two.coz", "two.coz", cwd=folder).stdout)
    one = json.loads(
        coz("diff", "--json", "--progress-point", "parse", "two.coz", "two.coz", cwd=folder).stdout
    )
    assert {period["point"] for period in every["periods"]} == {"parse", "request"}
    assert {period["point"] for period in one["periods"]} == {"parse"}


def test_a_run_that_is_given_twice_counts_once(folder: Path) -> None:
    once = coz("report", "--json", "a.coz", cwd=folder)
    (folder / "again.coz").write_bytes((folder / "a.coz").read_bytes())
    twice = coz("report", "--json", "a.coz", "again.coz", cwd=folder)
    assert json.loads(twice.stdout)["results"] == json.loads(once.stdout)["results"]
    assert "a run in again.coz is also in a.coz; it counts once" in twice.stderr


@pytest.mark.parametrize("order", [("early.coz", "a.coz"), ("a.coz", "early.coz")])
def test_of_a_run_and_an_earlier_copy_the_whole_run_counts(folder: Path, order: tuple[str, str]) -> None:
    lines = (folder / "a.coz").read_bytes().splitlines(keepends=True)
    (folder / "early.coz").write_bytes(b"".join(lines[: len(lines) // 3]))
    whole = coz("report", "--json", "a.coz", cwd=folder)
    both = coz("report", "--json", *order, cwd=folder)
    assert json.loads(both.stdout)["results"] == json.loads(whole.stdout)["results"]
    assert "a run in early.coz is also in a.coz; it counts once" in both.stderr
