"""The leading line of an analysis in words, for readers who read one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from cozcli.analysis.estimate.shape import Effect, Outline, Shape, effect_at, fitted_at, outline
from cozcli.analysis.rank.rest import TELLING, sum_up
from cozcli.analysis.result import NOT_TRUSTED, Analysis, CurvePoint, LineResult, Mark
from cozcli.messages import count
from cozcli.reports.base import short_function
from cozcli.reports.intervals import SMALL, is_even, size_in_words

#: The speedups that a sentence is about, where the curve says nothing of its own: the first whose effect is
#: certain, since that is one that people reach.
USUAL = (0.25, 0.50, 0.75, 1.0)
NOTHING_CERTAIN = (
    "No line's effect is certain yet: what is shown may be chance. Run longer; the same -o FILE adds to it."
)
NOTHING_CERTAIN_COMBINED = (
    "No line's own experiments prove an effect yet: what is shown rests on how long each line runs, and on "
    "all lines together. Run longer; the same -o FILE adds to it."
)
#: What a lock's figure is for.
IF_NOBODY_WAITED = (
    " At 100 % nobody waits for the lock: about what removing, splitting or replacing it gains."
)
NONE_TRUSTED = "No line's effect can be relied on: those that are certain are marked {}."

Naming = Callable[[LineResult], str]


def summarize(analysis: Analysis, location: Naming, point: Naming) -> list[str]:
    """The first line by rank that is certain; if that one does harm, also the first that gains.

    Where no slope is certain, a curve's shape or contention may be: they, too, hold beyond chance.
    """
    trusted = [result for result in analysis.results if result.is_trusted]
    certain = [r for r in trusted if r.significant] or [r for r in trusted if _is_certain_in_part(r)][:1]
    gain = next((r for r in certain if r.slope > 0), None)
    chosen = certain[:1] if not certain or certain[0].slope > 0 else [certain[0], *([gain] if gain else [])]
    if not analysis.results:
        return []  # of load alone
    if not chosen:
        return [_why_none(analysis.results)]
    return [sentence(result, location(result), point(result)) for result in chosen]


def describe_rest(rest: Sequence[LineResult]) -> str:
    """Those that `rest.divide` leaves out of the table, in a sentence; empty if there are none."""
    found = sum_up(rest)
    if found is None:
        return ""
    kinds = {result.target for result in rest}
    noun = kinds.pop() if kinds in ({"line"}, {"function"}) else "target"
    if found.targets == 1:
        harm = f" and costs at most {_at_most(found.loss)} %" if found.loss > found.gain else ""
        gain = _at_most(found.gain)
        return f"1 other {noun}: it gains at most {gain} %{harm} at {100 * TELLING:.0f} % (95 % interval)."
    harm = f", none costs more than {_at_most(found.loss)} %" if found.loss > found.gain else ""
    return (
        f"{count(found.targets, f'other {noun}')}: none gains more than {_at_most(found.gain)} % at "
        f"{100 * TELLING:.0f} %{harm}, together at most {_at_most(found.together)} % (95 % intervals)."
    )


def _at_most(bound: float) -> str:
    """Per cent, rounded up: nothing is more than 0.0 %."""
    return f"{max(math.ceil(1000 * bound - 1e-6), 1) / 10:.1f}"


def _is_certain_in_part(result: LineResult) -> bool:
    return result.contention or outline(result).shape is not Shape.OPEN


def _why_none(results: Sequence[LineResult]) -> str:
    """Why there is no sentence about a line. A star, or contention, in the table is not denied."""
    shown = {mark for r in results if r.significant or _is_certain_in_part(r) for mark in r.marks}
    marks = [f"“{mark.value}”" for mark in NOT_TRUSTED if mark in shown]
    if marks:
        return NONE_TRUSTED.format(" or ".join(marks))
    return NOTHING_CERTAIN_COMBINED if any(r.is_combined for r in results) else NOTHING_CERTAIN


def sentence(result: LineResult, location: str, point: str) -> str:
    """What making this line faster would do, at the speedup where its curve turns, and what follows."""
    shape = outline(result)
    found = telling(result, shape)
    name = short_function(result.function)
    where = f"{location} ({name})" if name and not location.endswith((name, result.function)) else location
    change = "faster"
    if result.target == "wait":
        where, change = f"the {where}", "shorter"
    if result.target == "lock":
        where, change = f"waits for the {where}", "shorter"
    effect = f"{_effect_in_words(found, result)}{_continuation(result, shape)}".replace(") (but:", "; but:")
    return (
        f"Making {where} {100 * found.speedup:.0f} % {change} would make {point} {effect}"
        f"{IF_NOBODY_WAITED if result.target == 'lock' else ''}"
    )


def is_bounded_only(result: LineResult, effect: Effect) -> bool:
    """Do only its bounds say what is known of the effect?"""
    return effect.is_lopsided and any(mark in result.marks for mark in (Mark.CORES, Mark.NOT_STEADY))


def _effect_in_words(effect: Effect, result: LineResult) -> str:
    return bounds(effect, result.kind) if is_bounded_only(result, effect) else words(effect, result.kind)


def bounds(effect: Effect, kind: str) -> str:
    """`between 12 and 50 % faster`, or `between 4 % slower and 12 % faster`; of latencies `shorter`."""
    better, worse = ("faster", "slower") if kind == "throughput" else ("shorter", "longer")
    decimals = 1 if min(abs(effect.low), abs(effect.high)) < SMALL else 0
    low, high = (f"{100 * abs(each):,.{decimals}f}" for each in (effect.low, effect.high))
    if effect.low >= 0:
        return f"between {low} and {high} % {better}"
    if effect.high <= 0:
        return f"between {high} and {low} % {worse}"
    return f"between {low} % {worse} and {high} % {better}"


def words(effect: Effect, kind: str) -> str:
    """`6 % ± 1 faster`, or `6 % faster (between 4 and 12 % faster)`; of latencies `shorter`."""
    better, worse = ("faster", "slower") if kind == "throughput" else ("shorter", "longer")
    direction = better if effect.effect >= 0 else worse
    ends = (effect.effect, effect.low, effect.high)
    if is_even(*ends):
        return f"{size_in_words(*ends)} {direction}"
    size = size_in_words(*ends).partition(" (")[0]
    return f"{size} {direction} ({bounds(effect, kind)})"


def quoted_at(result: LineResult, speedup: float) -> Effect | None:
    """What sentences say of a speedup: the fitted curve's effect, which all experiments tell of. A single
    measured one may be chance.

    Where the curve turns, or a queue did not settle, it is the measured effect: a parabola has no knee, and
    intervals that reach from none to the effect are those of measured points.
    """
    is_fit_meant = not result.is_combined and Mark.NOT_STEADY not in result.marks
    if is_fit_meant and outline(result).shape is Shape.OPEN:
        return fitted_at(result, speedup)
    return effect_at(result, speedup)


def telling(result: LineResult, shape: Outline) -> Effect:
    """What a sentence quotes: where the curve turns, else the first speedup with a certain effect."""
    if shape.shape is not Shape.OPEN:
        return _measured(shape.since)
    if result.contention and not result.significant:
        # The slope says nothing then; the speedup at which harm is most certain does.
        return _measured(min((point for point in result.curve if point.speedup > 0), key=lambda p: p.high))
    usual = [found for speedup in USUAL if (found := quoted_at(result, speedup)) is not None]
    certain = [found for found in usual if found.low > 0 or found.high < 0]
    if usual:
        return (certain or usual)[0]
    return _measured(result.curve[-1])


def _measured(point: CurvePoint) -> Effect:
    return Effect(point.speedup, point.effect, point.low, point.high, True)


def ending(result: LineResult, shape: Outline) -> str:
    """How a curve goes on beyond the speedup at which it turns; empty if it does not turn."""
    if shape.shape is Shape.BENDS:
        worse = "slower" if result.kind == "throughput" else "longer"
        return f"it gets {worse}{': contention' if result.contention else ''}"
    if shape.shape is Shape.LEVELS:
        return "little is gained: something else becomes the bottleneck"
    return ""


def _continuation(result: LineResult, shape: Outline) -> str:
    doubts = ", ".join(mark.value for mark in result.marks)
    doubt = f" (but: {doubts})" if doubts else ""
    if after := ending(result, shape):
        return f"{doubt}; beyond that {after}."
    if result.contention:
        return f"{doubt}: contention. Look for what it contends for."
    return f"{doubt}."
