"""Does the heap's default place cost time? The remedy, random offsets, against it, by fresh runs.

Big blocks begin at the same offset in a page with most allocators, so that two of them alias wherever the
kernel puts them. Only moving them shows what that costs.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cozcli.bias.factors import Place
from cozcli.bias.measure import Runner
from cozcli.bias.result import Change
from cozcli.bias.spikes import BLOCKS, SIGNIFICANT, change

#: Runs of each kind in a block: one place in dozens is a slow one of its own.
_RUNS = 3


class HeapTested(NamedTuple):
    """default: its time over that of offset blocks."""

    default: Change

    def is_slow(self, margin: float) -> bool:
        """Is the default slower, beyond chance and by more than matters?"""
        return self.default.p < SIGNIFICANT and self.default.low > 1 and self.default.ratio > 1 + margin


def test_heap(runner: Runner, seed: int, watch: Callable[[], None]) -> HeapTested:
    """Run the default and offset blocks in turn."""
    generator = random.Random(seed)
    slower: list[float] = []
    for _ in range(BLOCKS):
        todo = [Place()] * _RUNS + [Place(heap=generator.randrange(1 << 31)) for _ in range(_RUNS)]
        generator.shuffle(todo)
        times: dict[bool, list[float]] = {False: [], True: []}
        for place in todo:
            times[place.heap is not None].append(runner.time(place))
            watch()
        slower.append(float(np.median(times[False]) - np.median(times[True])))
    return HeapTested(change(slower))
