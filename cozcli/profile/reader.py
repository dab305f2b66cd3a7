"""Bytes to records: never fails on what a file holds, and counts what it had to leave out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cozcli.profile.classic import ClassicAssembler, is_classic, parse_tab_line
from cozcli.profile.fields import RecordError, decode_object
from cozcli.profile.parsing import parse_record
from cozcli.profile.records import Record, RunRecord

#: What the record of a run's start holds, even where it is damaged.
_RUN = re.compile(rb'"type"\s*:\s*"run"')


class ReadProblems:
    """Line numbers (from 1) of what was left out of one file."""

    def __init__(self) -> None:
        self.garbage: list[int] = []
        self.rejected: list[tuple[int, str]] = []
        self.truncated = 0
        self.recognized = 0


def read_records(lines: Iterable[bytes], problems: ReadProblems) -> Iterator[Record]:
    """Read a profile in any of the three formats, which may even follow one another.

    Args:
        lines: the file, split after each newline.
        problems: filled in while the records are consumed.

    Yields:
        Records in the order of the file. Types that are not known are passed over in silence.
    """
    classic = ClassicAssembler()
    for number, raw in enumerate(lines, start=1):
        text = _text_of(raw)
        if not text:
            continue
        values = _parse_line(text)
        if values is None:
            if raw.endswith(b"\n"):
                problems.garbage.append(number)
                yield from _after_damage(raw, classic)
            else:
                problems.truncated = number
            continue
        try:
            if is_classic(values):
                problems.recognized += 1
                yield from classic.feed(values)
            else:
                record = parse_record(values)
                if record is not None:
                    problems.recognized += 1
                    yield from classic.finish()
                    yield record
        except RecordError as error:
            problems.rejected.append((number, str(error)))
            yield from _after_damage(raw, classic)
    yield from classic.finish()


def looks_like_profile(head: bytes) -> bool:
    """Does a file that begins with `head` hold at least one record? Used before appending to it."""
    problems = ReadProblems()
    for _ in read_records(head.splitlines(keepends=True), problems):
        pass
    return problems.recognized > 0


def is_classic_line(raw: bytes) -> bool:
    """Is this line a record of the classic tool, in either of its forms?"""
    values = _parse_line(_text_of(raw))
    return values is not None and is_classic(values)


def is_damaged_start(raw: bytes) -> bool:
    """Was this line, of which no record can be made, one that begins a run?"""
    return _RUN.search(raw) is not None


def _text_of(raw: bytes) -> str:
    """A line without its end, and without what editors and broken disks put around it."""
    return raw.decode("utf-8", errors="replace").strip("\r\n \0\ufeff")


def _after_damage(raw: bytes, classic: ClassicAssembler) -> Iterator[Record]:
    """Instead of a damaged record: what follows does not join an experiment or run before it."""
    is_start = is_damaged_start(raw)
    if is_start or b"experiment" in raw:
        yield from classic.finish()
    if is_start:
        yield RunRecord()


def _parse_line(text: str) -> dict[str, object] | None:
    if not text.startswith("{"):
        return parse_tab_line(text)
    values = decode_object(text)
    return values if values is not None and isinstance(values.get("type"), str) else None
