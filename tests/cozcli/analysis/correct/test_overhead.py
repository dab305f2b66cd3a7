"""What profiling costs, taken out: against profiles of programs that are slower under it."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from combined_profiles import Measurement, Program
from queue_profiles import Pipeline, profile_of, records_of
from synthetic import Line, Model, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.correct.overhead import (
    ERROR_OF_STARTS,
    PRIOR_ERROR,
    measure_overheads,
    warn_of_costly_switches,
)
from cozcli.analysis.input.slowness import Response
from cozcli.analysis.input.windows import usable_windows
from cozcli.analysis.result import Overhead
from cozcli.analysis.statistics.weighted import weighted_median
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records
from cozcli.profile.records import ExperimentRecord
from cozcli.reports.json_report import JsonReport
from cozcli.reports.text import TextReport

LINES = [Line("/a.c:1", lambda s: 0.4 * s), Line("/a.c:2", lambda s: 0.1 * s)]
SPEEDUPS = (0.25, 0.5, 0.75)


def profile(blocks: int = 12, drop: frozenset[str] = frozenset(), **options: Any) -> Profile:
    model = Model(LINES, speedups=SPEEDUPS, per_block=len(SPEEDUPS), **options)
    records = [record for record in model.records(blocks) if record["type"] not in drop]
    lines = to_bytes(records).splitlines(keepends=True)
    return Profile(collect_runs(read_records(lines, ReadProblems()), "x"), ["x"])


def overhead_of(profile: Profile) -> Overhead:
    found = measure_overheads(
        usable_windows(profile.runs).by_target, profile.runs, {("request", "throughput"): Response(1.0)}
    )
    assert list(found) == [("request", "throughput")]
    return found["request", "throughput"]


def slower(points: Sequence[Any], slowness: float) -> tuple[Any, ...]:
    return tuple(point._replace(elapsed=round(point.elapsed * slowness)) for point in points)


def relative_errors(profile: Profile) -> list[float]:
    truth = {line.location: line.effect for line in LINES}
    return [
        p.effect / truth[r.location](p.speedup) - 1 for r in analyse(profile).results for p in r.curve[1:]
    ]


@pytest.mark.parametrize(
    ("slowdown", "sample_cost", "factor"),
    [(1.0, 0, 1.0), (1.15, 30_000, 1.15 * 0.97), (1 / 0.97, 30_000, 1.0), (1.0, 30_000, 1.0)],
)
def test_the_factor_is_slowdown_less_what_samples_add_to_the_line(
    slowdown: float, sample_cost: int, factor: float
) -> None:
    found = overhead_of(profile(24, references=True, slowdown=slowdown, sample_cost=sample_cost, noise=0.01))
    assert found.slowdown == pytest.approx(slowdown, rel=0.02)
    assert found.factor == pytest.approx(factor, rel=0.02)
    assert found.error < 0.01


def test_effects_are_those_of_the_program_without_the_profiler() -> None:
    options = {"references": True, "slowdown": 1.2, "sample_cost": 30_000, "noise": 0.005}
    corrected = [e for seed in range(6) for e in relative_errors(profile(seed=seed, **options))]
    plain = [
        e
        for seed in range(6)
        for e in relative_errors(profile(seed=seed, drop=frozenset({"reference"}), **options))
    ]
    assert abs(np.median(corrected)) < 0.02
    assert np.median(plain) == pytest.approx(1 / 1.2 / 0.97 - 1, abs=0.02)


def test_programs_that_start_threads_all_the_time_have_wider_intervals() -> None:
    """Of which more windows could not tell."""

    def half(profile: Profile, of_windows_only: bool = False) -> float:
        results = analyse(profile, of_windows_only=of_windows_only).results
        (at_most,) = [r.curve[-1] for r in results if r.location == "/a.c:1"]
        return (at_most.high - at_most.low) / 2

    few, many = (profile(24, references=True, noise=0.01) for _ in range(2))
    for run in many.runs:
        assert run.samples
        run.samples = run.samples._replace(threads=round(1000 * run.samples.duration / 1e9))
    error = 1.96 * ERROR_OF_STARTS * 0.4 * SPEEDUPS[-1]
    assert half(many) == pytest.approx(math.hypot(half(few), error), rel=0.2)
    assert half(many, of_windows_only=True) == half(few)


@pytest.mark.parametrize("blocks", [4, 12])
def test_intervals_keep_their_coverage(blocks: int) -> None:
    truth = {line.location: line.effect for line in LINES}
    options = {"references": True, "slowdown": 1.15, "sample_cost": 30_000}
    covered = [
        p.low <= truth[r.location](p.speedup) <= p.high
        for seed in range(25)
        for r in analyse(profile(blocks, seed=seed, **options)).results
        for p in r.curve[1:]
    ]
    assert np.mean(covered) >= 0.9


def test_a_machine_that_slows_down_is_no_overhead() -> None:
    found = overhead_of(profile(40, references=True, disturbed=0.3, noise=0.01))
    assert found.slowdown == pytest.approx(1.0, abs=0.05)


def test_a_machine_that_is_slow_most_of_the_time_hides_no_overhead() -> None:
    slow = profile(40, references=True, disturbed=1e-9, slowdown=1.15, noise=0.01)
    for run in slow.runs:
        for number, record in enumerate([*run.experiments, *run.references]):
            slowness = 1.0 if record.block < 4 else 1.1
            if isinstance(record, ExperimentRecord):
                run.experiments[number] = record._replace(
                    probe_time=record.probe_time * slowness, points=slower(record.points, slowness)
                )
            else:
                at = number - len(run.experiments)
                run.references[at] = record._replace(points=slower(record.points, slowness))
    assert overhead_of(slow).slowdown == pytest.approx(1.15, abs=0.03)


def test_few_references_hardly_change_anything() -> None:
    found = overhead_of(profile(1, references=True, slowdown=1.3, noise=0.3))
    assert found.slowdown < 1.3
    assert found.error > 0.02


def test_without_references_nothing_is_changed() -> None:
    alone = profile()
    assert measure_overheads(usable_windows(alone.runs).by_target, alone.runs, {}) == {}


def test_a_reference_of_a_block_that_was_lost_is_left_out() -> None:
    broken = profile(references=True)
    broken.runs[0].experiments = [e for e in broken.runs[0].experiments if e.block > 0]
    overhead_of(broken)
    broken.runs[0].experiments = [e for e in broken.runs[0].experiments if e.speedup > 0]
    assert measure_overheads(usable_windows(broken.runs).by_target, broken.runs, {}) == {}


def test_the_median_goes_by_weight() -> None:
    values, weights = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0])
    assert weighted_median(values, weights) == 2.0
    assert weighted_median(values, np.array([10.0, 1.0, 1.0])) > 2.5
    assert weighted_median(np.array([7.0]), np.array([0.1])) == 7.0


def test_reports_say_what_profiling_cost() -> None:
    analysis = analyse(profile(24, references=True, slowdown=1.25, sample_cost=30_000, noise=0.005))
    text = TextReport().render(analysis)
    assert "profiling makes request 25 % slower" in text or "profiling makes request 24 % slower" in text
    (warning,) = (each for each in analysis.warnings if "change threads" in each.text)
    assert "adds 21% to each visit to 'request'" in warning.text or "adds 22%" in warning.text
    reported = json.loads(JsonReport().render(analysis))["overheads"]
    assert [entry["point"] for entry in reported] == ["request"]
    assert reported[0]["slowdown"] == pytest.approx(1.25, rel=0.02)
    assert reported[0]["factor"] == pytest.approx(1.25 * 0.97, rel=0.02)


def test_reports_are_silent_where_profiling_costs_little() -> None:
    analysis = analyse(profile(24, references=True, slowdown=1.03, noise=0.002))
    assert "slower" not in TextReport().render(analysis)
    assert not [each for each in analysis.warnings if "change threads" in each.text]


@pytest.mark.parametrize(
    ("kind", "sampling", "overhead", "told"),
    [
        ("throughput", "perf-trap", Overhead(1.1, 1.07, 0.01), True),
        ("throughput", "perf-trap", Overhead(1.1, 1.05, 0.01), False),
        ("throughput", "perf-trap", Overhead(1.1, 1.07, 0.04), False),
        ("throughput", "timer", Overhead(1.1, 1.07, 0.01), False),
        ("latency", "perf-trap", Overhead(1.1, 1.07, 0.01), False),
    ],
)
def test_costs_of_changing_threads_are_told_of_throughput_and_perf_events(kind, sampling, overhead, told):
    (run,) = profile().runs
    run.record = run.record._replace(sampling=sampling)
    assert bool(warn_of_costly_switches({("request", kind): overhead}, [run])) == told


@pytest.mark.parametrize("shape", ["serial", "join"])
def test_what_companions_save_in_baselines_hides_no_overhead(shape: str) -> None:
    """Reference windows have no companions, and partners save more than can be put back."""
    program, slowdown = Program(shape, 40), 1.15
    records = Measurement(dose=0.05, pairs=0.3, noise=0.01).records(program, 480)
    with_references: list[dict[str, Any]] = []
    block = -1
    for record in records:
        if record["type"] == "experiment" and record["block"] > block:
            block = record["block"]
            visits = round(record["effective_duration"] * slowdown / 2_000_000)
            point = {"name": "request", "kind": "throughput", "visits": visits,
                     "elapsed": record["effective_duration"]}  # fmt: skip
            with_references.append({"type": "reference", "block": block, "start": record["start"],
                                    "duration": record["duration"], "sample_cost": 0,
                                    "effective_duration": record["effective_duration"],
                                    "points": [point]})  # fmt: skip
        with_references.append(record)
    lines = to_bytes(with_references).splitlines(keepends=True)
    found = analyse(Profile(collect_runs(read_records(lines, ReadProblems()), "x"), ["x"])).overheads
    assert found["request", "throughput"].slowdown == pytest.approx(slowdown, rel=0.015)


def with_references(records: list[dict[str, Any]], lent: float) -> list[dict[str, Any]]:
    """A reference window behind each block: 5 % faster than baselines, and as much as `lent` after a speedup,
    which has filled a queue.
    """
    found = []
    for record, following in itertools.pairwise([*records, {}]):
        found.append(record)
        if record["type"] == "experiment" and record["block"] != following.get("block"):
            period = 10e6 / 1.05 * (1 - lent * (record["speedup"] > 0))
            point = {"name": "item", "kind": "throughput", "visits": 100, "elapsed": round(100 * period)}
            start = record["start"] + record["duration"] - 1
            found.append(
                {"type": "reference", "block": record["block"], "start": start, "sample_cost": 1,
                 "effective_duration": round(100 * period), "points": [point]}
            )  # fmt: skip
    return found


def test_reference_windows_that_live_on_a_queue_do_not_count() -> None:
    records = records_of(Pipeline(6.0, 10.0, 64), blocks=48)
    calm, moved = (
        analyse(profile_of(with_references(records, lent))).overheads["item", "throughput"]
        for lent in (0.0, 0.5)
    )
    assert calm.slowdown == pytest.approx(1.05, abs=0.03)
    assert moved == calm


def test_where_all_reference_windows_live_on_queues_nothing_is_known_of_overhead() -> None:
    records = [
        record
        for record in with_references(records_of(Pipeline(6.0, 10.0, 64), blocks=24), 0.5)
        if record["type"] != "reference" or record["effective_duration"] < 9e8
    ]
    for record in records:
        if "points" in record:
            elapsed, visits = record["points"][0]["elapsed"], record["points"][0]["visits"]
            point = {"name": "op", "kind": "latency", "arrivals": visits, "departures": visits}
            record["points"].append({**point, "elapsed": elapsed, "in_progress": 1.0})
    found = analyse(profile_of(records)).overheads
    unknown = Overhead(error=PRIOR_ERROR)
    assert found == {("item", "throughput"): unknown, ("op", "latency"): unknown}
