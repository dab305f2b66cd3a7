"""Descriptors that a profiled program inherits, out of the way of those that it counts on."""

from __future__ import annotations

import contextlib
import fcntl
import os

_HIGH = 512


def move_high(descriptor: int) -> int:
    """The same file at 512 or above, and `descriptor` closed; as it is where no number is that high."""
    with contextlib.suppress(OSError):
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
        os.close(descriptor)
        return high
    return descriptor
