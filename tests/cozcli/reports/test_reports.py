"""What each report promises beside its numbers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic import Line, Model, many_lines, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.rank.ranking import leading
from cozcli.analysis.result import Analysis, Holder, WaitedLock
from cozcli.errors import CozError
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records
from cozcli.reports.base import common_directory, short_function, shorten
from cozcli.reports.figure import columns_for, literal, write_figure, y_limits
from cozcli.reports.json_report import JsonReport
from cozcli.reports.locks import name_of, waits_of
from cozcli.reports.text import TextReport


def analysis_of(lines: list[Line], blocks: int) -> Analysis:
    raw = to_bytes(Model(lines).records(blocks)).splitlines(keepends=True)
    return analyse(Profile(collect_runs(read_records(raw, ReadProblems()), "x"), ["x"]))


def test_json_has_the_promised_names() -> None:
    document = json.loads(JsonReport().render(analysis_of(many_lines(4), 40)))
    assert document["format"] == "coz-report"
    entry = document["results"][0]
    for name in ("location", "function", "point", "kind", "slope", "slope_low", "slope_high"):
        assert name in entry
    assert (
        entry["slope_adjusted_low"]
        <= entry["slope_low"]
        < entry["slope_high"]
        <= entry["slope_adjusted_high"]
    )
    assert entry["significant"] is True
    assert entry["notes"] == []
    assert entry["kind"] in ("throughput", "latency")
    assert set(entry["curve"][0]) == {"speedup", "effect", "low", "high", "experiments"}
    assert entry["curve"][0]["speedup"] == 0
    pairs = [(e["location"], e["point"], e["kind"]) for e in document["results"]]
    assert len(pairs) == len(set(pairs))


def test_reports_say_which_lock_is_waited_for_and_who_holds_it() -> None:
    analysis = analysis_of([Line("lock /src/a.c:1", lambda s: s / 2), Line("/src/a.c:2", lambda s: 0.0)], 40)
    locks = (
        WaitedLock(
            "table", 0.9, 1204, 312_000, (Holder("/src/a.c:7", "fill(int)", 0.8), Holder("", "", 0.2))
        ),
        WaitedLock("", 0.1, 2, 900, (Holder("", "", 1.0),), number=16, largest=0.25),
    )
    results = [
        replace(result, target="lock", locks=locks) if result.location.startswith("lock") else result
        for result in analysis.results
    ]
    text = TextReport().render(replace(analysis, results=results))
    assert (
        "lock a.c:1: table 90% (1,204 waits of 312 µs on average, taken at a.c:7 (fill) 80%, "
        "a line that is not known 20%), 16 locks without a name 10% (2 waits of 900 ns on average, "
        "25% of the time at one of them"
    ) in text
    document = json.loads(JsonReport().render(replace(analysis, results=results)))
    by_target = {entry["target"]: entry for entry in document["results"]}
    assert "locks" not in by_target["line"]
    assert by_target["lock"]["locks"][0] == {
        "name": "table",
        "share": 0.9,
        "waits": 1204,
        "mean_wait": 312000,
        "number": 1,
        "has_others": False,
        "largest": 1,
        "holders": [
            {"location": "/src/a.c:7", "function": "fill(int)", "share": 0.8},
            {"location": "", "function": "", "share": 0.2},
        ],
    }


@pytest.mark.parametrize(
    ("number", "has_others", "said"),
    [
        (0, False, "locks without a name"),
        (1, False, "a lock without a name"),
        (3, False, "3 locks without a name"),
        (64, True, "more than 64 locks without a name"),
    ],
)
def test_locks_without_a_name_are_counted(number: int, has_others: bool, said: str) -> None:
    lock = WaitedLock("", 1, 2, 900, (), number=number, has_others=has_others)
    assert name_of(lock) == said
    assert ("at one of them" in waits_of(lock)) == (number > 1)


def test_piped_text_is_plain_and_never_cut() -> None:
    location = "/" + "/".join(f"directory-{i:03}" for i in range(60)) + "/file.cpp:123456"
    text = TextReport().render(
        analysis_of([Line(location, lambda s: s / 2), Line("/z.c:1", lambda s: 0.0)], 40)
    )
    assert "\x1b" not in text
    assert location in text
    assert not any(line.endswith(" ") for line in text.splitlines())


@pytest.mark.parametrize("width", [80, 100, 110, 130, 160])
def test_terminal_text_keeps_to_its_width_and_its_marks(width: int) -> None:
    text = TextReport(width=width).render(analysis_of(many_lines(4), 120))
    assert "\x1b" in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert all(len(line) <= width for line in plain.splitlines())
    assert re.search(r"queue.*contention", plain)


def test_without_room_for_intervals_effects_that_may_be_none_are_dim() -> None:
    lines = [Line("/src/a.c:1", lambda s: 0.5 * s), Line("/src/a.c:2", lambda s: 0.0)]
    analysis = analysis_of(lines, 60)
    narrow, wide = (TextReport(width=width).render(analysis) for width in (80, 160))
    rows = {row.split(":")[1][0]: row for row in narrow.splitlines() if "a.c" in row and "request" in row}
    assert "\x1b[2m" not in rows["1"]
    assert "\x1b[2m" in rows["2"]
    assert "±" not in rows["1"]
    assert "Dim effects" in narrow
    assert "±" in wide
    assert "Dim effects" not in wide


def test_the_order_of_lines_is_explained() -> None:
    lines = TextReport().render(analysis_of(many_lines(4), 40)).splitlines()
    assert sum(line.startswith("Lines are ranked by") for line in lines) == 1


def test_control_characters_never_reach_the_terminal() -> None:
    text = TextReport().render(analysis_of([Line("/a\x1b[31m.c:1", lambda s: s / 2, "f\a[red]")], 20))
    assert "\x1b" not in text
    assert "\a" not in text
    assert "[red]" in text


def test_contention_is_marked_and_explained() -> None:
    text = TextReport().render(analysis_of([Line("/a.c:1", lambda s: -0.4 * s)], 60))
    assert text.count("contention") >= 2


@pytest.mark.parametrize("lines", [1, 4, 30])
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_pictures_of_few_and_many_lines(tmp_path: Path, lines: int, suffix: str) -> None:
    path = tmp_path / f"p{suffix}"
    write_figure(analysis_of(many_lines(lines), 4 * lines), path)
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix]
    assert path.read_bytes().startswith(start)


def test_svg_names_every_line_in_order_of_slope(tmp_path: Path) -> None:
    lines = [Line(f"/src/a.c:{i}", lambda s, i=i: 0.2 * i * s) for i in (1, 3, 2)]
    write_figure(analysis_of(lines, 60), tmp_path / "p.svg")
    svg = (tmp_path / "p.svg").read_text()
    places = [svg.index(f">a.c:{i}<") for i in (3, 2, 1)]
    assert places == sorted(places)


def test_a_picture_leaves_out_few_data_and_says_so(tmp_path: Path) -> None:
    """20 lines, of which the last 12 were measured in one block only."""
    speedups = (0.1, 0.25, 0.4, 0.5, 0.75, 1.0)
    records = []
    for number in range(20):
        model = Model(
            [Line(f"/a.c:{number}", lambda s: 0.3 * s)], speedups=speedups, per_block=6, seed=number
        )
        records += model.records(4 if number < 8 else 1)
    read = read_records(to_bytes(records).splitlines(keepends=True), ReadProblems())
    analysis = analyse(Profile(collect_runs(read, "x"), ["x"]))
    well_measured = {f"/a.c:{number}" for number in range(8)}
    assert {r.location for r in analysis.results[:8]} == well_measured
    assert {r.location for r in leading(analysis.results, 30, 5)} == well_measured
    assert len(leading(analysis.results, 30, 12)) == 12
    assert len(leading(analysis.results, 3, 3)) == 3
    assert len(leading(analysis.results, 100, 100)) == 20

    path = tmp_path / "picture.svg"
    shown = leading(analysis.results, 30, 12)
    write_figure(replace(analysis, results=shown), path, left_out=8)
    assert "12 of 20 curves" in path.read_text()


def test_few_data_are_marked_and_make_no_room_for_themselves(tmp_path: Path) -> None:
    speedups = (0.1, 0.25, 0.4, 0.5, 0.75, 1.0)
    sure = Model([Line("/a.c:1", lambda s: 0.2 * s)], speedups=speedups, per_block=6).records(20)
    odd = Model([Line("/b.c:1", lambda s: -0.9 * s)], speedups=speedups, per_block=6, seed=2).records(1)
    read = read_records(to_bytes(sure + odd).splitlines(keepends=True), ReadProblems())
    analysis = analyse(Profile(collect_runs(read, "x"), ["x"]))
    by_name = {result.location: result for result in analysis.results}
    low, high = y_limits(analysis.results)
    assert (low, high) == pytest.approx(y_limits([by_name["/a.c:1"]]), abs=0.1)
    assert y_limits([by_name["/b.c:1"]])[0] < -0.9
    write_figure(analysis, tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_text().count(">few data<") == 1


def test_intervals_of_reliable_points_are_not_cut() -> None:
    analysis = analysis_of(many_lines(4), 60)
    for kind in ("throughput", "latency"):
        results = [result for result in analysis.results if result.kind == kind]
        low, high = y_limits(results)
        assert all(low < point.low <= point.high < high for r in results for point in r.curve)


def test_latency_panels_keep_the_names_of_function_and_point(tmp_path: Path) -> None:
    write_figure(analysis_of(many_lines(4), 60), tmp_path / "p.svg")
    svg = (tmp_path / "p.svg").read_text()
    assert ">→ transaction (latency)<" in svg
    assert svg.count(">parse_request<") == 2


def test_a_wild_interval_does_not_flatten_the_axes() -> None:
    analysis = analysis_of([Line("/a.c:1", lambda s: -30 * s), Line("/b.c:1", lambda s: 0.1 * s)], 40)
    low, high = y_limits(analysis.results)
    assert -1.2 < low < high <= 1.1


def test_doubts_are_in_table_picture_and_json(tmp_path: Path) -> None:
    model = Model([Line("/a.c:1", lambda s: 0.3 * s), Line("/b.c:1", lambda s: 0.0)], busy=2.0, waiting=0.4)
    raw = to_bytes(model.records(60)).splitlines(keepends=True)
    analysis = analyse(Profile(collect_runs(read_records(raw, ReadProblems()), "x"), ["x"]))
    text = TextReport().render(analysis)
    assert text.count("too few cores") == 4  # in the summary, two marks and one explanation
    assert text.count("*") == 2  # one slope and one explanation
    write_figure(analysis, tmp_path / "p.svg")
    svg = (tmp_path / "p.svg").read_text()
    assert svg.count("too few cores") == 2
    assert re.search(r"slope \+0\.\d\d\*", svg)
    document = json.loads(JsonReport().render(analysis))
    assert [entry["notes"] for entry in document["results"]] == [["too few cores"]] * 2
    assert "waited for a core" in document["warnings"][0]["text"]


def test_names() -> None:
    assert common_directory(["/src/a/x.c:1", "/src/b/y.c:2"]) == "/src/"
    assert common_directory(["/src/x.c:1", "/usr/y.c:2"]) == ""
    assert common_directory(["x.c:1"]) == ""
    assert shorten("/src/a/x.c:1", "/src/") == "a/x.c:1"
    assert literal("$HOME$") == r"\$HOME\$"
    assert [columns_for(n) for n in (1, 2, 4, 5, 30)] == [1, 2, 2, 3, 4]


@pytest.mark.parametrize(
    ("whole", "short"),
    [
        ("main", "main"),
        ("ns::f(int, char)", "ns::f"),
        ("(anonymous namespace)::f()", "f"),
        ("void staged::other<600>()", "staged::other<600>"),
        ("std::vector<int, a<b> > g<int>(int)", "g<int>"),
        (
            "std::_Function_handler<void (int), h>::_M_invoke(int)",
            "std::_Function_handler<void (int), h>::_M_invoke",
        ),
        ("f<(Kind)1>()", "f<(Kind)1>"),
        ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
        ("operator new(unsigned long)", "operator new"),
        ("T::operator bool() const", "T::operator bool"),
        ("bool operator< <int>(int)", "operator< <int>"),
        ("std::ostream& operator<< <x>(x)", "operator<< <x>"),
        ("<a::B as c::D>::e", "<a::B as c::D>::e"),
        ("core::ops::FnOnce::call_once{{vtable.shim}}", "core::ops::FnOnce::call_once{{vtable.shim}}"),
    ],
)
def test_functions_lose_parameters_and_return_types(whole: str, short: str) -> None:
    assert short_function(whole) == short


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_a_picture_of_nothing_is_refused(tmp_path: Path, suffix: str) -> None:
    """As of a sweep of loads that ended after its first run."""
    analysis = replace(analysis_of(many_lines(1), 60), results=())
    with pytest.raises(CozError, match="there is no curve to draw"):
        write_figure(analysis, tmp_path / f"p{suffix}")
