"""Files: what cannot be read, and why a profile is empty."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from synthetic import Line, Model, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.errors import CozError
from cozcli.profile.diagnosis import explain_no_experiments
from cozcli.profile.profile import Run, load_profile
from cozcli.profile.records import PointCount, RunRecord, SamplesRecord


def error_text(path: Path) -> str:
    with pytest.raises(CozError) as caught:
        load_profile([str(path)])
    assert caught.value.status != 0
    assert caught.value.problem.hint
    return caught.value.problem.text


def test_missing(tmp_path: Path) -> None:
    assert "no profile" in error_text(tmp_path / "none.coz")


def test_directory(tmp_path: Path) -> None:
    assert "directory" in error_text(tmp_path)


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p")
    assert "not a regular file" in error_text(tmp_path / "p")


def test_a_pipe_of_the_shell_is_read() -> None:
    """As of `coz report <(zcat profile.gz)`."""
    reading, writing = os.pipe()
    os.write(writing, to_bytes(Model([Line("/a.c:1", lambda s: 0.5 * s)]).records(1)))
    os.close(writing)
    assert load_profile([f"/dev/fd/{reading}"]).experiments > 0
    os.close(reading)


def test_empty(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(b"")
    assert "is an empty file: the run ended before the profiler started" in error_text(tmp_path / "p")


def test_what_breaks_off_says_where(tmp_path: Path) -> None:
    lines = to_bytes(Model([Line("/a.c:1", lambda s: 0.5 * s)]).records(4)).splitlines(keepends=True)
    path = tmp_path / "p.coz"
    path.write_bytes(lines[0][:40])
    assert "p.coz breaks off within its first record" in error_text(path)
    cause = {1: "ended or was killed before the first one", 2: "1 experiment, but no line has both"}
    for whole, text in cause.items():
        path.write_bytes(b"".join(lines[:whole]) + lines[whole][:-9])
        with pytest.raises(CozError) as caught:
            analyse(load_profile([str(path)]))
        assert text in caught.value.problem.text
        assert f"p.coz breaks off in line {whole + 1}: the program was killed" in caught.value.problem.text
        path.write_bytes(b"".join(lines[:whole]))
        with pytest.raises(CozError) as caught:
            analyse(load_profile([str(path)]))
        assert "breaks off" not in caught.value.problem.text


def test_something_else(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)))
    assert "not a coz profile" in error_text(tmp_path / "p")


def test_files_are_pooled_and_problems_named(tmp_path: Path) -> None:
    raw = to_bytes(Model([Line("/a.c:1", lambda s: 0.5 * s)]).records(4))
    (tmp_path / "a").write_bytes(raw)
    other = to_bytes(Model([Line("/a.c:1", lambda s: 0.5 * s)], seed=2).records(4))
    (tmp_path / "b").write_bytes(b"junk\n" + other + b'{"type": "expe')
    profile = load_profile([str(tmp_path / "a"), str(tmp_path / "b")])
    assert len(profile.runs) == 2
    assert profile.experiments == 24
    texts = [warning.text for warning in profile.warnings]
    assert any("1 line skipped" in text and "line 1" in text for text in texts)
    assert any("incomplete" in text for text in texts)


def test_a_profile_of_impossible_records_names_them(tmp_path: Path) -> None:
    records = Model([Line("/a.c:1", lambda s: 0.5 * s)]).records(1)
    for record in records:
        if record["type"] == "experiment":
            record["speedup"] = 7
    (tmp_path / "p").write_bytes(to_bytes(records))
    with pytest.raises(CozError) as caught:
        analyse(load_profile([str(tmp_path / "p")]))
    assert "3 records left out for impossible values" in caught.value.problem.text
    assert "line 2: " in caught.value.problem.text


def test_runs_of_different_programs_are_said(tmp_path: Path) -> None:
    models = [Model([Line("/a.c:1", lambda s: s / 2)], program=p) for p in ("/x", "/y")]
    (tmp_path / "a").write_bytes(b"".join(to_bytes(m.records(2)) for m in models))
    assert any("different programs" in w.text for w in load_profile([str(tmp_path / "a")]).warnings)


VISITED = (PointCount("p", "throughput", 40), PointCount("q", "throughput", 39))
LONG = 9_000_000_000


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        (None, "ended or was killed"),
        (SamplesRecord(9_000_000, 9_000_000, total=0), "too soon"),
        (SamplesRecord(LONG, LONG, total=0), "no sample"),
        (SamplesRecord(LONG, LONG, total=50, in_scope=0), "in scope"),
        (SamplesRecord(LONG, LONG, total=50, in_scope=9), "no progress point"),
        (SamplesRecord(9_000, 9_000, total=50, in_scope=9, points=VISITED), "too soon"),
        (SamplesRecord(LONG, LONG, total=50, in_scope=9, points=VISITED), "no window"),
        (
            SamplesRecord(LONG, LONG, total=50, in_scope=9, points=VISITED, discarded={"few_visits": 3}),
            "too few visits to a progress point (40 in 9",
        ),
        (
            SamplesRecord(LONG, LONG, total=50, in_scope=9, points=VISITED, discarded={"all_delay": 3}),
            "stopped all other threads",
        ),
        (
            SamplesRecord(LONG, LONG, total=50, in_scope=9, points=VISITED, discarded={"shutdown": 1}),
            "before a window",
        ),
    ],
)
def test_each_cause_of_an_empty_profile_is_told(samples: SamplesRecord | None, words: str) -> None:
    problem = explain_no_experiments([Run(RunRecord(program="/p"), "x", samples=samples)])
    assert words in problem.text
    assert problem.hint


def runs_with(**discarded: int) -> list[Run]:
    few = SamplesRecord(LONG, LONG, total=50, in_scope=9, points=VISITED, discarded=discarded)
    return [Run(RunRecord(program="/p"), "x", samples=few) for _ in range(3)]


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "few_visits",
            "6 windows held too few visits to a progress point (120 in 27.0 s, in 3 runs together)",
        ),
        ("shutdown", "6 windows broken off, in 3 runs together"),
        ("all_delay", "6 windows without a visit, in 3 runs together"),
    ],
)
def test_windows_are_counted_over_all_runs(reason: str, words: str) -> None:
    assert words in explain_no_experiments(runs_with(**{reason: 2})).text


def test_a_window_of_another_run_than_the_longest_counts() -> None:
    runs = runs_with()
    runs[0] = runs_with(few_visits=1)[0]
    runs[2].samples = SamplesRecord(LONG, LONG, total=99, in_scope=9, points=VISITED)
    assert "1 window held too few visits" in explain_no_experiments(runs).text


def test_many_short_runs_are_not_told_to_run_many_times() -> None:
    short = SamplesRecord(9_000_000, 9_000_000, total=5, in_scope=5, points=VISITED)
    problem = explain_no_experiments([Run(RunRecord(program="/p"), "x", samples=short) for _ in range(40)])
    assert "the longest of 40 runs ended after 9 ms" in problem.text
    assert "many times" not in problem.hint


def test_processes_that_are_forked_may_have_come_to_the_points() -> None:
    samples = SamplesRecord(LONG, LONG, total=50, in_scope=9)
    problem = explain_no_experiments([Run(RunRecord(program="/p"), "x", samples=samples)])
    assert "coz run --tree" in problem.hint


def test_no_run_at_all() -> None:
    assert "did not start" in explain_no_experiments([]).text


def test_sampling_off_is_named_as_the_cause() -> None:
    record = RunRecord(program="/p", sampling="off")
    samples = SamplesRecord(LONG, LONG)
    assert "sampling was off" in explain_no_experiments([Run(record, "x", samples=samples)]).text
