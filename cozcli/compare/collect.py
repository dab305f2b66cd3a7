"""Runs blocks until there are enough.

With --precision the number of pairs depends on the width of the interval alone, never on the ratio or on p:
looking at those would make false findings likely. At least MIN_LOOK pairs come first, so that intervals keep
their coverage (docs/decisions/compare.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cozcli.compare import messages
from cozcli.compare.design import blocks
from cozcli.compare.estimate import half_width
from cozcli.compare.metrics import Metric
from cozcli.compare.trial import Side, Trial, run
from cozcli.errors import CozError

#: Pairs before the width of the interval is looked at.
MIN_LOOK = 12
#: A run that lost a larger share of its wall time is disturbed.
DISTURBED = 0.05
#: Of the pairs wanted, so many may be replaced; on a machine that is always busy all are kept after that.
_MAX_REPLACED = 0.5


class Plan(NamedTuple):
    """How to measure. pairs: how many, at most; precision: half of the interval, as a fraction, that is
    enough; metric: the one that precision is about. warm_ups: runs of each side before anything counts.
    """

    pairs: int
    precision: float | None
    metric: Metric
    seed: int
    layouts: bool
    warm_ups: int
    stdin: str
    check_output: bool


#: What one run of each side took, in the order of the sides.
Block = tuple[Trial, ...]


class Collected(NamedTuple):
    """replaced: disturbed blocks that are not in `blocks`. interrupted: by Ctrl-C."""

    blocks: Sequence[Block]
    replaced: int
    interrupted: bool

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


def collect(sides: Sequence[Side], plan: Plan, watch: Callable[[Collected], None]) -> Collected:
    """Run warm-ups and blocks; `watch` sees what there is after each block.

    Raises:
        CozError: a run failed, or outputs differ though they are to be the same.
    """
    found: list[Block] = []
    replaced = 0
    outputs = _Outputs(sides) if plan.check_output else None
    try:
        for _ in range(plan.warm_ups):
            for side, each in enumerate(sides):
                trial = run(each, None, plan.stdin, plan.check_output)
                if outputs:
                    outputs.see(side, trial.output)
        for turns in blocks(len(sides), plan.seed, plan.layouts):
            trials: dict[int, Trial] = {}
            for turn in turns:
                trial = run(sides[turn.side], turn.layout, plan.stdin, plan.check_output)
                if outputs:
                    outputs.see(turn.side, trial.output)
                trials[turn.side] = trial
            block = tuple(trials[side] for side in range(len(sides)))
            if is_disturbed(block) and replaced < _MAX_REPLACED * plan.pairs:
                replaced += 1
                continue
            found.append(block)
            collected = Collected(found, replaced, False)
            watch(collected)
            if is_enough(collected, plan):
                return collected
    except KeyboardInterrupt:
        return Collected(found, replaced, True)
    raise AssertionError("blocks do not end")


def is_enough(collected: Collected, plan: Plan) -> bool:
    """As many pairs as wanted, or an interval as narrow as wanted."""
    number = len(collected.blocks)
    if number >= plan.pairs:
        return True
    if plan.precision is None or number < MIN_LOOK:
        return False
    return half_width(collected.pairs(plan.metric)) <= plan.precision


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
