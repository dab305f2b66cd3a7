"""As part of which function a line is run, and for whom: from samples that were followed further out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from cozcli.profile.profile import Run
from cozcli.profile.records import CallerCount

Key = TypeVar("Key", str, tuple[str, str])
#: With fewer samples of a line that tell, shares would be guesses.
ENOUGH_SAMPLES = 5


@dataclass(frozen=True)
class Caller:
    """Who runs a line: the place of the call and its function, both empty where that is out of scope.

    `share`: of the line's samples, between 0 and 1.
    """

    location: str
    function: str
    share: float


@dataclass(frozen=True)
class Instance:
    """A function that a line is part of: one of several instances of a template. `share`: as above."""

    function: str
    share: float


@dataclass(frozen=True)
class Surroundings:
    """The callers and functions of a line, the hottest first.

    A line whose callers are all out of scope (in main, or a thread's first function) has none of them; one
    that is part of a single function has no instances.
    """

    callers: tuple[Caller, ...] = ()
    instances: tuple[Instance, ...] = ()


def surroundings_of_lines(runs: Sequence[Run]) -> dict[str, Surroundings]:
    """By line, all runs together. Lines with too few samples are left out."""
    entries: defaultdict[str, list[CallerCount]] = defaultdict(list)
    for run in runs:
        for entry in run.samples.callers if run.samples else ():
            entries[entry.location].append(entry)
    return {
        location: _surroundings(found)
        for location, found in entries.items()
        if sum(entry.count for entry in found) >= ENOUGH_SAMPLES
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
