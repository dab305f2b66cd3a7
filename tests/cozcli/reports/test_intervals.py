"""How intervals are written: ± only where it says where they end."""

from __future__ import annotations

import math

import pytest

from cozcli.reports.base import percent, signed
from cozcli.reports.intervals import interval, size_in_words, with_interval


@pytest.mark.parametrize(
    ("effect", "low", "high", "text"),
    [
        (0.1, 0.05, 0.15, "+10.0 ±5.0"),
        (0.1, 0.048, 0.15, "+10.0 ±5.1"),
        (0.0, 0.0, 0.0, "0.0 ±0.0"),
        # Off by a tenth of the half, or by half a point: no longer ±.
        (0.1, 0.04, 0.15, "+10.0 [+4.0, +15.0]"),
        (0.1, -0.31, 0.49, "+10.0 [-31, +49]"),
        # ± would leave out 0, or have it in.
        (0.076, -0.003, 0.152, "+7.6 ±7.8"),
        (0.076, -0.001, 0.132, "+7.6 [-0.1, +13.2]"),
        (-0.0502, -0.1002, -0.0001, "-5.0 ±5.0"),
        (0.0509, 0.001, 0.103, "+5.1 [+0.1, +10.3]"),
        (-0.0509, -0.103, -0.001, "-5.1 [-10.3, -0.1]"),
        # Ends near to 0 never look like 0.
        (0.2, 0.002, 0.5, "+20.0 [+0.2, +50.0]"),
        (-20.0, -90.0, -3.0, "-2,000 [<-1000, -300]"),
        (0.5, -math.inf, math.inf, "+50.0 [<-1000, >1000]"),
    ],
)
def test_an_interval_is_written_by_its_ends_where_plus_minus_would_misstate_them(
    effect: float, low: float, high: float, text: str
) -> None:
    assert with_interval(effect, low, high) == text


def test_plus_minus_never_says_otherwise_than_the_ends() -> None:
    for low in range(-120, 120, 7):
        for high in range(low, 200, 3):
            for effect in range(low, high + 1):
                text = interval(effect / 1000, low / 1000, high / 1000)
                if text.startswith("±"):
                    half = float(text[1:]) * 10
                    assert abs(effect - half - low) <= max(0.1 * half, 0.5) + 1.01
                    assert (low > 0) == (effect - (high - low) / 2 > 0)


@pytest.mark.parametrize(
    ("effect", "low", "high", "text"),
    [
        (0.06, 0.05, 0.07, "6 % ± 1"),
        (-0.06, -0.12, -0.04, "6 % (4 to 12)"),
        (0.06, 0.004, 0.09, "6.0 % (0.4 to 9.0)"),
    ],
)
def test_sizes_in_words(effect: float, low: float, high: float, text: str) -> None:
    assert size_in_words(effect, low, high) == text


def test_what_is_rounded_to_0_has_no_sign() -> None:
    assert [percent(value) for value in (-0.0004, 0.0004, -0.0, -0.0006)] == ["0.0", "0.0", "0.0", "-0.1"]
    assert [signed(value) for value in (-0.004, 0.0, -0.01, 12345)] == ["0.00", "0.00", "-0.01", "+12,345.00"]
    assert signed(-0.4, 0) == "0"
