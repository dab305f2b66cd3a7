"""Address space randomisation of the programs that this process starts, by personality(2), for which Python
has no function.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

_ADDR_NO_RANDOMIZE = 0x0040000
_ASK = 0xFFFFFFFF


def set_randomised(wanted: bool) -> None:
    """From now on, also of what this process executes.

    Raises:
        OSError: the kernel refuses, as some sandboxes have it.
    """
    before = _personality(_ASK)
    _personality(before & ~_ADDR_NO_RANDOMIZE if wanted else before | _ADDR_NO_RANDOMIZE)


@contextlib.contextmanager
def randomisation(wanted: bool) -> Iterator[None]:
    """Of programs that this thread starts meanwhile.

    Raises:
        OSError: as `set_randomised`.
    """
    before = _personality(_ASK)
    set_randomised(wanted)
    try:
        yield
    finally:
        _personality(before)


def is_randomised() -> bool:
    """Does a program that the user starts get addresses at random?"""
    try:
        if Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "0":
            return False
        return int(Path("/proc/self/personality").read_text(), 16) & _ADDR_NO_RANDOMIZE == 0
    except (OSError, ValueError):
        return True


def _personality(value: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.personality.argtypes = [ctypes.c_ulong]
    before: int = libc.personality(value)
    if before < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return before
