"""In words, which locks threads wait for in a target, and where these had been taken."""

from __future__ import annotations

from cozcli.analysis.result import WaitedLock
from cozcli.messages import duration
from cozcli.reports.base import with_share

#: Of how many locks of a target, and of how many holders of a lock, and with which share at least.
MAX_SHOWN, MIN_SHARE = 4, 0.03
HEADING = "Locks that threads wait for, and where they had been taken when the wait began:"


def describe_locks(locks: tuple[WaitedLock, ...], prefix: str) -> str:
    """`table 83% (1,204 waits of 312 µs on average, taken at cache.cpp:40 (fill) 100%), …`, or nothing."""
    shown = [lock for lock in locks[:MAX_SHOWN] if lock.share >= MIN_SHARE]
    return ", ".join(_lock(lock, prefix) for lock in shown)


def _lock(lock: WaitedLock, prefix: str) -> str:
    holders = [
        with_share(each, "a line that is not known", prefix)
        for each in lock.holders[:MAX_SHOWN]
        if each.share >= MIN_SHARE
    ]
    details = waits_of(lock)
    if holders:
        details += f", taken at {', '.join(holders)}"
    return f"{name_of(lock)} {lock.share:.0%} ({details})"


def name_of(lock: WaitedLock) -> str:
    """The variable, or how many others there are."""
    if lock.name:
        return lock.name
    if lock.number == 0:
        return "locks without a name"
    if lock.has_others:
        return f"more than {lock.number} locks without a name"
    return "a lock without a name" if lock.number == 1 else f"{lock.number} locks without a name"


def waits_of(lock: WaitedLock) -> str:
    """How often threads waited for it, and how long; for several, whether one stands out."""
    waits = f"{lock.waits:,} waits of {duration(lock.mean)} on average"
    is_one = lock.number <= 1 and not lock.has_others
    return waits if is_one else f"{waits}, {lock.largest:.0%} of the time at one of them"
