"""Just enough of ELF to know, before the start, whether a program can be profiled."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_CLASS_64 = 2
_MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64", 21: "ppc64le", 22: "s390x"}
#: No interpreter's path is longer than this (PATH_MAX).
_LONGEST_PATH = 4096
#: Bytes within which linkers put the names for the dynamic linker, before the code. To read all of a program
#: with debug information would take longer than its start.
NAMES_WITHIN = 16 << 20
#: Bytes of a dynamic section that are read: linkers' have some hundreds.
_MOST_DYNAMIC = 1 << 16
#: Bytes of section names that are read: linkers' take some hundreds.
_MOST_NAMES = 1 << 20


class ElfFile(NamedTuple):
    """What the header of an ELF file says. `interpreter` is empty in a static binary."""

    machine: str
    bits: int
    interpreter: str


def read_elf(path: Path) -> ElfFile | None:
    """Read the header and the program headers.

    Returns:
        None if this is not an ELF file, or a broken one.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        identity = stream.read(64)
        if len(identity) < 52 or identity[:4] != b"\x7fELF":
            return None
        wide = identity[4] == _CLASS_64
        order = "<" if identity[5] == 1 else ">"
        try:
            (machine,) = struct.unpack_from(order + "H", identity, 18)
            if wide:
                (offset,) = struct.unpack_from(order + "Q", identity, 32)
                size, number = struct.unpack_from(order + "HH", identity, 54)
            else:
                (offset,) = struct.unpack_from(order + "I", identity, 28)
                size, number = struct.unpack_from(order + "HH", identity, 42)
            interpreter = ""
            for index in range(number):
                stream.seek(offset + index * size)
                header = stream.read(size)
                (kind,) = struct.unpack_from(order + "I", header, 0)
                if kind == _PT_INTERP:
                    fields = (8, 32, "Q") if wide else (4, 16, "I")
                    (start,) = struct.unpack_from(order + fields[2], header, fields[0])
                    (length,) = struct.unpack_from(order + fields[2], header, fields[1])
                    stream.seek(start)
                    raw = stream.read(min(length, _LONGEST_PATH))
                    interpreter = raw.split(b"\0")[0].decode(errors="surrogateescape")
        except (struct.error, OverflowError, ValueError):
            return None
    return ElfFile(_MACHINES.get(machine, f"machine {machine}"), 64 if wide else 32, interpreter)


def has_section(path: Path, names: Collection[bytes]) -> bool:
    """Whether a 64-bit ELF file of this machine's byte order has a section of one of these names.

    False if it has none, or is broken, or cannot be read: `read_elf` tells.
    """
    try:
        with path.open("rb") as stream:
            header = stream.read(64)
            (offset,) = struct.unpack_from("=Q", header, 40)
            size, number, strings = struct.unpack_from("=HHH", header, 58)
            stream.seek(offset)
            if size != 64:  # of a section header
                return False
            table = stream.read(size * number)
            start, length = struct.unpack_from("=QQ", table, strings * size + 24)
            stream.seek(start)
            texts = stream.read(min(length, _MOST_NAMES))
            begins = [struct.unpack_from("=I", table, index * size)[0] for index in range(number)]
    except (OSError, OverflowError, ValueError, struct.error):
        return False
    return any(texts[begin : texts.find(b"\0", begin)] in names for begin in begins)


def dynamic_tags(path: Path) -> frozenset[int] | None:
    """What the loader will find in the dynamic section of a 64-bit ELF file of this machine's byte order.

    None if that cannot be told for certain: no such section, broken, unreadable, or in two places at once.
    """
    try:
        with path.open("rb") as stream:
            header = stream.read(64)
            (offset,) = struct.unpack_from("=Q", header, 32)
            size, number = struct.unpack_from("=HH", header, 54)
            if size != 56:  # of a program header
                return None
            stream.seek(offset)
            table = stream.read(size * number)
            # Of each: kind, then offset in the file, address, size there and in memory.
            segments = [struct.unpack_from("=IxxxxQQxxxxxxxxQQ", table, i * size) for i in range(number)]
            sections = [segment for segment in segments if segment[0] == _PT_DYNAMIC]
            if len(sections) != 1:
                return None
            begin, end = sections[0][2], sections[0][2] + min(sections[0][4], _MOST_DYNAMIC)
            # Loaders map whole pages, so that a segment may hide a part of another.
            around = [
                s
                for s in segments
                if s[0] == _PT_LOAD and _pages(s[2]) < end and begin < -_pages(-s[2] - s[4])
            ]
            if len(around) != 1 or begin < around[0][2]:
                return None
            stream.seek(begin - around[0][2] + around[0][1])
            content = stream.read(end - begin)
            tags = [tag for tag, _ in struct.iter_unpack("=QQ", content[: len(content) // 16 * 16])]
    except (OSError, OverflowError, ValueError, struct.error):
        return None
    return frozenset(tags[: tags.index(0)]) if 0 in tags else None


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
