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

HARDWARE, _SOFTWARE = 0, 1


class Event(NamedTuple):
    """name: for people. kind, config, config1: of struct perf_event_attr (linux/perf_event.h)."""

    name: str
    kind: int
    config: int
    config1: int = 0


#: By the names of metrics.
EVENTS: Mapping[str, Event] = {
    event.name: event
    for event in (
        Event("cycles", HARDWARE, 0),
        Event("instructions", HARDWARE, 1),
        Event("cache-misses", HARDWARE, 3),
        Event("branch-misses", HARDWARE, 5),
        Event("page-faults", _SOFTWARE, 2),
        Event("context-switches", _SOFTWARE, 3),
    )
}
#: Happen in the kernel alone.
_OF_THE_KERNEL = ("context-switches",)

_SYSTEM_CALLS = {"x86_64": 298, "aarch64": 241}
#: Of struct perf_event_attr: the fields up to `config1`, and zeros.
_SIZE = 112
_DISABLED, _INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR, _ENABLE_ON_EXEC = 1, 2, 1 << 5, 1 << 6, 1 << 12
_TIME_ENABLED, _TIME_RUNNING = 1, 2
_CLOSE_ON_EXEC = 8
#: A ratio needs counts above zero; half an event stands for none.
_NONE = 0.5


class Counters(NamedTuple):
    """An instrument. Figures have the events' names."""

    events: Sequence[Event]

    @contextlib.contextmanager
    def attached(self, environment: dict[str, str]) -> Iterator[Reading]:
        """Count in what this thread starts now."""
        with contextlib.ExitStack() as files:
            opened = {event.name: open_event(event) for event in self.events}
            for descriptor in opened.values():
                files.callback(os.close, descriptor)
            yield lambda side: {name: count(side, name, each) for name, each in opened.items()}


def check_events(events: Sequence[Event]) -> None:
    """Refuse events that this machine cannot count.

    Raises:
        CozError: with the kernel's reason.
    """
    for event in events:
        os.close(open_event(event))


def open_event(event: Event) -> int:
    """A descriptor. Counts in the kernel, too, where that is allowed.

    Raises:
        CozError: the kernel refuses.
    """
    try:
        return _open(event, 0)
    except PermissionError as error:
        refused: OSError = error
    except OSError as error:
        raise CozError(_refusal(event, error)) from error
    if event.name in _OF_THE_KERNEL:
        raise CozError(_refusal(event, refused)) from refused
    try:
        return _open(event, _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR)
    except OSError as error:
        raise CozError(_refusal(event, error)) from error


def count(side: str, name: str, descriptor: int) -> float:
    """How many there were, scaled where the event had to share a counter.

    Raises:
        CozError: it never had a counter.
    """
    value, enabled, running = struct.unpack("QQQ", os.read(descriptor, 24))
    if enabled and not running:
        raise CozError(messages.never_counted(side, name))
    return max(_NONE, value * enabled / running if running else float(value))


def _open(event: Event, flags: int) -> int:
    flags |= _DISABLED | _INHERIT | _ENABLE_ON_EXEC
    _, kind, config, config1 = event
    attributes = struct.pack(
        "IIQQQQQIIQ", kind, _SIZE, config, 0, 0, _TIME_ENABLED | _TIME_RUNNING, flags, 0, 0, config1
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


def _refusal(event: Event, error: OSError) -> Problem:
    no_counter = error.errno in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP)
    if event.kind != _SOFTWARE and no_counter:
        return messages.no_hardware_counter(event.name)
    return messages.event_refused(event.name, reason_of(error))
