"""Which functions' places make a layout slow or fast: `coz layout replay --explain`.

Runs in which some functions lie by the seed, and the others as the linker left them, are compared with runs
in which all lie as the linker left them. The functions are halved as in delta debugging (Zeller and
Hildebrandt 2002): a half that makes at least half of the difference is searched on; where neither half does,
functions of both are needed together.
"""

from __future__ import annotations

import math
import random
import statistics
import tempfile
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from cozcli.compare.design import Layout
from cozcli.compare.estimate import estimate
from cozcli.compare.result import Estimate
from cozcli.compare.trial import Side, run
from cozcli.launch.layout_plan import LayoutPlan, Unit, describe_units
from cozcli.launch.runtime_library import preload

#: What the library reads; its length is the same in all runs, as it moves the stack.
UNITS, _WIDTH = "COZ_LAYOUT_UNITS", 512
#: More functions that are needed together are no answer.
MAX_FOUND = 4
#: Pairs of runs: at least, at most, of each layout tried; layouts tried.
_MIN_PAIRS, _MAX_PAIRS, _TRIED_PAIRS, _TRIED = 6, 40, 4, 12
#: The least part of that half which what was found must make.
_LEAST_PART = 0.7


class SpreadError(Exception):
    """More than MAX_FOUND functions are needed."""


class Place(NamedTuple):
    """linked, address: of the program as it is, and of the copy, without address space randomisation."""

    unit: Unit
    linked: int
    address: int


class Explained(NamedTuple):
    """What was found: `whole` of the layout, `part` with only `places` in it. Ratios are to the functions as
    the linker left them. reason: why there are no places.
    """

    seed: int
    whole: Estimate
    part: Estimate | None = None
    places: Sequence[Place] = ()
    reason: Literal["none", "small", "spread", "unsure", ""] = ""


def narrow(
    candidates: Sequence[int],
    makes_it: Callable[[Sequence[int]], bool],
    fixed: Sequence[int] = (),
    most: int = MAX_FOUND,
) -> list[int]:
    """The few candidates that make the difference, where `fixed` lie by the seed as well.

    Raises:
        SpreadError: more than `most` are needed.
    """
    while len(candidates) > 1:
        halves = candidates[: len(candidates) // 2], candidates[len(candidates) // 2 :]
        found = next((half for half in halves if makes_it([*fixed, *half])), None)
        if found is None:
            if most < 2:
                raise SpreadError
            first = narrow(halves[0], makes_it, [*fixed, *halves[1]], most - 1)
            return first + narrow(halves[1], makes_it, [*fixed, *first], most - len(first))
        candidates = found
    return list(candidates)


class _Parts(NamedTuple):
    """An arranger: these units lie by the layout's seed. report: the library's."""

    plan: LayoutPlan
    units: Sequence[int]
    report: str = ""

    def arrange(self, environment: dict[str, str], layout: Layout) -> None:
        preload(environment, self.plan.library)
        environment.update(self.plan.variables(layout.seed, self.report))
        environment[UNITS] = ranges(self.units).ljust(_WIDTH, ",")


class Explainer:
    """Measures one program. show: told what is going on."""

    def __init__(
        self, plan: LayoutPlan, command: Sequence[str], stdin: str, show: Callable[[str], None]
    ) -> None:
        self._plan, self._command, self._stdin, self._show = plan, list(command), stdin, show

    def explain(self, seed: int | None) -> Explained:
        """Of this layout, or of that of twelve which differs most.

        Raises:
            CozError: a run failed.
        """
        every = range(self._plan.units)
        if seed is None:
            seed = self._most_different()
        self._show("measuring the layout")
        whole = self._effect(seed, every, _is_exact)
        if whole.low <= 1 <= whole.high:
            return Explained(seed, whole, reason="none")
        if not _is_exact(whole):
            return Explained(seed, whole, reason="small")
        half = math.log(whole.ratio) / 2
        try:
            found = narrow(every, lambda units: self._makes(seed, units, half))
        except SpreadError:
            return Explained(seed, whole, reason="spread")
        # Many decisions by chance lead somewhere, too.
        self._show("measuring what was found")
        part = self._effect(seed, found, _is_exact)
        if part.low <= 1 <= part.high or math.log(part.ratio) / half < _LEAST_PART:
            return Explained(seed, whole, reason="unsure")
        return Explained(seed, whole, part, self._places(seed, found))

    def _most_different(self) -> int:
        generator = random.Random()
        differences = {}
        for number in range(1, _TRIED + 1):
            self._show(f"trying layout {number} of {_TRIED}")
            seed = generator.getrandbits(63)
            pairs = self._pairs(seed, range(self._plan.units), _TRIED_PAIRS)
            differences[seed] = abs(math.log(statistics.median(b / a for a, b in pairs)))
        return max(differences, key=lambda each: differences[each])

    def _makes(self, seed: int, units: Sequence[int], half: float) -> bool:
        """Do they make half of the difference? `half`: a logarithm."""
        self._show(f"measuring it with {len(units):,} of {self._plan.units:,} functions moved")
        found = self._effect(seed, units, lambda e: not math.log(e.low) <= half <= math.log(e.high))
        return (math.log(found.ratio) - half) * half > 0

    def _effect(self, seed: int, units: Sequence[int], is_decided: Callable[[Estimate], bool]) -> Estimate:
        pairs = self._pairs(seed, units, _MIN_PAIRS)
        while not is_decided(found := estimate(pairs, margin=0.0)) and len(pairs) < _MAX_PAIRS:
            pairs += self._pairs(seed, units, 2)
        return found

    def _pairs(self, seed: int, units: Sequence[int], number: int) -> list[tuple[float, float]]:
        """Processor times with nothing moved, and with these units; every second pair the other way round."""
        sides = [self._side(some) for some in ((), units)]
        pairs = []
        for turn in range(number):
            order = (0, 1) if turn % 2 == 0 else (1, 0)
            took = {i: run(sides[i], Layout(0, 0, seed), self._stdin).cpu for i in order}
            pairs.append((took[0], took[1]))
        return pairs

    def _side(self, units: Sequence[int], report: str = "") -> Side:
        return Side("the program", self._command, arrangers=[_Parts(self._plan, units, report)])

    def _places(self, seed: int, units: Sequence[int]) -> list[Place]:
        with tempfile.NamedTemporaryFile("r", prefix="coz-layout-") as report:
            side = self._side(units, report.name)
            run(side, Layout(0, 0, seed), self._stdin)
            told = [line.split() for line in report if line.startswith("unit ")]
        addresses = {int(words[1]): (int(words[3], 16), int(words[5], 16)) for words in told}
        return [Place(unit, *addresses[unit.number]) for unit in describe_units(self._plan, units)]


def _is_exact(found: Estimate) -> bool:
    """Known to a third of itself."""
    return math.log(found.high / found.low) / 2 < abs(math.log(found.ratio)) / 3


def ranges(units: Sequence[int]) -> str:
    """As the library reads them: "3-7,12-12"."""
    found: list[list[int]] = []
    for unit in sorted(units):
        if found and found[-1][1] == unit - 1:
            found[-1][1] = unit
        else:
            found.append([unit, unit])
    return ",".join(f"{first}-{last}" for first, last in found)
