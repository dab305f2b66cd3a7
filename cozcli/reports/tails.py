"""Quantiles of the latency in words: the targets that move a tail."""

from __future__ import annotations

from collections.abc import Callable

from cozcli.analysis.result import Analysis, CurvePoint, LineResult, Quantile
from cozcli.reports.base import percent

#: Quantiles from this one on are a tail.
TAIL = 0.9
#: The speedup of which the lines speak, or the measured one next to it.
TYPICAL = 0.5
MAX_LISTED = 10
HEADING = "Quantiles of the latency, where one of p90 and above moves beyond chance:"


def name_of(quantile: Quantile) -> str:
    """p50, p99.9."""
    return f"p{100 * quantile.q:.10g}"


def describe_tails(
    analysis: Analysis, location: Callable[[str], str], point: Callable[[str], str]
) -> list[str]:
    """A line for each result that moves a tail, in the report's order, below a heading; else nothing."""
    lines = [
        f"  {location(result.location)}, {point(result.point)}, at {speedup:.0%}: {effects}"
        for result in analysis.results
        if _moves_a_tail(result)
        for speedup, effects in _effects(result)
    ]
    return [HEADING, *lines[:MAX_LISTED]] if lines else []


def _moves_a_tail(result: LineResult) -> bool:
    return any(quantile.significant and quantile.q >= TAIL for quantile in result.quantiles)


def _effects(result: LineResult) -> list[tuple[float, str]]:
    """The effects at one speedup, at which all quantiles are known."""
    common = set.intersection(*({p.speedup for p in q.curve if p.speedup > 0} for q in result.quantiles))
    if not common:
        return []
    chosen = min(common, key=lambda speedup: (abs(speedup - TYPICAL), speedup))
    shown = [(name_of(q), next(p for p in q.curve if p.speedup == chosen)) for q in result.quantiles]
    return [(chosen, ", ".join(f"{name} {_plus_minus(effect)}" for name, effect in shown))]


def _plus_minus(effect: CurvePoint) -> str:
    return f"{percent(effect.effect)} ±{50 * (effect.high - effect.low):.1f}"
