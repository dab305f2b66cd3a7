"""In which order sides run, and with which layouts: randomised complete blocks.

A block runs every side once, so that what changes slowly (temperature, other guests of a host) changes all of
them. The order within blocks is random but balanced: every second block mirrors the one before it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

#: Start addresses of stacks are multiples of this, so smaller steps of the environment change nothing.
STACK_STEP = 16
#: Environment sizes are drawn from two pages: what depends on a page's offset repeats after one.
_ENVIRONMENT_SIZES = range(0, 8192, STACK_STEP)
_BUILDS = 1 << 32


class Layout(NamedTuple):
    """Where a run's memory lies, as far as we decide.

    environment: bytes added to the environment. build: which of a side's builds, modulo their number.
    seed: for everything else that is moved (layouts.py), 63 bits.
    """

    environment: int
    build: int = 0
    seed: int = 0


class Turn(NamedTuple):
    """One run of a block: which side, by its number, and its layout; None leaves everything as it is."""

    side: int
    layout: Layout | None


def blocks(sides: int, seed: int, layouts: bool = True) -> Iterator[Sequence[Turn]]:
    """Blocks without end, the same for the same `seed`. Every run has a layout of its own."""
    generator = random.Random(seed)
    while True:
        order = list(range(sides))
        generator.shuffle(order)
        for each in (order, order[::-1]):
            yield [Turn(side, _layout(generator) if layouts else None) for side in each]


def _layout(generator: random.Random) -> Layout:
    return Layout(
        generator.choice(_ENVIRONMENT_SIZES), generator.randrange(_BUILDS), generator.getrandbits(63)
    )
