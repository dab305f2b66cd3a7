"""Runs blocks until there are enough.

With --precision the number of pairs depends on the width of the interval alone, never on the ratio or on p:
looking at those would make false findings likely. At least MIN_LOOK pairs come first, so that intervals keep
their coverage (docs/decisions/compare.md).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cozcli.compare import messages
from cozcli.compare.design import Layout, blocks
from cozcli.compare.estimate import half_width
from cozcli.compare.instrument import Instrument
from cozcli.compare.metrics import Metric
from cozcli.compare.result import MIN_PAIRS
from cozcli.compare.trial import FailedRunError, Side, Trial, run
from cozcli.errors import CozError, Problem

#: Pairs before the width of the interval is looked at.
MIN_LOOK = 12
#: With so many times the pairs, the interval is computed again: with thousands that takes longer than a run.
LOOK_AGAIN = 1.02
#: A run that lost a larger share of its wall time is disturbed.
DISTURBED = 0.05
#: Of the pairs wanted, so many may be replaced; on a machine that is always busy all are kept after that.
_MAX_REPLACED = 0.5


class Plan(NamedTuple):
    """How to measure. pairs: how many, at most; precision: half of the interval, as a fraction, that is
    enough; metric: the one that precision is about. warm_ups: runs of each side before anything counts.
    instruments: for metrics that need them. memory: is peak memory among them?
    """

    pairs: int
    precision: float | None
    metric: Metric
    seed: int
    layouts: bool
    warm_ups: int
    stdin: str
    check_output: bool
    instruments: Sequence[Instrument] = ()
    memory: bool = False


#: What one run of each side took, in the order of the sides.
Block = tuple[Trial, ...]


class Collected(NamedTuple):
    """replaced: disturbed blocks that are not in `blocks`. interrupted: by Ctrl-C. failure: what ended it
    early, after these blocks.
    """

    blocks: Sequence[Block]
    replaced: int
    interrupted: bool
    failure: Problem | None = None

    def pairs(self, metric: Metric, side: int = 1) -> list[tuple[float, float]]:
        """(A, `side`) of each block."""
        return [(metric.value(block[0]), metric.value(block[side])) for block in self.blocks]

    @property
    def disturbed(self) -> int:
        """How many blocks of the result were."""
        return sum(map(is_disturbed, self.blocks))


def is_disturbed(block: Block) -> bool:
    """Did the machine take processors away from a run?"""
    return any(trial.lost > DISTURBED for trial in block)


class Collector:
    """Runs blocks of these sides, one at a time."""

    def __init__(self, sides: Sequence[Side], plan: Plan) -> None:
        self._sides, self._plan = sides, plan
        self._blocks = blocks(len(sides), plan.seed, plan.layouts)
        self._outputs = _Outputs(sides) if plan.check_output else None
        self._files = [_state_of_program(side) for side in sides]
        self._found: list[Block] = []
        self._replaced = 0
        self._looked = 0
        self._is_narrow = False

    def warm_up(self) -> None:
        """Runs that do not count.

        Raises:
            CozError: as `run_block`.
        """
        for _ in range(self._plan.warm_ups):
            for side in range(len(self._sides)):
                self._run(side, None)

    def run_block(self) -> None:
        """Run each side once.

        Raises:
            CozError: a run failed, outputs differ though they are to be the same, or a program was changed.
        """
        trials = {turn.side: self._run(turn.side, turn.layout) for turn in next(self._blocks)}
        for side, before in zip(self._sides, self._files, strict=True):
            if _state_of_program(side) != before:
                raise CozError(messages.changed(side.name, side.command[0]))
        block = tuple(trials[side] for side in range(len(self._sides)))
        # With --precision far fewer pairs than the most may be enough.
        expected = min(self._plan.pairs, max(MIN_LOOK, 2 * len(self._found)))
        if is_disturbed(block) and self._replaced < _MAX_REPLACED * expected:
            self._replaced += 1
        else:
            self._found.append(block)

    def collected(self, interrupted: bool = False, failure: Problem | None = None) -> Collected:
        """What there is so far."""
        return Collected(self._found, self._replaced, interrupted, failure)

    def is_enough(self) -> bool:
        """As many pairs as wanted, or intervals as narrow as wanted."""
        number = len(self._found)
        if self._is_narrow or number >= self._plan.pairs:
            return True
        if self._plan.precision is None or number < max(MIN_LOOK, LOOK_AGAIN * self._looked):
            return False
        self._looked = number
        found = self.collected()
        widths = (half_width(found.pairs(self._plan.metric, side)) for side in range(1, len(self._sides)))
        self._is_narrow = all(width <= self._plan.precision for width in widths)
        return self._is_narrow

    def _run(self, side: int, layout: Layout | None) -> Trial:
        plan = self._plan
        trial = run(self._sides[side], layout, plan.stdin, plan.check_output, plan.instruments, plan.memory)
        if self._outputs:
            self._outputs.see(side, trial.output)
        return trial


def collect(sides: Sequence[Side], plan: Plan, watch: Callable[[Collected], None]) -> Collected:
    """Run warm-ups and blocks; `watch` sees what there is after each block. Ctrl-C ends it, and a run that
    fails once there are enough pairs for a result.

    Raises:
        CozError: as `run_block`, before.
    """
    collector = Collector(sides, plan)
    try:
        collector.warm_up()
        while not collector.is_enough():
            collector.run_block()
            if collector.collected().blocks:
                watch(collector.collected())
    except KeyboardInterrupt:
        return collector.collected(interrupted=True)
    except FailedRunError as error:
        if len(collector.collected().blocks) < MIN_PAIRS:
            raise
        return collector.collected(failure=error.problem)
    return collector.collected()


def _state_of_program(side: Side) -> Sequence[tuple[int, int, int]]:
    """What changes when its files are written; nothing if one is gone, of which the next run will tell."""
    try:
        files = [os.stat(path) for path in side.builds or side.command[:1]]
    except OSError:
        return []
    return [(file.st_ino, file.st_size, file.st_mtime_ns) for file in files]


class _Outputs:
    """Digests of what the sides printed."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self._sides = sides
        self._first: dict[int, str] = {}

    def see(self, side: int, digest: str) -> None:
        """Compare with what came before.

        Raises:
            CozError: it is something else.
        """
        if self._first.setdefault(side, digest) != digest:
            raise CozError(messages.outputs_differ([self._sides[side].name]))
        for other, first in self._first.items():
            if first != digest:
                raise CozError(messages.outputs_differ([self._sides[i].name for i in sorted((other, side))]))
