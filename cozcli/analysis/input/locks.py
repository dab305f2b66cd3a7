"""Which locks threads wait for in a target, and who had taken them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from cozcli.analysis.result import Holder, WaitedLock
from cozcli.profile.profile import Run
from cozcli.profile.records import LockCount

#: The number of a run, and one of its counts.
_Entry = tuple[int, LockCount]


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
    locks = [_lock(name, found, total) for name, found in by_name.items()]
    return tuple(sorted(locks, key=lambda lock: (-lock.share, lock.name)))


def _count(entries: Sequence[_Entry]) -> tuple[int, float, bool]:
    """Of locks without a name: WaitedLock's number, largest and has_others. Each run numbers its own."""
    runs: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for run, entry in entries:
        runs[run][entry.unnamed] += entry.waited
    if any(waited.keys() == {0} for waited in runs.values()):
        return 0, 0.0, False
    most = sum(max(time for number, time in waited.items() if number) for waited in runs.values())
    total = sum(entry.waited for _, entry in entries)
    number = max(len(waited.keys() - {0}) for waited in runs.values())
    return number, most / max(total, 1), any(0 in waited for waited in runs.values())


def _lock(name: str, entries: Sequence[_Entry], total: int) -> WaitedLock:
    waited = sum(entry.waited for _, entry in entries)
    waits = sum(entry.waits for _, entry in entries)
    number, largest, has_others = (1, 1.0, False) if name else _count(entries)
    holders: Counter[tuple[str, str]] = Counter()
    for _, entry in entries:
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
        number=number,
        largest=largest,
        has_others=has_others,
    )
