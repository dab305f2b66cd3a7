"""Results that are certain not to matter: which they are, and what is known of them as a whole.

Only combined windows tell enough of every target for that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from cozcli.analysis.estimate.shape import Effect, effect_at
from cozcli.analysis.input.targets import largest_effect
from cozcli.analysis.result import THROUGHPUT, LineResult, Mark

#: Of more than MANY results, the first MIN_SHOWN are always shown in full; of fewer, the first one.
MANY, MIN_SHOWN = 5, 3
#: Of more than MANY results, those certain to change less than MATTERS at speedup TELLING are summed up in a
#: sentence; of fewer, those certain to change less than NOTHING.
MATTERS, NOTHING, TELLING = 0.01, 0.001, 0.25


@dataclass(frozen=True)
class Rest:
    """Several targets at speedup `TELLING`: the largest gain, and loss, that the interval of any of them
    holds; and what all of them gain at most, each made faster by as much.
    """

    targets: int
    gain: float
    loss: float
    together: float


def divide(results: Sequence[LineResult]) -> tuple[tuple[LineResult, ...], tuple[LineResult, ...]]:
    """Of ranked results those that a reader should see, and the rest."""
    rest = tuple(result for result in results[MIN_SHOWN:] if hardly_matters(result))
    if len(results) <= MANY:
        rest = tuple(result for result in results[1:] if hardly_matters(result, NOTHING))
    left_out = {id(result) for result in rest}
    return tuple(result for result in results if id(result) not in left_out), rest


def hardly_matters(result: LineResult, least: float = MATTERS) -> bool:
    """Is it certain that it changes less than `least`? With few data its share of the time may say so."""
    marks = {*result.marks} - {Mark.FEW_DATA}
    if not result.is_combined or result.significant or result.contention or marks:
        return False
    effect = effect_at(result, TELLING)
    return effect is not None and max(effect.high, -effect.low) < least


def sum_up(rest: Sequence[LineResult]) -> Rest | None:
    """What is known of the rest as a whole; None if nothing is.

    Together: the sum of the upper ends of their 95 % intervals, which is more than the upper end of the
    sum's, whatever their errors have in common; but not more than their share of the time allows, added up
    as if they were one target. Effects are taken to add up: targets that help only together are looked for
    as pairs. Of several progress points the one where it is most.
    """
    effects: defaultdict[tuple[str, str, int], list[tuple[LineResult, Effect]]] = defaultdict(list)
    for result in rest:
        if (found := effect_at(result, TELLING)) is not None:
            effects[result.point, result.kind, result.arrival_speedup].append((result, found))
    everything = [found for of_point in effects.values() for _, found in of_point]
    if not everything:
        return None
    return Rest(
        targets=len({result.location for of_point in effects.values() for result, _ in of_point}),
        gain=max(found.high for found in everything),
        loss=max(-found.low for found in everything),
        together=max(_together(of_point) for of_point in effects.values()),
    )


def _together(of_point: Sequence[tuple[LineResult, Effect]]) -> float:
    most = sum(max(found.high, 0.0) for _, found in of_point)
    shares = [result.share for result, _ in of_point if result.share is not None]
    if of_point[0][0].kind != THROUGHPUT or len(shares) < len(of_point):
        return most
    samples = sum(result.samples for result, _ in of_point)
    return min(most, TELLING * largest_effect(sum(shares), samples))
