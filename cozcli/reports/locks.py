"""In words, which locks threads wait for in a target, and who has them meanwhile."""

from __future__ import annotations

from cozcli.analysis.result import Holder, WaitedLock
from cozcli.messages import duration
from cozcli.reports.base import short_function, shorten

#: Of how many locks of a target, and of how many holders of a lock, and with which share at least.
MAX_SHOWN, MIN_SHARE = 4, 0.03
HEADING = "Waits for:"


def describe_locks(locks: tuple[WaitedLock, ...], prefix: str) -> str:
    """`table_lock 83 % (1,204 waits of 0.31 ms, held by cache.cpp:40 (fill) 100%), …`; empty if not known."""
    shown = [lock for lock in locks[:MAX_SHOWN] if lock.share >= MIN_SHARE]
    return ", ".join(_lock(lock, prefix) for lock in shown)


def _lock(lock: WaitedLock, prefix: str) -> str:
    holders = [_holder(each, prefix) for each in lock.holders[:MAX_SHOWN] if each.share >= MIN_SHARE]
    details = waits_of(lock)
    if holders:
        details += f", held by {', '.join(holders)}"
    return f"{name_of(lock)} {lock.share:.0%} ({details})"


def name_of(lock: WaitedLock) -> str:
    """The variable, or how many locks there are that are none."""
    if lock.name:
        return lock.name
    return "a lock without a name" if lock.locks == 1 else f"{lock.locks} locks without a name"


def waits_of(lock: WaitedLock) -> str:
    """How often threads waited for it, and how long."""
    return f"{lock.waits:,} waits of {duration(lock.mean)} on average"


def _holder(holder: Holder, prefix: str) -> str:
    if not holder.location:
        return f"an unknown line {holder.share:.0%}"
    name = short_function(holder.function)
    location = shorten(holder.location, prefix)
    return f"{location} ({name}) {holder.share:.0%}" if name else f"{location} {holder.share:.0%}"
