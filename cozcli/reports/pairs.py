"""Pairs in words: what two targets save together that neither saves alone, or the other way round."""

from __future__ import annotations

from collections.abc import Callable

from cozcli.analysis.result import Analysis, Pair
from cozcli.reports.intervals import size_in_words

#: A target that saves less than this part of what it saves beside the other one does not help alone.
ALONE = 0.25


def describe_pairs(
    analysis: Analysis, location: Callable[[str], str], point: Callable[[str], str]
) -> list[str]:
    """A sentence for each pair, the largest first; `location` and `point` say how names are shown.

    Points are named where there are several.
    """
    points = {(result.point, result.kind) for result in analysis.results}
    named = {name for name, _ in points} if len(points) > 1 else set()
    sentences = []
    for pair in analysis.pairs:
        latency = " (latency)" if pair.kind != "throughput" else ""
        of = f", for {point(pair.point)}{latency}" if pair.point in named else ""
        first, second = map(location, pair.locations)
        sentences.append(f"{_relation(pair, first, second)}: {_amount(pair)}{of}.")
    return sentences


def _relation(pair: Pair, first: str, second: str) -> str:
    if pair.effect < 0:
        return f"{first} and {second} save the same time"
    alone, beside = pair.alone, pair.beside
    if alone[0] < ALONE * beside[0] and alone[1] < ALONE * beside[1]:
        return f"{first} and {second} help only together"
    how = "only" if alone[1] < ALONE * beside[1] else "more"
    return f"{second} helps {how} once {first} is faster, too"


def _amount(pair: Pair) -> str:
    amount = size_in_words(pair.effect, pair.low, pair.high)
    sums = "more than each alone" if pair.effect > 0 else "less than the sum of each alone"
    return f"both by {100 * pair.speedup:.0f} % save {amount} {sums}"
