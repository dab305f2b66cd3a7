"""Which locks threads wait for in a target, and who had taken them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from cozcli.analysis.result import Holder, WaitedLock
from cozcli.profile.profile import Run
from cozcli.profile.records import LockCount


def locks_of_targets(runs: Sequence[Run]) -> dict[str, tuple[WaitedLock, ...]]:
    """By target, all runs together; the lock with most waiting first."""
    entries: defaultdict[str, list[LockCount]] = defaultdict(list)
    for run in runs:
        for entry in run.samples.locks if run.samples else ():
            entries[entry.location].append(entry)
    return {location: _locks(found) for location, found in entries.items()}


def _locks(entries: Sequence[LockCount]) -> tuple[WaitedLock, ...]:
    total = max(sum(entry.waited for entry in entries), 1)
    by_name: defaultdict[str, list[LockCount]] = defaultdict(list)
    for entry in entries:
        by_name[entry.lock].append(entry)
    locks = [_lock(name, found, total) for name, found in by_name.items()]
    return tuple(sorted(locks, key=lambda lock: (-lock.share, lock.name)))


def _lock(name: str, entries: Sequence[LockCount], total: int) -> WaitedLock:
    waited = sum(entry.waited for entry in entries)
    waits = sum(entry.waits for entry in entries)
    holders: Counter[tuple[str, str]] = Counter()
    for entry in entries:
        holders[entry.holder, entry.holder_function] += entry.waited
    return WaitedLock(
        name=name,
        share=waited / total,
        waits=waits,
        mean=waited / max(waits, 1),
        holders=tuple(
            Holder(*holder, time / max(waited, 1))
            for holder, time in sorted(holders.items(), key=lambda item: (-item[1], item[0]))
        ),
    )
