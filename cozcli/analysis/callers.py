"""Who calls a line: from samples that were followed one frame further out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from cozcli.analysis.result import Caller
from cozcli.profile.profile import Run

#: With fewer samples of a line that tell, shares would be guesses.
ENOUGH_SAMPLES = 5


def callers_of_lines(runs: Sequence[Run]) -> dict[str, tuple[Caller, ...]]:
    """The callers of each line, the hottest first, all runs together.

    Lines whose callers are all out of scope (those of main, of a thread's first function) have none.
    """
    counts: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for run in runs:
        for entry in run.samples.callers if run.samples else ():
            counts[entry.location][entry.caller, entry.function] += entry.count
    found = {}
    for location, callers in counts.items():
        total = callers.total()
        if total < ENOUGH_SAMPLES or all(not caller for caller, _ in callers):
            continue
        ordered = sorted(callers.items(), key=lambda item: (-item[1], item[0]))
        found[location] = tuple(Caller(*names, number / total) for names, number in ordered)
    return found
