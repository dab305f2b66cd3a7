"""Errors of corrections are part of the intervals of combined windows, and their factors count once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from combined_profiles import Measurement, Program
from synthetic import to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.correct.protocol import Context, Correction
from cozcli.analysis.estimate.shape import effect_at
from cozcli.analysis.input.series import Factor, Series
from cozcli.analysis.result import THROUGHPUT, CurvePoint, Overhead
from cozcli.analysis.statistics.distributions import LEVEL, normal_quantile
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records

PROGRAM = Program("serial", 8)
#: Windows in which the last line is the main target are left out.
ALWAYS_COMPANION = PROGRAM.location(7)
ERROR = 0.2


class OfSeries:
    """A correction of periods, that is as uncertain as that."""

    def __init__(self, factor: Factor) -> None:
        self.factor = factor

    def adjust(self, all_series: Sequence[Series], context: Context) -> list[Series]:
        return [series.multiplied(self.factor) for series in all_series]


class OfPoint:
    """The overhead of the point, as `OverheadOfSamples` tells of it."""

    def adjust(self, all_series: Sequence[Series], context: Context) -> list[Series]:
        context.overheads["request", THROUGHPUT] = Overhead(1.2, 1.1, ERROR)
        return [series.multiplied(Factor(1.1, ERROR)) for series in all_series]


def effects_of(*corrections: Correction) -> dict[str, CurvePoint]:
    records = [r for r in Measurement(dose=0.1).records(PROGRAM, 400) if r.get("kind") != "line"
               or r["type"] != "experiment" or r["location"] != ALWAYS_COMPANION]  # fmt: skip
    lines = to_bytes(records).splitlines(keepends=True)
    profile = Profile(collect_runs(read_records(lines, ReadProblems()), "x"), ["x"])
    found = analyse(profile, corrections=corrections, of_windows_only=True)
    return {r.location: point for r in found.results if (point := effect_at(r, 0.5)) is not None}


def variance(point: CurvePoint) -> float:
    return ((point.effect - point.low) / normal_quantile(0.5 + LEVEL / 2)) ** 2


def test_errors_of_windows_are_those_of_their_main_target() -> None:
    plain, unsure = effects_of(), effects_of(OfSeries(Factor(1.0, ERROR)))
    for location, point in plain.items():
        added = 0.0 if location == ALWAYS_COMPANION else (ERROR * point.effect) ** 2
        assert unsure[location].effect == pytest.approx(point.effect)
        assert variance(unsure[location]) - variance(point) == pytest.approx(added, rel=0.05, abs=1e-9)


def test_the_phase_of_a_line_is_in_the_windows_already() -> None:
    found = effects_of(OfSeries(Factor(0.7, ERROR, is_at_most_one=True)))
    for location, point in effects_of().items():
        assert found[location].effect == pytest.approx(point.effect)


def test_the_overhead_counts_once() -> None:
    plain, with_overhead = effects_of(), effects_of(OfPoint())
    for location, point in plain.items():
        found = with_overhead[location]
        assert found.effect == pytest.approx(1.1 * point.effect)
        expected = 1.1**2 * (variance(point) + (ERROR * point.effect) ** 2)
        assert variance(found) == pytest.approx(expected, rel=0.05)
