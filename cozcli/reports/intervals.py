"""Effects with 95 % intervals: `+12.3 ±1.2`, or `+12.3 [+9.8, +20.1]` where ± would misstate an end.

viewer/src/words.ts has the same rule.
"""

from __future__ import annotations

from cozcli.reports.base import percent, signed

#: How far the middle of an interval may be from the effect, as a part of half of it, and at most. Less than
#: the last digit shown never counts.
MAX_OFF_PART, MAX_OFF, LAST_DIGIT = 0.1, 0.005, 0.0005
#: Intervals less wide than this on either side, and ends nearer to 0, are shown with a decimal.
NARROW, NEAR_NONE = 0.1, 0.005
#: Sentences have a decimal of what is less.
SMALL = 0.0095
#: From this many per cent on, all that an end says is that nothing is known.
UNKNOWN = 1000


def is_even(effect: float, low: float, high: float) -> bool:
    """Does `effect ± half` say where the interval ends, and whether it includes 0?"""
    half = (high - low) / 2
    # NaN and infinite ends are not even.
    if not abs(effect - (low + high) / 2) <= min(max(MAX_OFF_PART * half, LAST_DIGIT), MAX_OFF):
        return False
    return (low > 0) == (effect - half > 0) and (high < 0) == (effect + half < 0)


def interval(effect: float, low: float, high: float) -> str:
    """`±1.2` or `[-0.3, +12.5]`, in per cent."""
    half = (high - low) / 2
    if is_even(effect, low, high):
        return f"±{100 * half:.1f}" if half < 1 else f"±{100 * half:,.0f}"
    decimals = 1 if half < NARROW or min(abs(low), abs(high)) < NEAR_NONE else 0
    return f"[{end_of(low, decimals)}, {end_of(high, decimals)}]"


def with_interval(effect: float, low: float, high: float) -> str:
    """`+12.3 ±1.2`, in per cent."""
    return f"{percent(effect)} {interval(effect, low, high)}"


def size_in_words(effect: float, low: float, high: float) -> str:
    """How large an effect is, whatever its sign: `6 % ± 1`, or `6 % (4 to 12)`. Whole numbers, but for small
    ones.
    """
    if effect < 0:
        effect, low, high = -effect, -high, -low
    if is_even(effect, low, high):
        half = (high - low) / 2
        decimals = 1 if min(effect, half) < SMALL else 0
        return f"{100 * effect:,.{decimals}f} % ± {100 * half:,.{decimals}f}"
    decimals = 1 if min(effect, abs(low), abs(high)) < SMALL else 0
    ends = (f"{100 * end:,.{decimals}f}" for end in (low, high))
    return f"{100 * effect:,.{decimals}f} % ({' to '.join(ends)})"


def end_of(fraction: float, decimals: int) -> str:
    """One end of an interval, in per cent: `+12.3`, `<-1000`."""
    if abs(100 * fraction) < UNKNOWN:
        return signed(100 * fraction, decimals)
    return f">{UNKNOWN}" if fraction > 0 else f"<-{UNKNOWN}"
