"""What `coz run` reads of its own profile, while it grows and when the program has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from cozcli.launch import run_summary
from cozcli.launch.fixed_targets import FixedTarget
from cozcli.profile.tail import ProfileTail, read_tail

EXPERIMENT = b'{"type":"experiment","kind":"line","location":"a.c:1"}\n'
LOAD_ALONE = b'{"type":"experiment","kind":"none","location":"none"}\n'
SAMPLES = b'{"type":"samples","run_time":9,"total":%d,"lines":[{"location":"a.c:1","count":3}]}\n'


@pytest.mark.parametrize("kind", ["experiment", "samples"])
def test_records_of_absurd_depth_are_passed_over(tmp_path: Path, kind: str) -> None:
    """Another process may have written into the file: what is measured is still told."""
    profile = tmp_path / "deep.coz"
    deep = b'{"type":"%s","location":' % kind.encode() + b"[" * 100_000 + b"\n"
    profile.write_bytes(EXPERIMENT + deep + EXPERIMENT)
    tail = read_tail(profile)
    assert (tail.experiments, tail.locations) == (2, {"a.c:1": 2})
    assert run_summary.has_few(tail)
    assert "2 experiments" in str(run_summary.describe(profile, 0, tail, "deep.coz"))
    assert run_summary.never_sampled(tail, [FixedTarget("line", "b.c:1")]) == []
    assert tail.samples is None
    assert tail.load is None


def test_a_line_that_is_being_written_is_taken_when_it_is_complete(tmp_path: Path) -> None:
    profile = tmp_path / "growing.coz"
    tail = ProfileTail(profile, len(EXPERIMENT))
    profile.write_bytes(EXPERIMENT + EXPERIMENT + EXPERIMENT[:20])
    tail.read()
    assert tail.experiments == 1
    tail.read()
    assert tail.experiments == 1
    with profile.open("ab") as stream:
        stream.write(EXPERIMENT[20:] + LOAD_ALONE)
    tail.read()
    assert tail.experiments == 3
    assert tail.locations == {"a.c:1": 2}


def test_the_last_counts_of_the_last_run_are_kept(tmp_path: Path) -> None:
    profile = tmp_path / "p.coz"
    run = b'{"type":"run","format":"coz-profile","version":1}\n'
    profile.write_bytes(run + SAMPLES % 1 + SAMPLES % 2)
    tail = read_tail(profile)
    assert tail.samples is not None
    assert tail.samples.total == 2
    assert tail.run is not None
    assert run_summary.never_sampled(tail, [FixedTarget("line", "a.c:1")]) == []
    (problem,) = run_summary.never_sampled(tail, [FixedTarget("line", "b.c:1")])
    assert "b.c:1" in problem.text
    other = SAMPLES.replace(b"a.c:1", b"b.c:1") % 1
    with profile.open("ab") as stream:
        stream.write(run + other)
    tail.read()
    both = [FixedTarget("line", "a.c:1"), FixedTarget("line", "b.c:1")]
    assert run_summary.never_sampled(tail, both) == []
    with profile.open("ab") as stream:
        stream.write(run)
    tail.read()
    assert tail.samples is None
    assert tail.run is not None


def test_counts_that_cannot_be_true_are_none(tmp_path: Path) -> None:
    profile = tmp_path / "p.coz"
    profile.write_bytes(b'{"type":"samples","run_time":-1,"total":2}\n')
    assert read_tail(profile).samples is None


def test_a_profile_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nothing"):
        read_tail(tmp_path / "nothing.coz")
