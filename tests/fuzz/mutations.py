"""Damaged profiles: what disks, editors and people with bad intentions do to one.

Made from good ones, by bytes and by the structure of the records, so that most of what comes out is still
read in part. A generator of random numbers decides everything: the same seed gives the same bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

#: Numbers at the edges of what is stored somewhere, or of what makes sense.
NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 0.5, -0.0, 1e-300, 1e300, 0.1, 0.25, 1.0, 0.999999),
    *(2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 10**30, -(2**63)),
)
TEXTS: tuple[str, ...] = (
    *(
        "",
        " ",
        "\0",
        "\n",
        "\x1b[31m",
        "=1+1",
        "\u202e",
        "\ud800",
        "x" * 3000,
        "/dev/zero:1",
        "/proc/self/mem:1",
    ),
    *("/a.c:0", ":", "/a.c:99999999999999999999", "</script>", "region ", "/a.c:1 < /b.c:2", "none", "line"),
    *("throughput", "latency", "arrival", "experiment", "samples", "run", "exit", "reference", "load"),
)
OTHERS: tuple[Any, ...] = (None, True, False, [], {}, [[]], [{}], {"name": 1}, [None, 3, "x"])


def mutate(raw: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    """One to six of the changes below. `others`: profiles whose lines may get in between."""
    changes: tuple[Callable[[bytes, Sequence[bytes], random.Random], bytes], ...] = (
        *(_change_value,) * 8,
        *(_change_structure,) * 4,
        *(_repeat_line, _drop_line, _swap_lines, _borrow_line, _scale_values),
        *(_flip_byte, _insert_bytes, _delete_bytes, _cut),
    )
    for _ in range(source.randint(1, 6)):
        raw = source.choice(changes)(raw, others, source)
    return raw


def _pick_line(raw: bytes, source: random.Random) -> tuple[list[bytes], int]:
    lines = raw.splitlines(keepends=True) or [b""]
    return lines, source.randrange(len(lines))


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every (container, key) in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.append((value, key))
        _places(inner, found)
    return found


def _with_record(raw: bytes, source: random.Random, change: Callable[[list[tuple[Any, Any]]], None]) -> bytes:
    lines, at = _pick_line(raw, source)
    try:
        record = json.loads(lines[at])
    except (ValueError, RecursionError):
        return _flip_byte(raw, (), source)
    places = _places(record, [])
    if not places:
        return raw
    change(places)
    lines[at] = json.dumps(record).encode() + b"\n"
    return b"".join(lines)


def _change_value(raw: bytes, _: Sequence[bytes], source: random.Random) -> bytes:
    def change(places: list[tuple[Any, Any]]) -> None:
        container, key = source.choice(places)
        old = container[key]
        if isinstance(old, int | float) and source.random() < 0.4:
            container[key] = old * source.choice((-1, 0, 2, 1000, 10**9)) + source.choice((0, 1, -1))
        else:
            container[key] = source.choice(source.choice((NUMBERS, TEXTS, OTHERS)))

    return _with_record(raw, source, change)


def _change_structure(raw: bytes, _: Sequence[bytes], source: random.Random) -> bytes:
    def change(places: list[tuple[Any, Any]]) -> None:
        container, key = source.choice(places)
        other, there = source.choice(places)
        if source.random() < 0.4:
            del container[key]
        elif isinstance(container, list):
            container.insert(key, json.loads(json.dumps(other[there])))
        else:
            container[key] = json.loads(json.dumps(other[there]))

    return _with_record(raw, source, change)


def _scale_values(raw: bytes, _: Sequence[bytes], source: random.Random) -> bytes:
    """One field, in all records that have it."""
    names = (
        "speedup",
        "duration",
        "delay",
        "hits",
        "block",
        "start",
        "location",
        "run_time",
        "effective_duration",
    )
    name, value = source.choice(names), source.choice(source.choice((NUMBERS, TEXTS)))
    lines = raw.splitlines(keepends=True)
    for at, line in enumerate(lines):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and name in record:
            record[name] = value
            lines[at] = json.dumps(record).encode() + b"\n"
    return b"".join(lines)


def _repeat_line(raw: bytes, _: Sequence[bytes], source: random.Random) -> bytes:
    lines, at = _pick_line(raw, source)
    lines[at:at] = [lines[at]] * source.choice((1, 1, 5, 40))
    return b"".join(lines)


def _drop_line(raw: bytes, _: Sequence[bytes], source: random.Random) -> bytes:
    lines, at = _pick_line(raw, source)
    del lines[at : at + source.choice((1, 1, 10))]
    return b"".join(lines)


def _swap_lines(raw: bytes, _: Sequence[bytes], source: random.Random) -> bytes:
    lines, at = _pick_line(raw, source)
    other = source.randrange(len(lines))
    lines[at], lines[other] = lines[other], lines[at]
    return b"".join(lines)


def _borrow_line(raw: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    lines, at = _pick_line(raw, source)
    if others:
        theirs, there = _pick_line(source.choice(others), source)
        lines.insert(at, theirs[there])
    return b"".join(lines)


def _flip_byte(raw: bytes, _: Sequence[bytes], source: random.Random) -> bytes:
    if not raw:
        return raw
    at = source.randrange(len(raw))
    return (
        raw[:at]
        + bytes([source.choice((source.randrange(256), raw[at] ^ (1 << source.randrange(8))))])
        + raw[at + 1 :]
    )


def _insert_bytes(raw: bytes, _: Sequence[bytes], source: random.Random) -> bytes:
    at = source.randint(0, len(raw))
    inserted = source.choice(
        (b"\0", b"\n", b"\t", b'"', b"{", b"[" * 2000, b"9" * 5000, b"\xff\xfe", b"\\ud800", b"NaN")
    )
    return raw[:at] + inserted + raw[at:]


def _delete_bytes(raw: bytes, _: Sequence[bytes], source: random.Random) -> bytes:
    at = source.randint(0, len(raw))
    return raw[:at] + raw[at + source.choice((1, 2, 30, 500)) :]


def _cut(raw: bytes, _: Sequence[bytes], source: random.Random) -> bytes:
    return raw[: source.randint(0, len(raw))]
