"""Which runs, in which order. Rounds, each of them in random order, so that the machine's drift favours no
place.

A round has every environment size once, and as many runs of other kinds as their factors need:

- `environment`: sizes in two pages; everything else by default.
- `stack`, `heap`, `code`: the same seeds in each round; several times if there is time, since they have fewer
  places than the environment, so that each must be better known.
- `aslr`: randomised by the kernel; `fixed`: the default place without that. No place of `aslr` comes twice.
- `default`: as the user runs the program; `random`: everything at random, the same layouts in each round.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cozcli.bias.factors import SIZES, Place
from cozcli.bias.result import PAGE
from cozcli.compare.design import STACK_STEP

#: Places of a factor, in each round. Layouts at random are what the default is ranked among, so they are
#: more.
SEEDS = 32
LAYOUTS = 64
#: Runs of a seed in a round, if there is time for all sizes.
REPEATS = 3
#: A variance between places needs two runs of each. Of two, both may be slow by accident; of three, hardly.
MIN_ROUNDS, GOOD_ROUNDS, MAX_ROUNDS = 2, 3, 6
#: Fewer sizes would find no slow place but by luck.
MIN_SIZES = 32
_SEEDED = ("stack", "heap", "code")
_SEED = 1 << 31


class Run(NamedTuple):
    """One run to make: of which kind, which of its places, and where that is."""

    kind: str
    level: int
    place: Place


class Plan(NamedTuple):
    """sizes: of the environment, in pairs one page apart. repeats: runs of a seed in each round."""

    sizes: Sequence[int]
    factors: Sequence[str]
    rounds: int
    seed: int
    #: Is the default randomised?
    randomised: bool
    repeats: int = 1
    #: No round begins that would not end within so many seconds, but for the first ones.
    seconds: float = float("inf")

    def runs(self) -> int:
        """In all rounds."""
        return self.rounds * len(next(self.order()))

    def order(self) -> Iterator[Sequence[Run]]:
        """Rounds without end, the same for the same seed."""
        generator = random.Random(self.seed)
        places = self._places(generator)
        while True:
            generator.shuffle(places)
            yield list(places)

    def _places(self, generator: random.Random) -> list[Run]:
        found = [Run("environment", size, Place(size)) for size in self.sizes]
        for factor in _SEEDED:
            if factor in self.factors:
                seeds = [generator.randrange(_SEED) for _ in range(SEEDS)]
                found += self.repeats * [
                    Run(factor, seed, _place({factor: seed}, shuffled=factor == "heap")) for seed in seeds
                ]
        if "aslr" in self.factors:
            found += [Run("aslr", index, Place(randomised=True)) for index in range(SEEDS)]
            found += [Run("fixed", 0, Place()) for _ in range(SEEDS)]
        found += [Run("default", 0, Place(randomised=self.randomised)) for _ in range(SEEDS)]
        return found + [Run("random", index, self.anywhere(generator)) for index in range(LAYOUTS)]

    def anywhere(self, generator: random.Random) -> Place:
        """Everything that can be moved at random, but such that the place can be tried again."""
        seeds = {each: generator.randrange(_SEED) for each in _SEEDED if each in self.factors}
        return _place(seeds, generator.choice(SIZES))


def _place(seeds: Mapping[str, int], environment: int = 0, shuffled: bool = False) -> Place:
    return Place(environment, seeds.get("stack"), seeds.get("heap"), seeds.get("code"), shuffled)


def plan_for(
    seconds: float, per_run: float, factors: Sequence[str], seed: int, randomised: bool
) -> Plan | None:
    """As many rounds, and as many environment sizes, as the time allows; None if it is too short for
    anything.

    per_run: seconds that a run takes.
    """
    wanted = int(seconds / per_run)
    full = Plan(SIZES, factors, GOOD_ROUNDS, seed, randomised, REPEATS, seconds)
    if wanted >= full.runs():
        return full._replace(rounds=MAX_ROUNDS)
    for rounds in (GOOD_ROUNDS, MIN_ROUNDS):
        once = full._replace(rounds=rounds, repeats=1)
        sizes = min(len(SIZES), wanted // rounds - (once.runs() // rounds - len(SIZES))) // 2 * 2
        if sizes >= MIN_SIZES:
            # The same residues in both pages; which ones is left to chance, as spikes may have any period.
            residues = random.Random(seed ^ 1).sample(range(0, PAGE, STACK_STEP), sizes // 2)
            return once._replace(sizes=sorted([*residues, *(residue + PAGE for residue in residues)]))
    return None
