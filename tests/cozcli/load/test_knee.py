"""Where a program's speed stops rising with load."""

from __future__ import annotations

import numpy as np
import pytest

from cozcli.load.knee import find_knee


def test_a_curve_that_bends_and_is_noisy() -> None:
    loads = np.linspace(0, 0.9, 10)
    truth = np.minimum(loads, 0.5)
    noise = 0.005 * np.random.default_rng(2).standard_normal((10, 500))
    knee = find_knee(loads, truth, truth[:, None] + noise)
    assert knee.at == pytest.approx(0.5, abs=0.02)
    assert knee.low <= 0.5 <= knee.high + 0.02
    assert knee.is_clear


@pytest.mark.parametrize(
    ("loads", "gains"),
    [
        ([0, 0.05, 0.1], [0, -0.03, 0.015]),  # perhaps saturated at base load
        ([0, 0.1, 0.2, 0.3], [0, 0.1, 0.14, 0.15]),  # perhaps flat from 14 % on
    ],
)
def test_wide_intervals_do_not_tell_whether_it_flattens(loads: list[float], gains: list[float]) -> None:
    curve = np.array(gains)
    noise = 0.08 * np.random.default_rng(3).standard_normal((len(loads), 500))
    noise[0] = 0
    knee = find_knee(np.array(loads), curve, curve[:, None] + noise)
    assert (knee.at, knee.is_clear) == (None, False)


def test_where_nobody_waits_between_requests_there_is_no_knee() -> None:
    zero = np.zeros(3)
    assert not find_knee(zero, zero, np.zeros((3, 10))).is_clear
