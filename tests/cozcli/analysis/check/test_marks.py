"""Marks of doubtful results: each on a profile that deserves it, and none on one that does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from synthetic import Line, Model, saturating, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.check.marks import Marks
from cozcli.analysis.correct.protocol import Context
from cozcli.analysis.correct.queue_flow import QueueFlow
from cozcli.analysis.input.series import Series
from cozcli.analysis.result import DOUBTS, Analysis, Mark
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records
from cozcli.reports.text import TextReport

SPEEDUPS = (0.1, 0.25, 0.4, 0.5, 0.75, 1.0)
Records = list[dict[str, Any]]


def analyse_records(records: Records) -> Analysis:
    read = read_records(to_bytes(records).splitlines(keepends=True), ReadProblems())
    return analyse(Profile(collect_runs(read, "x"), ["x"]))


def model(*lines: Line, **options: Any) -> Model:
    return Model(lines or [Line("/a.c:1", lambda s: 0.3 * s)], speedups=SPEEDUPS, per_block=6, **options)


def doubts(analysis: Analysis) -> dict[tuple[str, str], set[Mark]]:
    return {(r.location, r.kind): set(r.marks) & set(DOUBTS) for r in analysis.results}


def windows(records: Records) -> Records:
    return [record for record in records if record["type"] == "experiment"]


def paced(records: Records) -> Records:
    """The same program, visited at its pace per real second, whatever is delayed."""
    real = effective = 0
    for window in windows(records):
        real, effective = real + window["duration"], effective + window["effective_duration"]
        window["line_samples"] = window["line_samples"] * real // effective
        for point in window["points"]:
            point["elapsed"] = int(point["elapsed"] * window["effective_duration"] / window["duration"])
            point["half_elapsed"] = point["elapsed"] // 2
    for record in records:
        for line in record.get("lines", []):
            line["count"] = line["count"] * real // effective
    return records


def idle(location: str, rate: float = 0.4e-6) -> Line:
    return Line(location, lambda s: 0.0, rate=rate)


def test_healthy_profiles_have_no_marks() -> None:
    """240 results of five kinds of lines, some with latency."""
    marked = 0
    for seed in range(30):
        lines = [
            Line("/a.c:1", lambda s: 0.4 * s, latency=lambda s: 0.2 * s),
            Line("/a.c:2", saturating(0.2, 0.4), latency=lambda s: 0.0),
            idle("/a.c:3"),
            Line("/a.c:4", lambda s: -0.3 * s, latency=lambda s: -0.5 * s),
            idle("/a.c:5", 0.02e-6),
        ]
        analysis = analyse_records(model(*lines, seed=seed).records(40))
        assert not analysis.warnings
        marked += sum(bool(found) for found in doubts(analysis).values())
    assert marked <= 5


@pytest.mark.parametrize("growth", [lambda s: 0.05, lambda s: -0.05, lambda s: 0.2 * s])
def test_a_queue_that_does_not_balance_is_unstable(growth: Callable[[float], float]) -> None:
    line = Line("/a.c:1", lambda s: 0.0, latency=lambda s: 0.2 * s)
    analysis = analyse_records(model(line, growth=growth).records(12))
    assert doubts(analysis) == {("/a.c:1", "latency"): {Mark.UNSTABLE}, ("/a.c:1", "throughput"): set()}
    text = TextReport().render(analysis)
    assert "unstable queue" in text
    assert "Little's law does not hold" in text


@pytest.mark.parametrize(("every", "is_unstable"), [(4, True), (40, False)])
def test_a_queue_in_waves_is_unstable(every: int, is_unstable: bool) -> None:
    """It builds up in some windows and drains in others, and in the mean arrivals equal departures."""
    line = Line("/a.c:1", lambda s: 0.0, latency=lambda s: 0.2 * s)
    records = model(line).records(24)
    for number, window in enumerate(windows(records)):
        point = window["points"][1]
        sign = 1 if number // every % 2 else -1
        wave = round(0.3 * point["arrivals"]) + 5
        point["departures"] = point["arrivals"] + (sign * wave if number % every == 0 else 0)
    found = doubts(analyse_records(records))["/a.c:1", "latency"]
    assert (Mark.UNSTABLE in found) == is_unstable


def test_a_queue_that_grows_between_windows_is_unstable() -> None:
    """Within windows nothing shows, but later baselines have more in progress."""
    line = Line("/a.c:1", lambda s: 0.0, latency=lambda s: 0.0)
    records = model(line).records(24)
    for block in range(24):
        again = dict(next(w for w in windows(records) if w["block"] == block))
        again["start"] += 10**10
        again["points"] = [dict(point) for point in again["points"]]
        records.insert(-2, again)
    ordered = sorted(windows(records), key=lambda w: (w["block"], w["start"]))
    for number, window in enumerate(ordered):
        window["start"] = number * 500_000_000
        window["points"][1]["in_progress"] *= 1 + number / 50
    others = [record for record in records if record["type"] != "experiment"]
    records = [others[0], *ordered, *others[1:]]
    assert doubts(analyse_records(records))["/a.c:1", "latency"] == {Mark.UNSTABLE}


def test_a_client_at_its_own_pace_is_named_where_nothing_else_explains_it() -> None:
    """Lines that take 1.6 of the time together cannot all be on the critical path."""
    lines = [idle(f"/a.c:{number}") for number in range(4)]
    analysis = analyse_records(paced(model(*lines, busy=1.6).records(40)))
    assert all(found == {Mark.LOAD} for found in doubts(analysis).values())
    assert all(result.slope > 0.2 for result in analysis.results)
    assert sum("same pace" in warning.text for warning in analysis.warnings) == 1


def test_no_effect_is_called_unreal_while_its_queues_have_not_settled() -> None:
    """Full or empty queues keep the pace for a while; the lasting effect is another, but may be real."""
    lines = [idle(f"/a.c:{number}") for number in range(4)]
    records = paced(model(*lines, busy=1.6, noise=0.01).records(40))
    assert all(found == {Mark.LOAD} for found in doubts(analyse_records(records)).values())
    for window in windows(records):
        for point in window["points"]:
            point["half_elapsed"] = int(point["elapsed"] * (0.5 + 0.1 * window["speedup"]))
    analysis = analyse_records(records)
    assert all(found == {Mark.NOT_STEADY} for found in doubts(analysis).values())
    assert "not real" not in TextReport().render(analysis)
    assert not any("not real" in warning.text for warning in analysis.warnings)


@pytest.mark.parametrize(("lent", "found"), [(0.03, Mark.LOAD), (0.3, None)])
def test_a_queue_that_lends_little_hides_no_load(
    lent: float, found: Mark | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    adjust = QueueFlow.adjust

    def adjust_and_lend(self: QueueFlow, series: Sequence[Series], context: Context) -> list[Series]:
        return [replace(each, lent=lent) for each in adjust(self, series, context)]

    monkeypatch.setattr(QueueFlow, "adjust", adjust_and_lend)
    lines = [idle(f"/a.c:{number}") for number in range(4)]
    marked = doubts(analyse_records(paced(model(*lines, busy=1.6).records(40))))
    assert all(marks == ({found} if found else set()) for marks in marked.values())


def test_a_serial_program_is_not_called_limited_by_load() -> None:
    """The thread that runs the line never pauses: visits keep their pace although it limits itself."""
    lines = [idle("/a.c:1"), idle("/a.c:2", 0.6e-6)]
    analysis = analyse_records(paced(model(*lines, busy=0.99).records(24)))
    assert not any(doubts(analysis).values())


def test_phases_do_not_add_up_to_load() -> None:
    """Three lines of one thread, each all that runs in its third of the time."""
    lines = [Line(f"/a.c:{i}", lambda s: 0.0, rate=0.9e-6, share=1 / 3) for i in range(3)]
    analysis = analyse_records(paced(model(*lines, busy=0.99).records(36)))
    assert not any(doubts(analysis).values())


def test_a_program_that_waits_at_a_steady_pace_is_perhaps_limited_by_load() -> None:
    lines = [idle("/a.c:1"), idle("/a.c:2", 0.2e-6)]
    analysis = analyse_records(paced(model(*lines, busy=0.6).records(24)))
    assert all(found == {Mark.MAYBE_LOAD} for found in doubts(analysis).values())
    assert any("coz run --waits shows where it waits" in problem.hint for problem in analysis.warnings)
    # A processor that other programs hold is no rest; and where its use is unknown, nothing is said.
    starved = paced(model(*lines, busy=0.6, waiting=0.66).records(24))
    assert not any(Mark.MAYBE_LOAD in found for found in doubts(analyse_records(starved)).values())
    unknown = paced(model(*lines, busy=0.6).records(24))
    for window in windows(unknown):
        del window["processor_time"], window["core_wait"]
    assert not any(doubts(analyse_records(unknown)).values())


def test_one_line_that_slows_the_program_down_clears_the_others() -> None:
    records = model(idle("/a.c:1"), idle("/a.c:2")).records(24)
    paced([w for w in records if w.get("location") == "/a.c:1"])
    assert not any(doubts(analyse_records(records)).values())


def test_little_delay_says_nothing_about_load() -> None:
    lines = [idle("/a.c:1", 0.02e-6), idle("/a.c:2", 0.02e-6)]
    assert not any(doubts(analyse_records(paced(model(*lines, busy=0.3).records(24)))).values())


def test_threads_that_wait_for_processors_are_mentioned_once() -> None:
    lines = [Line("/a.c:1", lambda s: 0.3 * s, latency=lambda s: 0.1 * s), idle("/a.c:2")]
    analysis = analyse_records(model(*lines, busy=2.0, waiting=0.5).records(16))
    assert all(found == {Mark.CORES} for found in doubts(analysis).values())
    found = [warning for warning in analysis.warnings if "waited for a core" in warning.text]
    assert len(found) == 1
    assert "0.50 s" in found[0].text
    assert found[0].hint
    assert not any(doubts(analyse_records(model(*lines, busy=1.5, waiting=0.08).records(16))).values())


@pytest.mark.parametrize(
    ("busy", "others", "marked"), [(2.0, 0.0, True), (1.5, 0.0, False), (1.8, 0.16, False)]
)
def test_where_the_program_fills_the_cores_short_waits_count(
    busy: float, others: float, marked: bool
) -> None:
    """But not those for processors that other programs had."""
    records = model(idle("/a.c:1"), busy=busy, waiting=0.08).records(16)
    for window in windows(records):
        window["machine_busy"] = int((busy + others) * window["duration"])
    found = doubts(analyse_records(records))["/a.c:1", "throughput"]
    assert (Mark.CORES in found) == marked


@pytest.mark.parametrize(("busy", "marked"), [(2.0, True), (1.5, False)])
def test_waits_after_pauses_count_only_where_the_program_fills_the_cores(busy: float, marked: bool) -> None:
    records = model(idle("/a.c:1"), busy=busy, waiting=0.04).records(16)
    for window in windows(records):
        if window["speedup"] > 0:
            window["core_wait"] = window["processor_time"] // 3
    analysis = analyse_records(records)
    assert (Mark.CORES in doubts(analysis)["/a.c:1", "throughput"]) == marked
    assert any("waited for a core" in warning.text for warning in analysis.warnings) == marked


def test_waits_are_named_where_the_pace_is_perhaps_from_outside() -> None:
    lines = [idle("/s/a.c:1"), idle("wait /s/a.c:5", 0.3e-6), idle("wait /s/b.c:7", 0.4e-6)]
    analysis = analyse_records(paced(model(*lines, busy=0.4).records(36)))
    assert all(found == {Mark.MAYBE_LOAD} for found in doubts(analysis).values())
    (problem,) = [problem for problem in analysis.warnings if "same pace" in problem.text]
    assert "waited part of the time (wait b.c:7, wait a.c:5): perhaps" in problem.text
    assert "--waits" not in problem.hint


def test_a_program_that_fills_the_cores_is_not_limited_by_load() -> None:
    lines = [idle(f"/a.c:{number}") for number in range(4)]
    for busy, marked in ((1.8, True), (2.0, False)):
        found = doubts(analyse_records(paced(model(*lines, busy=busy).records(40))))
        assert all((Mark.LOAD in marks) == marked for marks in found.values())


def test_only_lines_whose_own_threads_waited_are_marked() -> None:
    records = model(idle("/a.c:1"), idle("/a.c:2")).records(16)
    for window in windows(records):
        window["core_wait"] = window["processor_time"] // 2 if window["location"] == "/a.c:1" else 0
    found = doubts(analyse_records(records))
    assert [Mark.CORES in found[f"/a.c:{i}", "throughput"] for i in (1, 2)] == [True, False]


@pytest.mark.parametrize("value", [-1, "x", 2**70, None, 1.5])
def test_impossible_times_are_unknown_times(value: object) -> None:
    records = model(waiting=0.5).records(6)
    for window in windows(records):
        window["core_wait"] = window["points"][0]["half_visits"] = value
    analysis = analyse_records(records)
    assert analysis.experiments == 42
    assert not any(doubts(analysis).values())


def test_halves_that_differ_under_speedups_are_not_settled() -> None:
    analysis = analyse_records(model(settling=0.3, noise=0.03).records(8))
    assert doubts(analysis)["/a.c:1", "throughput"] == {Mark.NOT_STEADY}
    assert "not settled:" in TextReport().render(analysis)
    # So they do in baselines: the program's own rhythm.
    records = model(noise=0.03).records(8)
    for window in windows(records):
        window["points"][0]["half_elapsed"] = int(window["points"][0]["half_elapsed"] * 1.15)
    assert not any(doubts(analyse_records(records)).values())


@pytest.mark.parametrize(("sampling", "told"), [("timer", True), ("perf-trap", False)])
def test_a_timer_that_takes_too_few_samples_is_mentioned(sampling: str, told: bool) -> None:
    records = model().records(6)
    records[0]["sampling"] = sampling
    for window in windows(records):
        window["processor_time"] = int(window["samples"] * 1e6 / 0.8)
    warnings = [w.text for w in analyse_records(records).warnings if "timer took only 80%" in w.text]
    assert bool(warnings) == told


def test_a_small_line_of_a_program_limited_by_load_is_marked_like_the_others() -> None:
    """Its own delays are too short to tell."""
    lines = [*(idle(f"/a.c:{number}") for number in range(4)), idle("/a.c:4", 0.02e-6)]
    found = doubts(analyse_records(paced(model(*lines, busy=1.6).records(50))))
    assert found["/a.c:4", "throughput"] == found["/a.c:1", "throughput"] == {Mark.LOAD}


def test_what_holds_for_all_results_holds_for_those_without_windows() -> None:
    marks = Marks(of_all={Mark.CORES})
    marks.by_result["/a.c:1", "p", "throughput"].add(Mark.PHASES)
    marks.by_point["p", "throughput"].add(Mark.LOAD)
    assert marks.of(("/a.c:1", "p", "throughput")) == (Mark.PHASES, Mark.LOAD)
    assert marks.of(("/a.c:2", "p", "throughput")) == (Mark.LOAD, Mark.CORES)
    assert marks.of(("/a.c:2", "q", "throughput")) == (Mark.CORES,)


@pytest.mark.parametrize(("share", "is_told"), [(0.05, False), (0.5, True)])
def test_children_that_compute_beside_the_program_are_mentioned(share: float, is_told: bool) -> None:
    records = model().records(12)
    last = next(record for record in records if record["type"] == "samples")
    last["duration"] = last["run_time"]
    last["children_time"] = int(share * last["duration"])
    warnings = [warning.text for warning in analyse_records(records).warnings]
    assert any("used 0.5 processors on average" in text for text in warnings) == is_told
    assert len(warnings) == is_told


@pytest.mark.parametrize(("share", "is_told"), [(0.05, False), (0.4, True)])
def test_time_in_the_kernel_that_belongs_to_no_line_is_mentioned(share: float, is_told: bool) -> None:
    records = model().records(12)
    last = next(record for record in records if record["type"] == "samples")
    last["in_kernel"] = int(share * last["total"])
    warnings = [warning.text for warning in analyse_records(records).warnings]
    assert any("40% of the processor time was spent in the kernel" in text for text in warnings) == is_told
    assert len(warnings) == is_told
