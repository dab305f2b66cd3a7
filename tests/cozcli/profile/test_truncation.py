"""A log that was cut anywhere can be read up to the cut: what a full disk, or a power failure, leaves."""

from __future__ import annotations

from pathlib import Path

from cozcli.profile.profile import collect_runs
from cozcli.profile.reader import ReadProblems, read_records

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


def records(raw: bytes) -> tuple[list[object], ReadProblems]:
    problems = ReadProblems()
    return list(read_records(raw.splitlines(keepends=True), problems)), problems


def test_cut_at_every_byte() -> None:
    raw = b"".join((GOLDEN / "few-blocks.coz").read_bytes().splitlines(keepends=True)[:6])
    whole, _ = records(raw)
    assert len(whole) == 6
    ends = [index + 1 for index, byte in enumerate(raw) if byte == 10]
    for cut in range(len(raw) + 1):
        left, problems = records(raw[:cut])
        complete = sum(end <= cut for end in ends)
        # The last line may lack its end only, and is whole then.
        assert left[:complete] == whole[:complete], cut
        assert len(left) - complete == (cut + 1 in ends), cut
        assert not problems.garbage
        assert not problems.rejected
        broken_off = cut not in (0, *ends) and cut + 1 not in ends
        assert bool(problems.truncated) == broken_off, cut
        collect_runs(iter(left), "cut")  # type: ignore[arg-type]


def test_what_is_added_to_a_cut_log_is_not_lost() -> None:
    """`coz run` ends the broken line before the next run's records."""
    raw = (GOLDEN / "few-blocks.coz").read_bytes()
    whole, _ = records(raw)
    for cut in range(40, 400, 7):
        left, _ = records(raw[:cut] + b"\n" + raw)
        assert left[-len(whole) :] == whole
