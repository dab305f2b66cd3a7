"""Bytes to records: never fails on what a file holds, and counts what it had to leave out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cozcli.profile.classic import ClassicAssembler, is_classic, parse_tab_line
from cozcli.profile.fields import RecordError, decode_object
from cozcli.profile.parsing import parse_record
from cozcli.profile.records import Record


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
        text = raw.decode("utf-8", errors="replace").strip("\r\n \0")
        if not text:
            continue
        values = _parse_line(text)
        if values is None:
            if raw.endswith(b"\n"):
                problems.garbage.append(number)
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
    yield from classic.finish()


def looks_like_profile(head: bytes) -> bool:
    """Does a file that begins with `head` hold at least one record? Used before appending to it."""
    problems = ReadProblems()
    for _ in read_records(head.splitlines(keepends=True), problems):
        pass
    return problems.recognized > 0


def is_classic_line(raw: bytes) -> bool:
    """Is this line a record of the classic tool, in either of its forms?"""
    values = _parse_line(raw.decode("utf-8", errors="replace").strip("\r\n \0"))
    return values is not None and is_classic(values)


def _parse_line(text: str) -> dict[str, object] | None:
    if not text.startswith("{"):
        return parse_tab_line(text)
    values = decode_object(text)
    return values if values is not None and isinstance(values.get("type"), str) else None
