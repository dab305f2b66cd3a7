"""Hardware events at slow and at other places, ranked by how closely they follow cycles.

The method is that of Melhus and Jensen's study of address aliasing (Tables II and IV): the program runs at
many places, with a few events at a time, so that each is counted all the time; then each is correlated with
cycles of the same runs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from cozcli.analysis.statistics.false_discovery import adjusted_p
from cozcli.bias.events import CYCLES
from cozcli.bias.factors import Place
from cozcli.bias.measure import Runner
from cozcli.bias.result import PAGE, Aliasing, Correlation, slow_sizes
from cozcli.compare.counters import Counters, Event

#: Places of a table, and runs of each, of which the median counts.
PLACES, REPEATS = 32, 3
#: Events beside cycles in one run. Every processor has counters for so many.
TOGETHER = 2


def places_of(aliasing: Sequence[Aliasing], sizes: Sequence[int], seed: int) -> tuple[list[Place], int]:
    """Slow places first, and how many these are; others at random.

    sizes: of the environment, to choose from.
    """
    generator = random.Random(seed)
    slow = [Place(residue + page) for residue in slow_sizes(aliasing) for page in (0, PAGE)]
    if not slow and any(each.factor == "heap" for each in aliasing):
        slow = [Place()]
        others = [Place(heap=generator.randrange(1 << 31)) for _ in range(PLACES)]
    else:
        others = [Place(size) for size in generator.sample(list(sizes), min(PLACES, len(sizes)))]
    return [*slow, *(place for place in others if place not in slow)][:PLACES], len(slow)


def runs(places: int, events: int) -> int:
    """That `count` makes."""
    return REPEATS * places * -(-events // TOGETHER)


def count(
    runner: Runner, places: Sequence[Place], events: Sequence[Event], seed: int, watch: Callable[[], None]
) -> dict[str, NDArray[np.float64]]:
    """Cycles and counts of each event, (2, places), medians of runs in random order.

    Ctrl-C ends it with the events that are counted.

    Raises:
        CozError: a run failed.
    """
    generator = random.Random(seed)
    found: dict[str, NDArray[np.float64]] = {}
    try:
        for first in range(0, len(events), TOGETHER):
            group = events[first : first + TOGETHER]
            instrument = Counters([CYCLES, *group])
            counts = np.zeros((1 + len(group), len(places), REPEATS))
            order = [(place, repeat) for place in range(len(places)) for repeat in range(REPEATS)]
            generator.shuffle(order)
            for place, repeat in order:
                figures = runner.trial(places[place], [instrument]).figures
                counts[:, place, repeat] = [figures[event.name] for event in instrument.events]
                watch()
            medians = np.median(counts, axis=2)
            found |= {event.name: medians[[0, i + 1]] for i, event in enumerate(group)}
    except KeyboardInterrupt:
        runner.interrupted = True
    return found


def correlations(counts: dict[str, NDArray[np.float64]], slow: int) -> list[Correlation]:
    """Of all events whose counts vary, the closest first. slow: so many of the first places are slow."""
    names = [name for name, pair in counts.items() if pair.shape[1] > 2 and np.all(np.ptp(pair, axis=1) > 0)]
    if not names:
        return []
    tests = [stats.pearsonr(*counts[name]) for name in names]
    adjusted = adjusted_p([test.pvalue for test in tests])
    found = [
        Correlation(
            name,
            float(test.statistic),
            float(p),
            float(np.median(counts[name][1])),
            [float(value) for value in counts[name][1][:slow]],
        )
        for name, test, p in zip(names, tests, adjusted, strict=True)
    ]
    return sorted(found, key=lambda each: -abs(each.r))
