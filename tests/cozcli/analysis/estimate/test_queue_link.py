"""Latencies of operations that queue: by formula, and as combined windows tell them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from combined_evidence import analyse_records
from combined_profiles import Measurement, Program

from cozcli.analysis.estimate.queue_link import QueueLink

SHOWN = (0.25, 0.5, 0.75)


@pytest.mark.parametrize("utilisation", [0.0, 0.3, 0.9])
def test_one_server_with_random_arrivals_and_times(utilisation: float) -> None:
    left = np.linspace(0.1, 1.05, 8)
    link = QueueLink(utilisation / (1 - utilisation))
    latency = left / (1 - utilisation * left)  # with a time of 1 for each, without speedups
    assert link.relative(left) == pytest.approx(latency * (1 - utilisation))


@pytest.mark.parametrize("eta", [0.0, 1.0, 8.0])
def test_slopes_are_derivatives(eta: float) -> None:
    link, left, step = QueueLink(eta), np.linspace(0.05, 1.1, 9), 1e-6
    difference = (link.relative(left + step) - link.relative(left - step)) / (2 * step)
    assert link.slope(left) == pytest.approx(difference, rel=1e-6)
    assert link.log_slope(left) == pytest.approx(difference / link.relative(left), rel=1e-6)


def test_a_queue_that_grows_stays_finite() -> None:
    left = np.array([1.5, 3.0, 20.0])
    for values in (QueueLink(8.0).relative(left), QueueLink(8.0).log_slope(left)):
        assert np.isfinite(values).all()
        assert (values > 0).all()


def latencies(eta: float, seed: int, pairs: float) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """What each line takes of an operation, by location, and records with the latencies that follow."""
    program = Program("serial", 12, seed)
    program.work = np.array([0.25, 0.2, 0.15, 0.1, 0.08, 0.06, *[0.16 / 6] * 6])
    saved = {program.location(line): float(part) for line, part in enumerate(program.work)}
    records = Measurement(seed=seed, dose=0.05, pairs=pairs).records(program, 240)
    targets = {record["number"]: record["location"] for record in records if record["type"] == "target"}
    rng, link = np.random.default_rng(seed), QueueLink(eta)
    for record in records:
        if record["type"] != "experiment":
            continue
        speedups = [(record["location"], record["speedup"])] if record["location"] in saved else []
        speedups += [(targets[number], speedup) for number, speedup, *_ in record["companions"]]
        left = np.array(1 - sum(speedup * saved[location] for location, speedup in speedups))
        latency = 2e7 * float(link.relative(left)) * np.exp(0.1 * rng.standard_normal())
        point = record["points"][0]
        arrivals, elapsed = point["visits"], point["elapsed"]
        record["points"] = [
            {"name": "request", "kind": "latency", "arrivals": arrivals, "departures": arrivals}
            | {"elapsed": elapsed, "in_progress": latency * arrivals / elapsed}
        ]
    return saved, records


@pytest.mark.parametrize("pairs", [0.0, 0.5])
@pytest.mark.parametrize("eta", [0.0, 1.0, 4.0])
def test_curves_behind_a_queue(eta: float, pairs: float) -> None:
    held, errors = [], []
    for seed in range(3):
        saved, records = latencies(eta, seed, pairs)
        for result in analyse_records(records).results:
            if saved[result.location] < 0.15:
                continue
            points = {point.speedup: point for point in result.curve}
            for speedup in SHOWN:
                left = np.array(1 - speedup * saved[result.location])
                truth = 1 - float(QueueLink(eta).relative(left))
                held.append(points[speedup].low <= truth <= points[speedup].high)
                errors.append(points[speedup].effect - truth)
    assert np.mean(held) >= 0.9
    assert abs(np.mean(errors)) < 0.02
    assert np.sqrt(np.mean(np.square(errors))) < 0.04
