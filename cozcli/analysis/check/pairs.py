"""Pairs of targets, the one that saves more by itself first; without those of results that are not trusted.

Where cores are too few, a pause of one thread lends its core to another, whatever the other's target is: what
two targets then save together says nothing of the program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from cozcli.analysis.estimate.combined import OfPoint
from cozcli.analysis.estimate.combined_pairs import PAIR_SPEEDUP
from cozcli.analysis.estimate.combined_target import CombinedEstimate
from cozcli.analysis.result import NOT_TRUSTED, LineResult, Mark, Pair

#: Marks of results of which no pair is told.
DOUBTED = {*NOT_TRUSTED, Mark.CORES}


def trusted_pairs(points: Sequence[OfPoint], results: Sequence[LineResult]) -> tuple[Pair, ...]:
    """The pairs of all points. results: those of the same targets, with their marks."""
    doubted = {result.key for result in results if DOUBTED & {*result.marks}}
    return tuple(pair for point in points for pair in _pairs(point) if not doubted & {*pair.keys})


def _pairs(of_point: OfPoint) -> list[Pair]:
    found = []
    for estimate in of_point.pairs:
        alone = {number: _effect_alone(of_point.estimates[number]) for number in estimate.pair}
        first, second = sorted(estimate.pair, key=lambda number: -alone[number])
        targets = of_point.estimates[first].target, of_point.estimates[second].target
        found.append(
            Pair(
                locations=(targets[0].location, targets[1].location),
                functions=(targets[0].function, targets[1].function),
                point=of_point.key[0],
                kind=of_point.key[1],
                speedup=PAIR_SPEEDUP,
                effect=estimate.effect,
                low=estimate.low,
                high=estimate.high,
                alone=(alone[first], alone[second]),
                windows=estimate.windows,
            )
        )
    return found


def _effect_alone(estimate: CombinedEstimate) -> float:
    return next(point.effect for point in estimate.points if math.isclose(point.speedup, PAIR_SPEEDUP))
