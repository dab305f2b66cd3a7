"""Quantiles of the latency by load, of operations with identities."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from load_profiles import runs_of

from cozcli.analysis.analyse import analyse
from cozcli.analysis.load_result import LoadQuantile
from cozcli.analysis.result import LATENCY
from cozcli.load.quantiles import load_quantiles
from cozcli.load.scalability import measure_scalability
from cozcli.profile.profile import Profile
from cozcli.reports.json_report import JsonReport
from cozcli.reports.text import TextReport

MS = 1_000_000


def bucket_of(duration: float) -> int:
    """The bucket of a duration in nanoseconds (docs/profile_format.md)."""
    octave = int(math.log2(duration / 1024))
    return 1 + 64 * octave + int(64 * (duration / (1024 * 2**octave) - 1))


def histogram(durations: Any) -> list[tuple[int, int]]:
    numbers, counts = np.unique([bucket_of(float(each)) for each in durations], return_counts=True)
    return [(int(number), int(count)) for number, count in zip(numbers, counts, strict=True)]


def sampled(rng: np.random.Generator, scale: float, windows: int = 20) -> list[list[tuple[int, int]]]:
    """Exponential latencies of 500 operations a window."""
    return [histogram(1024 + scale * rng.exponential(size=500)) for _ in range(windows)]


def run_of(delay: int, histograms: list[list[tuple[int, int]]]) -> list[dict[str, Any]]:
    windows = [
        {
            "type": "experiment", "block": 1, "kind": "none", "location": "none", "speedup": 0, "start": 0,
            "effective_duration": 1_000 * MS, "delay": 0, "duration": 1_000 * MS, "hits": 0, "samples": 400,
            "arrival_speedup": delay,
            "arrivals": {"count": 500, "clipped": 0, "charged": 500 * delay, "intervals": 500,
                         "between": 2000 * MS},
            "points": [{"name": "request", "kind": "latency", "arrivals": 500, "departures": 500,
                        "elapsed": 1_000 * MS, "in_progress": 0.5,
                        **({"durations": durations} if durations else {})}],
        }
        for durations in histograms
    ]  # fmt: skip
    return [{"type": "run", "format": "coz-profile", "version": 1, "arrival_speedup": delay}, *windows]


def test_quantiles_are_those_of_all_operations_with_narrow_intervals() -> None:
    found = load_quantiles(sampled(np.random.default_rng(2), 1.0 * MS), [0] * 20, "request")
    assert [each.q for each in found] == [0.5, 0.9, 0.99]
    for each in found:
        truth = 1024 - MS * math.log(1 - each.q)
        assert each.value == pytest.approx(truth, rel=0.05)
        assert each.low < each.value < each.high
        assert each.high / each.low < 1.3


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Windows differ: each is slower or faster as a whole."""
    rng = np.random.default_rng(3)

    def windows(number: int) -> list[list[tuple[int, int]]]:
        scales = MS * np.exp(0.3 * rng.standard_normal(number))
        return [histogram(1024 + scale * rng.exponential(size=200)) for scale in scales]

    def p90(number: int) -> LoadQuantile:
        found = load_quantiles(windows(number), [0] * number, "request")
        return next(each for each in found if each.q == 0.9)

    truth = p90(4000).value
    held = sum(each.low <= truth <= each.high for each in (p90(10) for _ in range(200)))
    assert 176 <= held <= 198


@pytest.mark.parametrize(
    ("windows", "operations", "expected"),
    [(1, 500, []), (20, 1, [0.5]), (20, 6, [0.5, 0.9]), (20, 50, [0.5, 0.9, 0.99])],
)
def test_quantiles_need_ten_operations_beyond_them_and_two_windows(
    windows: int, operations: int, expected: list[float]
) -> None:
    found = load_quantiles([histogram([MS] * operations)] * windows, [0] * windows, "request")
    assert [each.q for each in found] == expected


def test_four_runs_are_the_units_instead_of_their_windows() -> None:
    """Each run has another latency throughout; its windows hardly differ."""
    rng = np.random.default_rng(4)
    histograms = [each for scale in (1, 2, 3, 4) for each in sampled(rng, scale * MS, windows=10)]
    by_windows = load_quantiles(histograms, [0] * 40, "request")[0]
    by_runs = load_quantiles(histograms, [run for run in range(4) for _ in range(10)], "request")[0]
    assert by_windows.value == by_runs.value

    def width(quantile: LoadQuantile) -> float:
        return math.log(quantile.high / quantile.low)

    assert width(by_runs) > 2 * width(by_windows)


def test_each_load_has_its_quantiles_in_the_reports() -> None:
    rng = np.random.default_rng(5)
    records = run_of(0, sampled(rng, 1.0 * MS)) + run_of(MS, sampled(rng, 3.0 * MS))
    runs = runs_of(records)
    (of_latency,) = (each for each in measure_scalability(runs) if each.kind == LATENCY)
    base, loaded = (point.quantiles[-1] for point in of_latency.points)
    assert loaded.value / base.value == pytest.approx(3, rel=0.1)
    analysis = analyse(Profile(runs))
    (level, _) = next(
        each for each in json.loads(JsonReport().render(analysis))["scalability"] if each["kind"] == LATENCY
    )["levels"]
    assert level["quantiles"][-1] == {
        "q": 0.99,
        "value": pytest.approx(base.value, rel=1e-3),
        "low": pytest.approx(base.low, rel=1e-3),
        "high": pytest.approx(base.high, rel=1e-3),
    }
    text = TextReport().render(analysis)
    assert "p99 (95 %)" in text


def test_operations_without_identities_have_no_quantiles() -> None:
    runs = runs_of(run_of(0, [[]] * 5) + run_of(MS, [[]] * 5))
    (of_latency,) = (each for each in measure_scalability(runs) if each.kind == LATENCY)
    assert [point.quantiles for point in of_latency.points] == [(), ()]
    assert "p99" not in TextReport().render(analyse(Profile(runs)))
