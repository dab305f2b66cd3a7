"""Which locks threads wait for in a target, and who had taken them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict

from cozcli.analysis.result import Holder, WaitedLock
from cozcli.profile.profile import Run
from cozcli.profile.records import LockCount

#: The number of a run, and one of its counts.
_Entry = tuple[int, LockCount]


class _HowMany(TypedDict, total=False):
    number: int
    largest: float
    has_others: bool


def locks_of_targets(runs: Sequence[Run]) -> dict[str, tuple[WaitedLock, ...]]:
    """By target, all runs together; the lock with most waiting first."""
    entries: defaultdict[str, list[_Entry]] = defaultdict(list)
    for number, run in enumerate(runs):
        for entry in run.samples.locks if run.samples else ():
            entries[entry.location].append((number, entry))
    return {location: _locks(found) for location, found in entries.items()}


def _locks(entries: Sequence[_Entry]) -> tuple[WaitedLock, ...]:
    total = max(sum(entry.waited for _, entry in entries), 1)
    by_name: defaultdict[str, list[_Entry]] = defaultdict(list)
    for run, entry in entries:
        by_name[entry.lock].append((run, entry))
    locks = [
        replace(_lock(name, [entry for _, entry in found], total), **({} if name else _unnamed(found)))
        for name, found in by_name.items()
    ]
    return tuple(sorted(locks, key=lambda lock: (-lock.share, lock.name)))


def _unnamed(entries: Sequence[_Entry]) -> _HowMany:
    """Of the locks without a name, `number` and `largest`. Their numbers mean something within a run only."""
    runs: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for run, entry in entries:
        runs[run][entry.unnamed] += entry.waited
    if any(waited.keys() == {0} for waited in runs.values()):
        return {"number": 0, "largest": 0.0}
    most = sum(max(time for number, time in waited.items() if number) for waited in runs.values())
    total = sum(entry.waited for _, entry in entries)
    return {
        "number": max(len(waited.keys() - {0}) for waited in runs.values()),
        "largest": most / max(total, 1),
        "has_others": any(0 in waited for waited in runs.values()),
    }


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
