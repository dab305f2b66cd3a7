"""What a result's curve does, from its measured points: rises, levels off, or bends down.

A fitted parabola bends where the truth only levels off, so the fit is never asked. What is said holds beyond
chance: it rests on intervals that do not overlap, and are widened for the number of speedups, since the
largest of many effects is often so by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cozcli.analysis.curve import value_at
from cozcli.analysis.intervals import widening
from cozcli.analysis.result import CurvePoint, LineResult

#: Of the largest effect: where a curve that levels off is said to do so.
NEARLY_ALL = 0.9
#: Less is not called a bend, however certain: virtual speedup itself is no more exact.
LEAST_DROP = 0.02
#: Fewer speedups than this have no shape.
LEAST_POINTS = 3


class Shape(Enum):
    """The value is what reports and JSON call it."""

    OPEN = "open"
    LEVELS = "levels off"
    BENDS = "bends down"


@dataclass(frozen=True)
class Outline:
    """`top`: the measured point of the largest effect. `shape`, and from which point on it holds."""

    top: CurvePoint
    shape: Shape
    since: CurvePoint


def outline(result: LineResult) -> Outline:
    """Bends down: a later speedup's interval lies below that of the largest effect.

    Levels off: in proportion to what is certain on the way to where nearly all of the largest effect is
    reached, the last speedup's effect would lie above its interval. On the way, on average: one point that
    chance has put too high must not make a knee.
    """
    points = [point for point in result.curve if point.speedup > 0]
    top = max(points, key=lambda point: point.effect)
    factor = widening(len(points))
    least = top.effect - factor * (top.effect - top.low)
    # Not `<= 0`: of an interval that could not be computed nothing is certain either. Nor of an effect that
    # is beside its interval, as in damaged profiles.
    if len(points) < LEAST_POINTS or not min(least, top.effect) > 0:
        return Outline(top, Shape.OPEN, top)
    later = [point for point in points if point.speedup > top.speedup]
    if any(
        point.effect + factor * (point.high - point.effect) < least and point.effect < top.effect - LEAST_DROP
        for point in later
    ):
        return Outline(top, Shape.BENDS, top)
    last = points[-1]
    knee = next(point for point in points if point.effect >= NEARLY_ALL * top.effect)
    way = [point.low / point.speedup for point in points if point.speedup <= knee.speedup]
    if last.high < sum(way) / len(way) * last.speedup:
        return Outline(top, Shape.LEVELS, knee)
    return Outline(top, Shape.OPEN, top)


@dataclass(frozen=True)
class Effect:
    """An effect at a speedup, with its 95 % interval. `measured`: else it is the fitted curve's."""

    speedup: float
    effect: float
    low: float
    high: float
    measured: bool

    @property
    def half(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2


def effect_at(result: LineResult, speedup: float) -> Effect | None:
    """The measured effect if there is one at just this speedup, else the fitted curve's; None beyond it."""
    for point in result.curve:
        if point.speedup == speedup:
            return Effect(speedup, point.effect, point.low, point.high, True)
    fitted = value_at(result.fit, speedup)
    return None if fitted is None else Effect(speedup, *fitted, False)
