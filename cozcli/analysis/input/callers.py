"""Who calls a line, and as part of which function it runs: from samples whose callers were unwound."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TypeVar

from cozcli.analysis.result import Caller, Instance, Surroundings
from cozcli.profile.profile import Run
from cozcli.profile.records import CallerCount

Key = TypeVar("Key", str, tuple[str, str])
#: With fewer samples of a line whose caller is known, shares would be guesses.
MIN_SAMPLES = 5


def surroundings_of_lines(runs: Sequence[Run]) -> dict[str, Surroundings]:
    """By line, all runs together. Lines with too few samples are left out."""
    entries: defaultdict[str, list[CallerCount]] = defaultdict(list)
    for run in runs:
        for entry in run.samples.callers if run.samples else ():
            entries[entry.location].append(entry)
    return {
        location: _surroundings(found)
        for location, found in entries.items()
        if sum(entry.count for entry in found) >= MIN_SAMPLES
    }


def _surroundings(entries: Sequence[CallerCount]) -> Surroundings:
    callers: Counter[tuple[str, str]] = Counter()
    functions: Counter[str] = Counter()
    for entry in entries:
        callers[entry.caller, entry.caller_function] += entry.count
        functions[entry.function] += entry.count
    total = callers.total()
    return Surroundings(
        callers=tuple(Caller(*names, number / total) for names, number in _ordered(callers))
        if any(caller for caller, _ in callers)
        else (),
        instances=tuple(Instance(name, number / total) for name, number in _ordered(functions))
        if len(functions) > 1
        else (),
    )


def _ordered(counts: Counter[Key]) -> list[tuple[Key, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
