"""`coz merge` pools ranks, and says what tells them apart."""

from __future__ import annotations

import json
from pathlib import Path

from in_fork import coz

RUN = '{"type":"run","format":"coz-profile","version":1,"program":"/p"}\n'


def rank_profile(path: Path, number: int, solve: int, visits: int, host: str = "n1") -> None:
    lines = [
        {"kind": "line", "location": "/s/solve.c:8", "function": "solve", "count": solve},
        {"kind": "line", "location": "/s/halo.c:3", "function": "halo", "count": 1000},
    ]
    samples = {
        "type": "samples",
        "run_time": 10_000_000_000,
        "total": 10_000,
        "in_scope": solve + 1000,
        "lines": lines,
        "points": [{"name": "step", "kind": "throughput", "visits": visits}],
        "final": True,
    }
    experiment = {
        "type": "experiment",
        "location": "/s/solve.c:8",
        "speedup": 0,
        "effective_duration": 9 + number,
        "points": [],
    }
    job = {"type": "job", "rank": number, "ranks": 2, "job": "1", "host": host}
    records = [experiment, samples, job, {"type": "exit", "status": 0}]
    path.write_text(RUN + "".join(json.dumps(record) + "\n" for record in records))


def test_ranks_and_the_lines_that_differ(tmp_path: Path) -> None:
    rank_profile(tmp_path / "p.0", 0, 8000, 500)
    rank_profile(tmp_path / "p.1", 1, 4000, 250, "n2")
    done = coz("merge", "-o", "all.coz", "p.0", "p.1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 runs with 2 experiments in all.coz" in done.stderr
    assert done.stdout == (
        "Rank  Host  Exp.  Samples  step/s\n"
        "   0  n1       1   10,000      50\n"
        "   1  n2       1   10,000      25\n"
        "Shares of the time that differ between ranks:\n"
        "  /s/solve.c:8: 40% in rank 1, 80% in rank 0\n"
    )
    # The merged file still knows its ranks.
    again = coz("merge", "-o", "again.coz", "all.coz", cwd=tmp_path)
    assert again.stdout == done.stdout


def test_without_ranks_nothing_is_said_of_them(tmp_path: Path) -> None:
    rank_profile(tmp_path / "p.0", 0, 8000, 500)
    done = coz("merge", "-o", "all.coz", "p.0", cwd=tmp_path)
    assert done.stdout == ""


def test_time_spent_waiting_is_no_share_of_a_ranks_samples(tmp_path: Path) -> None:
    for number in (0, 1):
        rank_profile(tmp_path / f"p.{number}", number, 4000, 500)
        text = (tmp_path / f"p.{number}").read_text()
        wait = {"kind": "wait", "location": "wait /s/io.c:4", "function": "", "count": 90_000 * number}
        text = text.replace('"lines": [', f'"lines": [{json.dumps(wait)}, ')
        (tmp_path / f"p.{number}").write_text(text)
    done = coz("merge", "-o", "all.coz", "p.0", "p.1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "io.c:4" not in done.stdout


def test_a_killed_rank_is_as_fast_as_it_was_when_it_last_counted(tmp_path: Path) -> None:
    for number in (0, 1):
        rank_profile(tmp_path / f"p.{number}", number, 8000, 500)
    records = (tmp_path / "p.1").read_text().splitlines(keepends=True)
    later = json.loads(records[1]) | {"run_time": 15_000_000_000, "start": 15_000_000_000}
    unsampled = {"type": "reference", "start": 20 * 10**9, "effective_duration": 9 * 10**9, "points": []}
    added = [json.dumps(record) + "\n" for record in (later, unsampled)]
    (tmp_path / "p.1").write_text("".join([*records[:3], *added, *records[3:]]))
    done = coz("merge", "-o", "all.coz", "p.0", "p.1", cwd=tmp_path)
    assert [line.split()[-1] for line in done.stdout.splitlines()[1:3]] == ["50", "50"]


def test_more_samples_in_a_line_than_in_all_are_all(tmp_path: Path) -> None:
    rank_profile(tmp_path / "p.0", 0, 20_000, 500)
    rank_profile(tmp_path / "p.1", 1, 0, 500)
    done = coz("merge", "-o", "all.coz", "p.0", "p.1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0% in rank 1, 100% in rank 0" in done.stdout
