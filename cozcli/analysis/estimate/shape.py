"""What a result's curve does, from its measured points: rises, levels off, or bends down.

A fitted parabola bends where the truth only levels off, so the fit is not used. What is said holds beyond
chance: it rests on intervals that do not overlap. They are widened for the number of speedups (Bonferroni),
since the largest of many effects is often the largest by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cozcli.analysis.estimate.curve import value_at
from cozcli.analysis.result import CurvePoint, LineResult
from cozcli.analysis.statistics.distributions import bonferroni_factor

#: Of the largest effect: where a curve that levels off is said to do so.
NEARLY_ALL = 0.9
#: Less is not called a bend, however certain: virtual speedup itself is no more exact.
MIN_DROP = 0.02
#: Fewer speedups than this have no shape.
MIN_POINTS = 3


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

    Levels off: continued in proportion to the lower bounds up to where nearly all of the largest effect is
    reached, before the last speedup, the curve would lie above that one's interval. The mean of those bounds
    counts, so that one point that chance has put too high makes no knee.
    """
    points = [point for point in result.curve if point.speedup > 0]
    top = max(points, key=lambda point: point.effect)
    factor = bonferroni_factor(len(points), result.freedom)
    least = top.effect - factor * (top.effect - top.low)
    measured = [point for point in points if point.experiments > 0 or not result.is_combined]
    # `not … > 0` holds for NaN, too. In damaged profiles an effect may lie outside of its interval.
    if len(measured) < MIN_POINTS or not min(least, top.effect) > 0:
        return Outline(top, Shape.OPEN, top)
    later = [point for point in points if point.speedup > top.speedup]
    if any(
        point.effect + factor * (point.high - point.effect) < least and point.effect < top.effect - MIN_DROP
        for point in later
    ):
        return Outline(top, Shape.BENDS, top)
    last = points[-1]
    knee = next(point for point in points if point.effect >= NEARLY_ALL * top.effect)
    before = [point for point in points if point.speedup <= knee.speedup]
    steepness = sum((p.effect - factor * (p.effect - p.low)) / p.speedup for p in before) / len(before)
    if knee is not last and last.effect + factor * (last.high - last.effect) < steepness * last.speedup:
        return Outline(top, Shape.LEVELS, knee)
    return Outline(top, Shape.OPEN, top)


#: An effect so far from the middle of its interval, as a share of half of the interval, is lopsided.
MAX_OFF_MIDDLE = 1 / 3


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

    @property
    def is_lopsided(self) -> bool:
        """Is the effect far from the middle of its interval? Then only its bounds say what is known."""
        return abs(self.effect - (self.low + self.high) / 2) > MAX_OFF_MIDDLE * self.half


def fitted_at(result: LineResult, speedup: float) -> Effect | None:
    """What the fitted curve says, even where there is a measured effect; None beyond it."""
    fitted = value_at(result.fit, speedup)
    return None if fitted is None else Effect(speedup, *fitted, False)


def effect_at(result: LineResult, speedup: float) -> Effect | None:
    """The measured effect if there is one at just this speedup, else the fitted curve's; None beyond it."""
    for point in result.curve:
        if point.speedup == speedup:
            measured = point.experiments > 0 or not result.is_combined
            return Effect(speedup, point.effect, point.low, point.high, measured)
    return fitted_at(result, speedup)


#: Speedups at which scripts may rely on an effect, however it was obtained.
USUAL_SPEEDUPS = (0.25, 0.5, 0.75)


def with_usual_speedups(result: LineResult) -> tuple[CurvePoint, ...]:
    """The curve with effects at 25, 50 and 75 %, with 0 experiments where they were not measured.

    Beyond the last speedup that was measured, the effect is the slope's, and its interval reaches to that of
    a curve that is level from there on.
    """
    if len(result.curve) < 2:
        return result.curve
    points = {point.speedup: point for point in result.curve}
    for speedup in USUAL_SPEEDUPS:
        if speedup in points:
            continue
        found = effect_at(result, speedup) or _beyond(result, speedup)
        points[speedup] = CurvePoint(speedup, found.effect, found.low, found.high, 0)
    return tuple(points[speedup] for speedup in sorted(points))


def _beyond(result: LineResult, speedup: float) -> Effect:
    last = result.curve[-1]
    low, high = result.slope_low * speedup, result.slope_high * speedup
    return Effect(speedup, result.slope * speedup, min(low, last.low), max(high, last.high), False)
