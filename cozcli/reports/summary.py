"""The leading line of an analysis in words, for readers who read one sentence."""

from __future__ import annotations

from collections.abc import Callable

from cozcli.analysis.estimate.shape import Effect, Outline, Shape, effect_at, outline
from cozcli.analysis.result import Analysis, LineResult, Mark
from cozcli.reports.base import short_function

#: The speedups that a sentence is about, where the curve says nothing of its own: the first whose effect is
#: certain, since that is one that people reach.
USUAL = (0.25, 0.50, 0.75, 1.0)
#: Results that may be nothing, or are not about the program; nobody should act on them for a sentence's sake.
NOT_TRUSTED = (Mark.FEW_DATA, Mark.LOAD, Mark.UNSTABLE)
NOTHING_CERTAIN = (
    "No line's effect is certain yet: what is shown may be chance. Run longer; the same -o FILE adds to it."
)

Naming = Callable[[LineResult], str]


def summarize(analysis: Analysis, location: Naming, point: Naming) -> list[str]:
    """The first line by rank that is certain; if that one does harm, also the first that gains."""
    certain = [r for r in analysis.results if r.significant and not set(r.marks) & set(NOT_TRUSTED)]
    gain = next((r for r in certain if r.slope > 0), None)
    chosen = certain[:1] if not certain or certain[0].slope > 0 else [certain[0], *([gain] if gain else [])]
    if not chosen:
        return [NOTHING_CERTAIN]
    return [sentence(result, location(result), point(result)) for result in chosen]


def sentence(result: LineResult, location: str, point: str) -> str:
    """What making this line faster would do, at the speedup where its curve turns, and what follows."""
    shape = outline(result)
    found = _telling(result, shape)
    name = short_function(result.function)
    where = f"{location} ({name})" if name and not location.endswith(name) else location
    return (
        f"Making {where} {found.speedup:.0%} faster would make {point} {words(found, result.kind)}"
        f"{_continuation(result, shape)}"
    ).replace("% faster would", " % faster would")


def words(effect: Effect, kind: str) -> str:
    """`6 % ± 1 faster`; of latencies `shorter`. Whole numbers, but for small ones."""
    better, worse = ("faster", "slower") if kind == "throughput" else ("shorter", "longer")
    size, half = 100 * abs(effect.effect), 100 * effect.half
    decimals = 1 if min(size, half) < 0.95 else 0
    return f"{size:,.{decimals}f} % ± {half:,.{decimals}f} {better if effect.effect >= 0 else worse}"


def _telling(result: LineResult, shape: Outline) -> Effect:
    if shape.shape is not Shape.OPEN:
        return Effect(shape.since.speedup, shape.since.effect, shape.since.low, shape.since.high, True)
    usual = [found for speedup in USUAL if (found := effect_at(result, speedup)) is not None]
    certain = [found for found in usual if found.low > 0 or found.high < 0]
    if usual:
        return (certain or usual)[0]
    last = result.curve[-1]
    return Effect(last.speedup, last.effect, last.low, last.high, True)


def _continuation(result: LineResult, shape: Outline) -> str:
    worse = "slower" if result.kind == "throughput" else "longer"
    doubts = ", ".join(mark.value for mark in result.marks)
    doubt = f" (but: {doubts})" if doubts else ""
    if shape.shape is Shape.BENDS:
        contention = ": contention" if result.contention else ""
        return f"{doubt}; beyond that it gets {worse}{contention}."
    if shape.shape is Shape.LEVELS:
        return f"{doubt}; beyond that little is gained: something else becomes the bottleneck."
    if result.contention:
        return f"{doubt}: contention. Look for what it contends for."
    return f"{doubt}."
