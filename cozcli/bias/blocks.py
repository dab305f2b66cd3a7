"""Does the heap's default place cost time, and what helps? Offsets and other allocators, by fresh runs.

Big blocks begin at the same offset in a page with most allocators, so that two of them alias wherever the
kernel puts them. Only moving them shows what that costs.
"""

from __future__ import annotations

import ctypes.util
import random
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from cozcli.bias.factors import Place
from cozcli.bias.measure import Runner
from cozcli.bias.result import OFFSETS, PAGE, Change
from cozcli.bias.spikes import BATCHES, SIGNIFICANT, change

#: Runs of each kind in a batch: several, as a random place may be slow itself.
_RUNS = 3
#: Runs that compare two kinds of places.
COMPARED = 2 * _RUNS * BATCHES
#: Runs that `good_offsets` makes, beside those that compare.
SEARCHED = _RUNS * OFFSETS
#: What is tried in place of the program's allocator, if it is installed.
_ALLOCATORS = ("jemalloc", "tcmalloc_minimal", "mimalloc")

_Choose = Callable[[], Place]


class Good(NamedTuple):
    """place: the best of OFFSETS random ones. left: time at others over that."""

    place: Place
    left: Change


def default_over_offset(runner: Runner, seed: int, watch: Callable[[], None]) -> Change:
    """Time with blocks where the allocator puts them, over that with random offsets.

    Where the default seems slower, but not for certain, three times as many runs decide. p is doubled, as the
    test is made twice at most.
    """
    generator = random.Random(seed)

    def measure(batches: int) -> list[float]:
        return _differences(runner, Place, lambda: _anywhere(generator), generator, watch, batches)

    differences = measure(BATCHES)
    found = change(differences)
    if found.ratio > 1 and 2 * found.p >= SIGNIFICANT:
        found = change(differences + measure(2 * BATCHES))
    return found._replace(p=min(1.0, 2 * found.p))


def good_offsets(runner: Runner, seed: int, watch: Callable[[], None]) -> Good:
    """Look for a place where no blocks collide, and compare others with it.

    By fresh runs, since the time that it was chosen for is biased.
    """
    generator = random.Random(seed ^ 1)
    tried = [_anywhere(generator) for _ in range(OFFSETS)]
    times: dict[Place, list[float]] = {place: [] for place in tried}
    for _ in range(_RUNS):
        generator.shuffle(tried)
        took = {}
        for place in tried:
            took[place] = runner.time(place)
            watch()
        # The machine may change its speed from one turn to the next.
        middle = float(np.median(list(took.values())))
        for place, time in took.items():
            times[place].append(time - middle)
    best = min(times, key=lambda place: float(np.median(times[place])))
    left = _compare(runner, lambda: _anywhere(generator), lambda: best, generator, watch)
    return Good(best, left)


def installed_allocators() -> list[str]:
    """File names as the dynamic linker finds them."""
    found = (ctypes.util.find_library(name) for name in _ALLOCATORS)
    return [name for name in found if name]


def replaced(runner: Runner, allocator: str, good: Place, seed: int, watch: Callable[[], None]) -> Change:
    """Time with another allocator, over that with good offsets.

    Raises:
        CozError: the program fails with it.
    """
    # Its name in LD_PRELOAD would move the stack.
    other = Place(PAGE - len(f":{allocator}"), allocator=allocator)
    here = good._replace(environment=PAGE)
    return _compare(runner, lambda: other, lambda: here, random.Random(seed ^ 2), watch)


def _anywhere(generator: random.Random) -> Place:
    return Place(heap=generator.randrange(1 << 31))


def _compare(
    runner: Runner, one: _Choose, other: _Choose, generator: random.Random, watch: Callable[[], None]
) -> Change:
    """Time at places of the one kind over that at places of the other."""
    return change(_differences(runner, one, other, generator, watch, BATCHES))


def _differences(
    runner: Runner,
    one: _Choose,
    other: _Choose,
    generator: random.Random,
    watch: Callable[[], None],
    batches: int,
) -> list[float]:
    """The same as differences of logarithms, one for each batch of runs in random order."""
    differences = []
    for _ in range(batches):
        todo = [(choose, choose()) for choose in (one, other) for _ in range(_RUNS)]
        generator.shuffle(todo)
        times: Mapping[_Choose, list[float]] = {one: [], other: []}
        for choose, place in todo:
            times[choose].append(runner.time(place))
            watch()
        differences.append(float(np.median(times[one]) - np.median(times[other])))
    return differences
