"""Scalability: levels against base load, where it flattens, and levels that were not reached."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from load_profiles import runs_of

from cozcli.analysis.analyse import analyse
from cozcli.analysis.rank.result_filter import ResultFilter
from cozcli.analysis.result import COMPLETED, LineResult, Mark
from cozcli.errors import CozError
from cozcli.load.figure import draw_load
from cozcli.load.pauses import levels_of_both_pauses
from cozcli.load.scalability import excess_of_load, measure_scalability
from cozcli.load.shifts import find_shifts, selected_shifts
from cozcli.profile.profile import Profile
from cozcli.reports.annotate import notes
from cozcli.reports.json_report import JsonReport
from cozcli.reports.table_reports import CsvReport, MarkdownReport
from cozcli.reports.text import TextReport

MS = 1_000_000
#: Two threads receive, every 4 ms each.
INTERVAL = 4 * MS


def window(
    delay: int,
    capacity: float,
    rng: np.random.Generator,
    line: str = "",
    speedup: float = 0.0,
    lost: float = 0.0,
    computed: float | None = None,
) -> dict[str, Any]:
    """A second of effective time of a program that completes what arrives, up to `capacity` a second."""
    arrivals = round(2e9 / (INTERVAL - delay))
    done = min(arrivals, capacity) * float(np.exp(0.01 * rng.standard_normal()))
    if line and delay:
        done *= 1 + speedup
    return {
        "type": "experiment", "block": 1, "kind": "line" if line else "none", "location": line or "none",
        "speedup": speedup, "start": 0, "effective_duration": 1_000 * MS, "delay": round(speedup * 200 * MS),
        "duration": 1_000 * MS + round(speedup * 200 * MS), "hits": 200, "samples": 400,
        "arrival_speedup": delay,
        "arrivals": {
            "count": arrivals, "clipped": 0, "charged": round(arrivals * delay * (1 - lost)),
            "intervals": arrivals, "between": arrivals * INTERVAL,
            **({} if computed is None else {"computed": round(arrivals * computed)}),
        },
        "points": [{"name": "done", "kind": "throughput", "visits": 1000, "elapsed": round(1e12 / done)}],
    }  # fmt: skip


def run_of(delay: int, windows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "run", "format": "coz-profile", "version": 1, "arrival_speedup": delay}, *windows]


def sweep(delays: list[int], capacity: float = 750.0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    return [r for d in delays for r in run_of(d, [window(d, capacity, rng) for _ in range(20)])]


def test_each_level_is_compared_with_base_load() -> None:
    (result,) = measure_scalability(runs_of(sweep([0, 1 * MS, 2 * MS, 3 * MS])))
    assert [p.load for p in result.points] == pytest.approx([0, 0.25, 0.5, 0.75])
    assert [p.speedup for p in result.points] == pytest.approx([0, 0.25, 1 / 3, 1 / 3], abs=0.01)
    for point in result.points[1:]:
        truth = min(point.load, 1 / 3)
        assert point.speedup_low - 0.01 < truth < point.speedup_high + 0.01
        assert point.speedup_high - point.speedup_low < 0.04
    assert result.points[2].arrival_rate == pytest.approx(1000)


def test_at_a_load_of_both_pauses_only_busy_ones_count() -> None:
    """Sleeping ones have a lower capacity, and stand alone at 3 ms."""
    idle, busy = sweep([0, 1 * MS, 2 * MS, 3 * MS], capacity=600), sweep([0, 1 * MS, 2 * MS], capacity=750)
    for record in busy:
        if record["type"] == "run":
            record["busy_pauses"] = True
    runs = runs_of([*idle, *busy])
    (result,) = measure_scalability(runs)
    assert [p.speedup for p in result.points] == pytest.approx([0, 0.25, 1 / 3, 1 / 6], abs=0.01)
    assert levels_of_both_pauses(runs) == {1 * MS, 2 * MS}
    (warning,) = analyse(Profile(runs)).warnings
    assert "2 loads were measured with and without --busy-pauses" in warning.text
    assert levels_of_both_pauses(runs_of(idle)) == frozenset()


def test_busy_pauses_at_base_load_are_none() -> None:
    records = sweep([0, 1 * MS])
    records[0]["busy_pauses"] = True
    (result,) = measure_scalability(runs_of(records))
    assert [p.speedup for p in result.points] == pytest.approx([0, 0.25], abs=0.01)


def test_lines_take_no_baselines_from_busy_pauses() -> None:
    rng = np.random.default_rng(7)
    of_line = run_of(0, [window(0, 750, rng, "a.c:1", s) for s in (0.5, 0.0) * 10])
    busy = run_of(0, [window(0, 750, rng) for _ in range(20)])
    busy[0]["busy_pauses"] = True
    alone, beside = (analyse(Profile(runs_of(records))) for records in (of_line, of_line + busy))
    assert alone.results == beside.results


def test_a_load_that_is_higher_than_planned_is_named_by_the_arrivals() -> None:
    records = sweep([0, 1 * MS])
    for record in records:
        if record.get("arrival_speedup") == 1 * MS and record["type"] == "experiment":
            # Twice as many as without, not 4/3: the pauses for the other thread, 1 ms, count, too.
            counts = {"count": 1000, "intervals": 1000, "charged": 1000 * MS, "between": 3000 * MS}
            record["arrivals"] |= counts
    runs = runs_of(records)
    (result,) = measure_scalability(runs)
    assert [p.load for p in result.points] == pytest.approx([0, 0.5])
    assert excess_of_load(runs) == pytest.approx(2)


def test_a_load_of_which_fewer_arrivals_came_is_named_as_planned() -> None:
    """They wait for the program: it is saturated."""
    records = sweep([0, 2 * MS])
    for record in records:
        if record.get("arrival_speedup") == 2 * MS and record["type"] == "experiment":
            record["arrivals"] |= {"count": 600, "intervals": 600, "between": 3000 * MS, "charged": 1200 * MS}
    runs = runs_of(records)
    (result,) = measure_scalability(runs)
    assert [p.load for p in result.points] == pytest.approx([0, 0.5])
    assert excess_of_load(runs) == pytest.approx(1)


def test_loads_of_several_receivers_ascend_beyond_saturation() -> None:
    """Two threads on a schedule from outside, whose requests wait for the program above a load of 40 %."""
    records = sweep([0, *range(MS // 5, 2 * MS, MS // 5)])
    for record in records:
        delay = record.get("arrival_speedup", 0)
        if delay and record["type"] == "experiment":
            between = max(INTERVAL - delay, round(0.6 * INTERVAL) + delay)
            counts = {"count": 1000, "intervals": 1000, "charged": 1000 * delay, "between": 1000 * between}
            record["arrivals"] |= counts
    (result,) = measure_scalability(runs_of(records))
    loads = [p.load for p in result.points]
    assert loads == pytest.approx([i / 10 for i in range(10)], abs=0.01)


def served_by_its_receiver(computed: float) -> list[dict[str, Any]]:
    """A thread that computes for so long between arrivals; amplification takes it for faster than it is."""
    rng = np.random.default_rng(1)
    delays = [0, 1 * MS, 2 * MS, 3 * MS]
    return [r for d in delays for r in run_of(d, [window(d, 1e9, rng, computed=computed) for _ in range(20)])]


def test_levels_that_take_off_what_a_thread_computes_are_marked() -> None:
    records = served_by_its_receiver(1.5 * MS)
    (result,) = measure_scalability(runs_of(records))
    assert result.limit == pytest.approx(1 - 1.5 / 4)
    assert [point.is_limited for point in result.points] == [False, False, False, True]
    analysis = analyse(Profile(runs_of(records)))
    assert any("computing was taken off" in warning.text for warning in analysis.warnings)
    text = TextReport(None).render(analysis)
    assert "*75%" in text
    assert "*50%" not in text
    assert "the program can take more" not in text
    (shown,) = json.loads(JsonReport().render(analysis))["scalability"]
    assert shown["limit"] == pytest.approx(0.625)
    assert [level["is_limited"] for level in shown["levels"]] == [False, False, False, True]
    draw_load(analysis)


def test_no_knee_is_sought_where_computing_was_taken_off() -> None:
    rng = np.random.default_rng(1)
    delays = [level * 400_000 for level in range(10)]
    records = [
        r for d in delays for r in run_of(d, [window(d, 750, rng, computed=3.9 * MS) for _ in range(20)])
    ]
    (result,) = measure_scalability(runs_of(records))
    assert result.saturation is None
    assert result.limit == pytest.approx(1 - 3.9 / 4)


def test_a_thread_that_waits_long_enough_is_not_limited() -> None:
    (result,) = measure_scalability(runs_of(served_by_its_receiver(0.9 * MS)))
    assert result.limit is None
    assert not any(point.is_limited for point in result.points)


def test_saturation_is_where_the_curve_flattens() -> None:
    (result,) = measure_scalability(runs_of(sweep([level * 400_000 for level in range(10)])))
    assert result.saturation == pytest.approx(1 / 3, abs=0.02)
    assert result.saturation_low <= result.saturation <= result.saturation_high


def test_a_program_that_goes_on_scaling_has_no_saturation() -> None:
    (result,) = measure_scalability(runs_of(sweep([0, 1 * MS, 2 * MS], capacity=1e9)))
    assert result.saturation is None


def test_a_program_that_is_saturated_gains_nothing() -> None:
    (result,) = measure_scalability(runs_of(sweep([0, 1 * MS, 2 * MS], capacity=500)))
    assert result.saturation == 0


def test_low_loads_gain_little_and_yet_scale() -> None:
    (result,) = measure_scalability(runs_of(sweep([0, MS // 100, MS // 50], capacity=1e9)))
    assert result.saturation is None


def test_a_level_that_was_not_reached_makes_no_curve() -> None:
    rng = np.random.default_rng(1)
    false = run_of(2 * MS, [window(2 * MS, 750, rng, lost=0.2) for _ in range(5)])
    profile = Profile(runs=runs_of(sweep([0, 1 * MS]) + false))
    analysis = analyse(profile)
    (result,) = analysis.scalability
    assert [p.arrival_speedup for p in result.points] == [0, 1 * MS]
    assert any("2000000ns left out: 20%" in warning.text for warning in analysis.warnings)


def test_nothing_but_a_load_without_arrivals_is_refused() -> None:
    idle = window(2 * MS, 750, np.random.default_rng(1))
    idle["arrivals"] = dict.fromkeys(idle["arrivals"], 0)
    with pytest.raises(CozError, match="no load that was asked for"):
        analyse(Profile(runs=runs_of(run_of(2 * MS, [idle]))))


def test_without_base_load_there_is_no_speedup() -> None:
    (result,) = measure_scalability(runs_of(sweep([1 * MS, 2 * MS])))
    assert not result.has_base
    assert all(math.isnan(point.speedup) for point in result.points)
    assert [p.load for p in result.points] == pytest.approx([0.25, 0.5])


@pytest.mark.parametrize("lack", ["core_wait", "machine_stolen"])
def test_windows_in_which_something_else_had_the_machine_do_not_count(lack: str) -> None:
    records = sweep([0, 1 * MS])
    odd = [record for record in records if record["type"] == "experiment"]
    for number, record in enumerate(odd):
        record["core_wait"] = 5 * MS
        if number % 5 == 0:
            record[lack] = 1_500 * MS
            record["points"][0]["elapsed"] *= 3
    (result,) = measure_scalability(runs_of(records))
    assert result.points[1].speedup == pytest.approx(0.25, abs=0.02)
    assert result.points[1].windows == 16


def test_latency_points_show_latency_and_what_is_completed() -> None:
    records = sweep([0, 1 * MS])
    for record in records:
        for point in record.get("points", []):
            # One in progress on average: Little's law.
            point |= {"kind": "latency", "arrivals": 1000, "departures": 1000, "in_progress": 1.0}
    results = measure_scalability(runs_of(records))
    assert {result.kind for result in results} == {COMPLETED, "latency"}
    for result in results:
        assert result.points[1].speedup == pytest.approx(0.25, abs=0.02)


def lines_at_two_loads() -> Profile:
    """A line that matters only under load."""
    rng = np.random.default_rng(1)
    records = []
    for delay in (0, 1 * MS):
        windows = []
        for block in range(8):
            for speedup in (0.0, 0.25, 0.5, 0.0, 0.75, 1.0):
                windows.append(window(delay, 1e9, rng, "/src/a.cpp:7", speedup) | {"block": block})
        records += run_of(delay, windows)
    return Profile(runs=runs_of(records))


def test_results_at_different_loads_stand_apart() -> None:
    analysis = analyse(lines_at_two_loads())
    slopes = {result.arrival_speedup: result.slope for result in analysis.results}
    assert abs(slopes[0]) < 0.05
    assert slopes[1 * MS] > 0.4
    text = TextReport(None).render(analysis)
    assert "Slopes from load 0% to 25%" in text
    assert "/src/a.cpp:7" in text or "a.cpp:7" in text


def test_reports_name_the_load_of_a_result() -> None:
    found = analyse(lines_at_two_loads())
    analysis = replace(found, results=tuple(replace(result, marks=()) for result in found.results))
    assert "would make done (load 25%)" in TextReport(None).render(analysis)
    assert "would make done (load 25%)" in json.loads(JsonReport().render(analysis))["summary"][0]
    markdown, table = MarkdownReport().render(analysis), CsvReport().render(analysis)
    assert "| done (load 0%) |" in markdown
    assert "| done (load 25%) |" in markdown
    rows = list(csv.DictReader(io.StringIO(table)))
    assert {row["arrival_speedup"] for row in rows} == {"0", str(MS)}
    ((_, _, note),) = notes(analysis)
    assert "done (load 25%)" in note


def test_what_is_shown_does_not_decide_which_shifts_are_certain() -> None:
    """Of forty lines, one shift in twenty is chance, whichever lines a user asks for."""
    analysis = analyse(lines_at_two_loads())
    base, loaded = (replace(r, marks=()) for r in sorted(analysis.results, key=lambda r: r.arrival_speedup))

    def at(number: int, result: LineResult, slope: float, half: float) -> LineResult:
        ends = {"slope": slope, "slope_low": slope - half, "slope_high": slope + half}
        return replace(result, location=f"/a.c:{number}", **ends)

    pairs = [(at(i, base, 0.3, 0.1), at(i, loaded, 0.3 + 0.15 * (i == 0), 0.1)) for i in range(40)]
    alone = replace(analysis, results=pairs[0], all_results=pairs[0])
    among = replace(analysis, results=pairs[0], all_results=tuple(r for pair in pairs for r in pair))
    assert [shift.is_certain for shift in selected_shifts(alone)] == [True]
    assert [shift.is_certain for shift in selected_shifts(among)] == [False]


def test_a_progress_point_selects_its_load() -> None:
    records = sweep([0, 1 * MS])
    for record in records:
        for point in list(record.get("points", [])):
            record["points"].append({**point, "name": "other"})
    analysis = analyse(Profile(runs_of(records)), ResultFilter(progress_point="other"))
    assert [each.point for each in analysis.shown_scalability] == ["other"]
    with pytest.raises(CozError, match="no progress point"):
        analyse(Profile(runs_of(records)), ResultFilter(progress_point="none"))


def test_a_profile_of_load_alone_is_not_told_to_run_longer() -> None:
    analysis = analyse(Profile(runs_of(sweep([0, 1 * MS]))))
    assert json.loads(JsonReport().render(analysis))["summary"] == []
    assert "Run longer" not in MarkdownReport().render(analysis)


def test_a_warning_names_the_loads_that_it_is_about() -> None:
    profile = lines_at_two_loads()
    for record in profile.runs[1].experiments:
        assert record.arrivals is not None
        assert record.arrivals.speedup
    whole = [warning.text for warning in analyse(profile).warnings]
    profile.runs[1].experiments = [
        record._replace(flags=("unsettled",)) for record in profile.runs[1].experiments
    ]
    (text,) = [w.text for w in analyse(profile).warnings if w.text not in whole]
    assert text.startswith("with arrivals 1 ms earlier: in ")


def test_reports_have_the_table() -> None:
    analysis = analyse(Profile(runs=runs_of(sweep([0, 1 * MS, 2 * MS, 3 * MS]))))
    text = TextReport(None).render(analysis)
    assert "It flattens at a load of 3" in text
    document = json.loads(JsonReport().render(analysis))
    assert document["results"] == []
    assert [p["arrival_speedup"] for p in document["scalability"][0]["levels"]] == [0, 1 * MS, 2 * MS, 3 * MS]


def test_the_picture_has_a_panel_for_each_point_and_each_line_at_two_loads() -> None:
    figure = draw_load(analyse(lines_at_two_loads()))
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.axison]
    assert titles == ["done", "a.cpp:7"]
    legend = figure.axes[1].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["load 0%", "load 25%"]


def test_one_window_tells_nothing_of_its_interval() -> None:
    rng = np.random.default_rng(1)
    records = [record for level in (0, MS, 2 * MS) for record in run_of(level, [window(level, 750, rng)])]
    analysis = analyse(Profile(runs=runs_of(records)))
    text = TextReport(None).render(analysis)
    assert "[<-1000, +100.0]" in text
    assert "is not clear" in text
    assert draw_load(analysis).axes[0].get_ylim()[0] > -2


def test_shifts_are_more_than_chance_of_so_many_lines() -> None:
    """Of forty lines that do not change with load, two would be called certain by their own intervals."""

    def result(number: int, change: float, load: int) -> LineResult:
        slope = 0.3 + change * (load > 0)
        return replace(
            plain, location=f"/a.c:{number}", slope=slope, slope_low=slope - 0.02, slope_high=slope + 0.02,
            arrival_speedup=load, marks=(),
        )  # fmt: skip

    plain = analyse(lines_at_two_loads()).results[0]
    changes = [0.0] * 38 + [0.03, 0.5]
    results = [result(number, change, load) for number, change in enumerate(changes) for load in (0, 1000)]
    shifts = find_shifts(results)
    assert [shift.is_certain for shift in shifts] == [True] + [False] * 39
    assert shifts[0].base.location == "/a.c:39"
    doubtful = [replace(each, marks=(Mark.UNSTABLE,)) for each in results]
    assert not any(shift.is_certain for shift in find_shifts(doubtful))
