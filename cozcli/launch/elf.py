"""Just enough of ELF to know, before the start, whether a program can be profiled.

An own reader, since the start of `coz run` waits for it: docs/decisions/elf_reader.md. Whatever a file holds,
what is read of it is bounded, and nothing but OSError is raised.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP, _PT_NOTE = 1, 2, 3, 4
_NT_GNU_BUILD_ID = 3
_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64", 21: "ppc64le", 22: "s390x"}
#: No interpreter's path is longer than this (PATH_MAX).
_MAX_PATH = 4096
#: Bytes within which linkers put the names for the dynamic linker, before the code. To read all of a program
#: with debug information would take longer than its start.
NAMES_WITHIN = 16 << 20
#: Bytes of a dynamic section that are read: linkers' have some hundreds.
_MAX_DYNAMIC = 1 << 16
#: Bytes of section names that are read: linkers' take some hundreds.
_MAX_NAMES = 1 << 20
#: Bytes of notes that are read: linkers' have a hundred.
_MAX_NOTES = 1 << 16
#: What a broken file leads to.
_BROKEN = (struct.error, OverflowError, ValueError, IndexError)


class ElfFile(NamedTuple):
    """What the header of an ELF file says. `interpreter` is empty in a static binary."""

    machine: str
    bits: int
    interpreter: str


class _Layout(NamedTuple):
    """Of the 32-bit or the 64-bit form: the header from byte 16 on, and the entries of both tables."""

    header: str
    #: Kind, offset in the file, address, size in the file, size in memory.
    segment: str
    #: Name, offset in the file, size.
    section: str


_LAYOUTS = {
    1: _Layout("HHIIIIIHHHHHH", "IIIxxxxII8x", "I12xII16x"),
    2: _Layout("HHIQQQIHHHHHH", "I4xQQ8xQQ8x", "I20xQQ24x"),
}


class _Header(NamedTuple):
    """Where the tables are: offset, bytes of an entry, entries."""

    order: str
    bits: int
    machine: int
    segments: tuple[int, int, int]
    sections: tuple[int, int, int]
    names: int

    @property
    def is_native(self) -> bool:
        """Is it 64-bit, in this machine's byte order?"""
        return self.bits == 64 and (struct.pack(f"{self.order}H", 1) == struct.pack("=H", 1))

    @property
    def layout(self) -> _Layout:
        return _LAYOUTS[self.bits // 32]


def read_elf(path: Path) -> ElfFile | None:
    """Read the header and the program headers.

    Returns:
        None if this is not an ELF file, or a broken one.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        try:
            header = _read_header(stream)
            if header is None:
                return None
            interpreter = ""
            for kind, offset, _, size, _ in _read_table(
                stream, header, header.segments, header.layout.segment
            ):
                if kind == _PT_INTERP:
                    stream.seek(offset)
                    raw = stream.read(min(size, _MAX_PATH))
                    interpreter = raw.split(b"\0")[0].decode(errors="surrogateescape")
        except _BROKEN:
            return None
    return ElfFile(_MACHINES.get(header.machine, f"machine {header.machine}"), header.bits, interpreter)


def has_section(path: Path, names: Collection[bytes]) -> bool:
    """Whether a 64-bit ELF file of this machine's byte order has a section of one of these names.

    False if it has none, or is broken, or cannot be read: `read_elf` tells.
    """
    try:
        with path.open("rb") as stream:
            header = _read_header(stream)
            if header is None or not header.is_native:
                return False
            sections = _read_table(stream, header, header.sections, header.layout.section)
            _, offset, size = sections[header.names]
            stream.seek(offset)
            texts = stream.read(min(size, _MAX_NAMES))
    except (OSError, *_BROKEN):
        return False
    return any(texts[begin : texts.find(b"\0", begin)] in names for begin, _, _ in sections)


def build_id(path: Path) -> str:
    """The build identity of an ELF file in hexadecimal digits; empty if it has none that can be read."""
    try:
        with path.open("rb") as stream:
            header = _read_header(stream)
            if header is None or not header.is_native:
                return ""
            for kind, offset, _, size, _ in _read_table(
                stream, header, header.segments, header.layout.segment
            ):
                if kind != _PT_NOTE:
                    continue
                stream.seek(offset)
                notes = stream.read(min(size, _MAX_NOTES))
                at = 0
                while at + 12 <= len(notes):
                    name_size, size_of_content, note = struct.unpack_from("=III", notes, at)
                    name = at + 12
                    content = name + -(-name_size // 4) * 4
                    if note == _NT_GNU_BUILD_ID and notes[name : name + name_size] == b"GNU\0":
                        return notes[content : content + size_of_content].hex()
                    at = content + -(-size_of_content // 4) * 4
    except (OSError, *_BROKEN):
        pass
    return ""


def dynamic_tags(path: Path) -> frozenset[int] | None:
    """What the loader will find in the dynamic section of a 64-bit ELF file of this machine's byte order.

    None if that cannot be told for certain: no such section, broken, unreadable, or in two places at once.
    """
    try:
        with path.open("rb") as stream:
            header = _read_header(stream)
            if header is None or not header.is_native:
                return None
            segments = _read_table(stream, header, header.segments, header.layout.segment)
            dynamic = [segment for segment in segments if segment[0] == _PT_DYNAMIC]
            if len(dynamic) != 1:
                return None
            begin, end = dynamic[0][2], dynamic[0][2] + min(dynamic[0][4], _MAX_DYNAMIC)
            # Loaders map whole pages, so that a segment may hide a part of another.
            around = [
                (offset, address)
                for kind, offset, address, _, size in segments
                if kind == _PT_LOAD and _pages(address) < end and begin < -_pages(-address - size)
            ]
            if len(around) != 1 or begin < around[0][1]:
                return None
            stream.seek(begin - around[0][1] + around[0][0])
            content = stream.read(end - begin)
            tags = [tag for tag, _ in struct.iter_unpack("=QQ", content[: len(content) // 16 * 16])]
    except (OSError, *_BROKEN):
        return None
    return frozenset(tags[: tags.index(0)]) if 0 in tags else None


def _read_header(stream: BinaryIO) -> _Header | None:
    """None if it is no ELF file. Raises one of `_BROKEN`."""
    raw = stream.read(64)
    if raw[:4] != b"\x7fELF" or raw[4] not in _LAYOUTS:
        return None
    order = "<" if raw[5] == 1 else ">"
    fields = struct.unpack_from(order + _LAYOUTS[raw[4]].header, raw, 16)
    (
        _,
        machine,
        _,
        _,
        segments,
        sections,
        _,
        _,
        segment_size,
        segment_number,
        section_size,
        section_number,
        names,
    ) = fields
    return _Header(
        order,
        32 * raw[4],
        machine,
        (segments, segment_size, segment_number),
        (sections, section_size, section_number),
        names,
    )


def _read_table(
    stream: BinaryIO, header: _Header, table: tuple[int, int, int], entry: str
) -> list[tuple[int, ...]]:
    """Raises one of `_BROKEN`, as where entries have another size than the format says."""
    offset, size, number = table
    form = struct.Struct(header.order + entry)
    if number and size != form.size:
        raise ValueError(f"entries of {size} bytes")
    stream.seek(offset)
    content = stream.read(size * number)
    return [form.unpack_from(content, index * size) for index in range(number)]


def _pages(address: int) -> int:
    return address // mmap.PAGESIZE * mmap.PAGESIZE


def read_shebang(path: Path) -> str | None:
    """The interpreter of a script, or None if the file is not one.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        head = stream.read(256)
    if not head.startswith(b"#!"):
        return None
    return head[2:].split(b"\n")[0].strip().decode(errors="replace")


def contains_any(path: Path, texts: Sequence[bytes], within: int | None = None) -> bool:
    """Whether one of the texts is in the file, in its first `within` bytes.

    False if the file cannot be read: `read_elf` tells.
    """
    try:
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            end = len(content) if within is None else min(within, len(content))
            return any(content.find(text, 0, end) >= 0 for text in texts)
    except (OSError, ValueError):
        return False
