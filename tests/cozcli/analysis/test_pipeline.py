"""The estimator against programs whose truth is known, and against an independent computation."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic import Line, Model, saturating, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.rank.result_filter import ResultFilter
from cozcli.analysis.result import Analysis, LineResult, Mark
from cozcli.errors import CozError
from cozcli.profile.profile import Profile, collect_runs, load_profile
from cozcli.profile.reader import ReadProblems, read_records


def analyse_records(*runs: list[dict[str, Any]], result_filter: ResultFilter | None = None) -> Analysis:
    raw = b"".join(to_bytes(records) for records in runs)
    records = read_records(raw.splitlines(keepends=True), ReadProblems())
    return analyse(Profile(collect_runs(records, "x"), ["x"]), result_filter)


def result_for(analysis: Analysis, location: str, kind: str = "throughput") -> LineResult:
    return next(r for r in analysis.results if (r.location, r.kind) == (location, kind))


def effect_at(result: LineResult, speedup: float) -> float:
    return next(p.effect for p in result.curve if p.speedup == pytest.approx(speedup))


def test_effects_are_near_the_truth_and_ranked() -> None:
    lines = [
        Line("/a.c:1", lambda s: 0.1 * s),
        Line("/a.c:2", lambda s: 0.6 * s),
        Line("/a.c:3", saturating(0.2, 0.8)),
        Line("/a.c:4", lambda s: -0.3 * s),
    ]
    analysis = analyse_records(Model(lines).records(240))
    for line in lines:
        result = result_for(analysis, line.location)
        for point in result.curve:
            assert point.effect == pytest.approx(line.effect(point.speedup), abs=0.08)
        assert result.contention == (line.location == "/a.c:4")
        assert result.phase.factor == 1
    assert analysis.results[0].location == "/a.c:2"
    assert result_for(analysis, "/a.c:2").slope == pytest.approx(0.6, abs=0.02)


def test_speedup_zero_is_in_the_curve_with_no_effect() -> None:
    result = analyse_records(Model([Line("/a.c:1", lambda s: 0.5 * s)]).records(20)).results[0]
    zero = result.curve[0]
    assert (zero.speedup, zero.effect, zero.low, zero.high, zero.experiments) == (0, 0, 0, 0, 20)
    assert result.experiments == 60


@pytest.mark.parametrize(
    ("speedups", "blocks"), [((0.25, 0.5, 0.75, 1.0), 36), (tuple(k / 20 for k in range(1, 21)), 36)]
)
def test_intervals_cover_the_truth_about_95_times_in_100(speedups: tuple[float, ...], blocks: int) -> None:
    """With many blocks at each speedup (bootstrap) and with few (pooled variance)."""
    points, slopes, errors = [], [], []
    for seed in range(60):
        line = Line("/a.c:1", lambda s: 0.4 * s)
        result = analyse_records(Model([line], seed=seed, speedups=speedups).records(blocks)).results[0]
        for point in result.curve[1:]:
            points.append(point.low <= 0.4 * point.speedup <= point.high)
            errors.append(point.effect - 0.4 * point.speedup)
        slopes.append(result.slope_low <= 0.4 <= result.slope_high)
    assert 0.91 <= np.mean(points) <= 0.985
    assert np.mean(slopes) >= 0.88
    assert abs(np.mean(errors)) < 0.003


def test_pairing_cancels_drift() -> None:
    """The machine slows down by half; blocks see the effect all the same."""
    model = Model([Line("/a.c:1", lambda s: 0.4 * s)], drift=0.5, noise=0.005, speedups=(0.5,))
    result = analyse_records(model.records(30)).results[0]
    assert effect_at(result, 0.5) == pytest.approx(0.2, abs=0.01)
    assert result.curve[1].high - result.curve[1].low < 0.02


def test_one_block_gives_a_wide_interval_not_none() -> None:
    model = Model([Line("/a.c:1", lambda s: 0.4 * s)], per_block=1)
    result = analyse_records(model.records(1)).results[0]
    point = result.curve[1]
    assert point.low < point.effect < point.high
    assert point.high - point.low > 0.1
    assert Mark.FEW_DATA in result.marks


def test_latency_by_littles_law() -> None:
    line = Line("/a.c:1", lambda s: 0.0, latency=lambda s: 0.5 * s)
    result = result_for(analyse_records(Model([line]).records(120)), "/a.c:1", "latency")
    assert result.slope == pytest.approx(0.5, abs=0.04)


def test_phases_shrink_effects() -> None:
    """A line that runs in a quarter of the time can save a quarter of what its windows promise."""
    steady = Line("/a.c:1", lambda s: 0.4 * s)
    phased = replace(steady, share=0.25)
    assert result_for(analyse_records(Model([steady]).records(60)), "/a.c:1").phase.factor == 1
    result = result_for(analyse_records(Model([phased]).records(60)), "/a.c:1")
    assert result.phase.factor == pytest.approx(0.25, rel=0.25)
    assert result.slope == pytest.approx(0.4 * result.phase.factor, rel=0.1)
    assert Mark.PHASES in result.marks


def test_virtual_speedups_do_not_look_like_phases() -> None:
    for effect in (0.9, -0.9):
        model = Model([Line("/a.c:1", lambda s, e=effect: e * s), Line("/a.c:2", lambda s: 0.0)])
        analysis = analyse_records(model.records(80))
        assert [result.phase.factor for result in analysis.results] == [1.0, 1.0]


@pytest.mark.parametrize("is_older", [False, True])
def test_a_lock_without_waits_does_not_make_lines_look_like_phases(is_older: bool) -> None:
    """Then another thread visits the point more often, but the line runs hardly more than before."""
    line = Line("/a.c:1", lambda s: 0.4 * s)
    lock = Line("lock /a.c:2", lambda s: 0.75 * s)
    records = Model([line, lock]).records(80)
    missing = 0.0
    for record in experiments_of(records):
        if record["location"] == lock.location:
            more = 1 / (1 - lock.effect(record["speedup"])) - 1
            missing += line.rate * record["effective_duration"] * more
        else:
            record["line_samples"] -= int(missing)
        if is_older:
            record.pop("line_samples_at_0", None)
            record.pop("run_time_at_0", None)
    (counted,) = [
        each for record in records for each in record.get("lines", []) if each["location"] == line.location
    ]
    counted["count"] -= int(missing)
    factor = result_for(analyse_records(records), "/a.c:1").phase.factor
    assert factor < 0.9 if is_older else factor == 1


def test_a_line_of_the_first_half_counts_half() -> None:
    first = Line("/a.c:1", lambda s: 0.4 * s)
    second = Line("/a.c:2", lambda s: 0.4 * s)
    records = Model([first]).records(40)[:-2]
    began, ran = (max(r.get(key, 0) for r in records) for key in ("start", "run_time"))
    for record in (later := Model([second], seed=2).records(40)[1:]):
        for key, more in (("start", began), ("run_time", ran), ("run_time_at_0", ran // 3), ("block", 100)):
            if key in record:
                record[key] += more
    (samples,) = [record for record in later if record["type"] == "samples"]
    counted = max(record["line_samples"] for record in experiments_of(records))
    samples["lines"].append({**samples["lines"][0], "location": first.location, "count": counted})
    result = result_for(analyse_records([*records, *later]), "/a.c:1")
    assert result.phase.factor == pytest.approx(0.5, rel=0.2)


def experiments_of(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record for record in records if record["type"] == "experiment"]


def test_a_line_without_baseline_is_left_out_and_named() -> None:
    records = Model([Line("/a.c:1", lambda s: s / 2), Line("/b.c:2", lambda s: s / 3)]).records(20)
    kept = [r for r in records if not (r.get("location") == "/b.c:2" and r.get("speedup") == 0)]
    analysis = analyse_records(kept)
    assert {result.location for result in analysis.results} == {"/a.c:1"}
    assert any("/b.c:2" in warning.text for warning in analysis.warnings)


def test_speedups_without_their_own_baseline_use_the_pooled_one() -> None:
    records = Model([Line("/a.c:1", lambda s: s / 2)], speedups=(0.5,), per_block=1, drift=0).records(20)
    kept = [r for r in records if not (r.get("speedup") == 0 and r["block"] >= 10)]
    lost = [r for r in kept if not (r.get("speedup") == 0.5 and r["block"] < 10)]
    result = analyse_records(lost).results[0]
    assert effect_at(result, 0.5) == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize(("every", "are_many"), [(30, False), (15, True)])
def test_windows_that_owe_delays_are_marked_if_they_are_more_than_a_few(every: int, are_many: bool) -> None:
    records = Model([Line("/a.c:1", lambda s: s / 2)]).records(30)
    for window in experiments_of(records)[::every]:
        window["flags"] = ["unsettled"]
    analysis = analyse_records(records)
    assert (Mark.DELAYS_OWED in analysis.results[0].marks) == are_many
    assert sum("experiments" in w.text for w in analysis.warnings) == are_many


def test_end_to_end_runs_take_their_baseline_from_other_runs() -> None:
    def whole_run(location: str, speedup: float, period: float) -> list[dict[str, Any]]:
        run = {"type": "run", "format": "coz-profile", "version": 1, "program": "/p", "end_to_end": True}
        point = {"name": "p", "kind": "throughput", "visits": 1000, "elapsed": int(1000 * period)}
        window = {"type": "experiment", "block": 0, "location": location, "speedup": speedup, "hits": 5}
        return [run, {**window, "effective_duration": int(1000 * period), "points": [point]}]

    own = analyse_records(whole_run("/a:1", 0, 1e6), whole_run("/a:1", 0.5, 0.75e6))
    assert effect_at(own.results[0], 0.5) == pytest.approx(0.25)
    assert own.results[0].curve[1].low < 0.25 < own.results[0].curve[1].high
    other = analyse_records(whole_run("/b:9", 0, 1e6), whole_run("/a:1", 0.5, 0.75e6))
    assert effect_at(other.results[0], 0.5) == pytest.approx(0.25)
    assert Mark.OTHER_BASELINE in other.results[0].marks


def test_a_window_that_never_saw_the_point_counts_as_no_visit() -> None:
    records = Model([Line("/a.c:1", lambda s: 0.0)], speedups=(0.5,), per_block=1, drift=0).records(20)
    for window in experiments_of(records)[1::4]:
        window["points"] = []
    result = analyse_records(records).results[0]
    assert effect_at(result, 0.5) == pytest.approx(-1.0, abs=0.05)


def test_a_filter_changes_no_number() -> None:
    records = Model([Line("/a.c:1", lambda s: s / 2), Line("/b.c:2", lambda s: s / 3)]).records(30)
    everything = analyse_records(records)
    one = analyse_records(records, result_filter=ResultFilter(line="b.c:2"))
    assert list(one.results) == [r for r in everything.results if r.location == "/b.c:2"]


def test_what_selects_nothing_says_what_there_is() -> None:
    records = Model([Line("/a.c:1", lambda s: s / 2)], speedups=(0.5,)).records(10)
    for result_filter, words in (
        (ResultFilter(line="z.c"), "/a.c:1"),
        (ResultFilter(progress_point="nothing"), "request"),
        (ResultFilter(min_points=5), "--min-points 1"),
    ):
        with pytest.raises(CozError) as caught:
            analyse_records(records, result_filter=result_filter)
        assert words in caught.value.problem.hint


def classic_sums(path: Path) -> dict[tuple[str, str], dict[float, tuple[float, float]]]:
    """Σ numerator and Σ denominator by (line, point) and speedup, from the JSON form, by hand."""
    sums: dict[tuple[str, str], dict[float, tuple[float, float]]] = defaultdict(dict)
    window: dict[str, Any] = {}
    for text in path.read_text().splitlines():
        record = json.loads(text)
        if record["type"] == "experiment":
            window = record
        elif record["type"].endswith("-point"):
            if record["type"] == "throughput-point":
                terms = (window["duration"], record["delta"])
            else:
                terms = (record["difference"] * window["duration"], record["arrivals"])
            cell = sums[window["selected"], record["name"]]
            before = cell.get(window["speedup"], (0, 0))
            cell[window["speedup"]] = (before[0] + terms[0], before[1] + terms[1])
    return sums


def test_classic_profile_against_an_independent_computation(golden: Path) -> None:
    path = golden / "classic-0.2.5.jsonl.coz"
    sums = classic_sums(path)
    analysis = analyse(load_profile([str(path)]))
    assert len(analysis.results) == 4
    for result in analysis.results:
        cells = sums[result.location, result.point]
        base = cells[0.0][0] / cells[0.0][1]
        for point in result.curve[1:]:
            total, count = cells[point.speedup]
            if count and total:
                expected = result.phase.factor * (1 - total / count / base)
                assert point.effect == pytest.approx(expected, rel=1e-9)


def test_classic_truth(golden: Path) -> None:
    """queue.cpp: a faster producer (line 10) helps until 17 %, a faster consumer (15) not at all."""
    analysis = analyse(load_profile([str(golden / "classic-0.2.2.tab.coz")]))
    fit = result_for(analysis, "/src/queue.cpp:10")
    assert effect_at(fit, 0.75) == pytest.approx(0.17, abs=0.04)
    assert result_for(analysis, "/src/queue.cpp:15").slope == pytest.approx(0, abs=0.03)


def test_few_blocks_prove_no_contention_and_rank_last() -> None:
    """Two blocks may both have met an odd moment of the machine, however steep they look."""
    bad = Line("/a.c:1", lambda s: -0.6 * s)
    speedups = (0.1, 0.25, 0.4, 0.5, 0.75, 1.0)

    def records(line: Line, blocks: int) -> list[dict[str, Any]]:
        return Model([line], speedups=speedups, per_block=6, drift=0.0).records(blocks)

    few = analyse_records(records(bad, 2))
    assert not few.results[0].contention
    assert Mark.FEW_DATA in few.results[0].marks
    enough = analyse_records(records(bad, 3))
    assert enough.results[0].contention
    assert Mark.FEW_DATA not in enough.results[0].marks
    both = analyse_records(records(bad, 2), records(Line("/a.c:2", lambda s: 0.1 * s), 6))
    assert [r.location for r in both.results] == ["/a.c:2", "/a.c:1"]


@pytest.mark.parametrize(("blocks", "few"), [(4, True), (40, False)])
def test_one_speedup_is_not_few_data_where_no_other_was_asked_for(blocks: int, few: bool) -> None:
    lines = [Line("/a.c:1", lambda s: 0.4 * s), Line("/a.c:2", lambda s: 0.0)]
    records = Model(lines, speedups=(0.5,)).records(blocks)
    records[0]["fixed_speedup"] = 0.5
    planned = analyse_records(records)
    assert {Mark.FEW_DATA in result.marks for result in planned.results} == {few}
    # A run that was free to try others says less, and so do both together.
    free = Model(lines, speedups=(0.5,), seed=2).records(blocks)
    for runs in ([free], [records, free]):
        assert all(Mark.FEW_DATA in result.marks for result in analyse_records(*runs).results)


def test_few_speedups_are_enough_where_no_others_were_asked_for() -> None:
    lines = [Line("/a.c:1", lambda s: 0.4 * s), Line("/a.c:2", lambda s: 0.0)]
    records = Model(lines, speedups=(0.25, 0.5)).records(40)
    records[0]["speedups"] = [0.25, 0.5]
    planned = analyse_records(records)
    assert all(Mark.FEW_DATA not in result.marks for result in planned.results)
    # Half of what was asked for is not there.
    records[0]["speedups"] = [0.25, 0.5, 0.75, 1.0]
    assert all(Mark.FEW_DATA in result.marks for result in analyse_records(records).results)
    # Two runs that were to try two each: four together.
    records[0]["speedups"] = [0.25, 0.5]
    others = Model(lines, speedups=(0.75, 1.0), seed=2).records(40)
    others[0]["speedups"] = [0.75, 1.0]
    both = analyse_records(records, others)
    assert all(Mark.FEW_DATA not in result.marks for result in both.results)
