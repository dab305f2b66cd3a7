"""Quantiles of the latency in words: the targets that move a tail."""

from __future__ import annotations

from collections.abc import Callable

from cozcli.analysis.result import DOUBTS, NOT_TRUSTED, Analysis, LineResult, Mark, Quantile
from cozcli.reports.intervals import with_interval

#: Quantiles from this one on are a tail.
TAIL = 0.9
#: The speedup of which the lines speak, or the measured one next to it.
TYPICAL = 0.5
MAX_LISTED = 10
HEADING = "Quantiles of the latency, where one of p90 and above moves beyond chance:"


def name_of(q: float) -> str:
    """p50, p99.9."""
    return f"p{100 * q:.10g}"


def label_of(quantile: Quantile) -> str:
    """The name, and whether to believe it."""
    return name_of(quantile.q) + (" (blurred)" if quantile.blurred else "")


def describe_tails(
    analysis: Analysis, location: Callable[[str], str], point: Callable[[LineResult], str]
) -> list[str]:
    """A line for each result that moves a tail, in the report's order, below a heading; else nothing."""
    lines = [
        f"  {location(result.location)}, {point(result)}, at {speedup:.0%}: {effects}" + _doubts(result)
        for result in analysis.results
        if _moves_a_tail(result)
        for speedup, effects in _effects(result)
    ]
    return [HEADING, *lines[:MAX_LISTED]] if lines else []


def _doubts(result: LineResult) -> str:
    doubts = [mark.value for mark in DOUBTS if mark in result.marks]
    return f" ({', '.join(doubts)})" if doubts else ""


def _moves_a_tail(result: LineResult) -> bool:
    # Quantiles have a measure of their own for few data.
    is_trusted = not {*result.marks} & {*NOT_TRUSTED} - {Mark.FEW_DATA}
    return is_trusted and any(q.significant and q.q >= TAIL and not q.blurred for q in result.quantiles)


def _effects(result: LineResult) -> list[tuple[float, str]]:
    """The effects at one speedup, at which all quantiles are known."""
    common = set.intersection(*({p.speedup for p in q.curve if p.speedup > 0} for q in result.quantiles))
    if not common:
        return []
    chosen = min(common, key=lambda speedup: (abs(speedup - TYPICAL), speedup))
    shown = [(q, next(point for point in q.curve if point.speedup == chosen)) for q in result.quantiles]
    texts = [
        f"{name_of(q.q)} {with_interval(effect.effect, effect.low, effect.high)}"
        + (" (blurred)" if q.blurred else "")
        for q, effect in shown
    ]
    return [(chosen, ", ".join(texts))]
