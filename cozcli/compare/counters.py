"""Events that the kernel counts for a run and all that it starts: hardware counters, and some of its own.

The event is opened for this thread, and stays off. A child inherits it, and the kernel switches it on when
the child executes its program (enable_on_exec), so that nothing of ours is counted. When a child ends, the
kernel adds its count to ours.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cozcli.compare import messages
from cozcli.compare.instrument import Reading
from cozcli.errors import CozError, Problem, reason_of

_HARDWARE, _SOFTWARE = 0, 1
#: By the names of metrics: type and number, as in linux/perf_event.h.
EVENTS: Mapping[str, tuple[int, int]] = {
    "cycles": (_HARDWARE, 0),
    "instructions": (_HARDWARE, 1),
    "cache-misses": (_HARDWARE, 3),
    "branch-misses": (_HARDWARE, 5),
    "page-faults": (_SOFTWARE, 2),
    "context-switches": (_SOFTWARE, 3),
}
#: Happen in the kernel alone.
_OF_THE_KERNEL = ("context-switches",)

_SYSTEM_CALLS = {"x86_64": 298, "aarch64": 241}
#: Of struct perf_event_attr; the fields up to `config1` and zeros.
_SIZE = 112
_DISABLED, _INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR, _ENABLE_ON_EXEC = 1, 2, 1 << 5, 1 << 6, 1 << 12
_TIME_ENABLED, _TIME_RUNNING = 1, 2
_CLOSE_ON_EXEC = 8
#: A ratio needs counts above zero; half an event stands for none.
_NONE = 0.5


class Counters(NamedTuple):
    """An instrument. events: names."""

    events: Sequence[str]

    @contextlib.contextmanager
    def attached(self, environment: dict[str, str]) -> Iterator[Reading]:
        """Count in what this thread starts now."""
        with contextlib.ExitStack() as files:
            opened = {name: open_event(name) for name in self.events}
            for descriptor in opened.values():
                files.callback(os.close, descriptor)
            yield lambda side: {name: count(side, name, opened[name]) for name in self.events}


def check_events(names: Sequence[str]) -> None:
    """Refuse events that this machine cannot count.

    Raises:
        CozError: with the kernel's reason.
    """
    for name in names:
        os.close(open_event(name))


def open_event(name: str) -> int:
    """A descriptor. Counts in the kernel, too, where that is allowed.

    Raises:
        CozError: the kernel refuses.
    """
    try:
        return _open(name, 0)
    except PermissionError as error:
        refused: OSError = error
    except OSError as error:
        raise CozError(_refusal(name, error)) from error
    if name in _OF_THE_KERNEL:
        raise CozError(_refusal(name, refused)) from refused
    try:
        return _open(name, _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR)
    except OSError as error:
        raise CozError(_refusal(name, error)) from error


def count(side: str, name: str, descriptor: int) -> float:
    """How many there were, scaled where the event had to share a counter.

    Raises:
        CozError: it never had a counter.
    """
    value, enabled, running = struct.unpack("QQQ", os.read(descriptor, 24))
    if enabled and not running:
        raise CozError(messages.never_counted(side, name))
    return max(_NONE, value * enabled / running if running else float(value))


def _open(name: str, flags: int) -> int:
    kind, number = EVENTS[name]
    flags |= _DISABLED | _INHERIT | _ENABLE_ON_EXEC
    attributes = struct.pack(
        "IIQQQQQ", kind, _SIZE, number, 0, 0, _TIME_ENABLED | _TIME_RUNNING, flags
    ).ljust(_SIZE, b"\0")
    call = _SYSTEM_CALLS.get(os.uname().machine)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    descriptor = libc.syscall(
        ctypes.c_long(call), attributes, ctypes.c_long(0), ctypes.c_long(-1), ctypes.c_long(-1),
        ctypes.c_long(_CLOSE_ON_EXEC),
    )  # fmt: skip
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(descriptor)


def _refusal(name: str, error: OSError) -> Problem:
    no_counter = error.errno in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP)
    if EVENTS[name][0] == _HARDWARE and no_counter:
        return messages.no_hardware_counter(name)
    return messages.event_refused(name, reason_of(error))
