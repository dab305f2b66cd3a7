"""CSV, Markdown, annotations, the summary, and source excerpts: also with names that mean harm."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

import pytest
from synthetic import Line, Model, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.estimate.shape import Shape, outline
from cozcli.analysis.result import Analysis
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records
from cozcli.reports.annotate import AnnotateReport
from cozcli.reports.json_report import JsonReport
from cozcli.reports.sarif import SarifReport
from cozcli.reports.source import read_excerpt
from cozcli.reports.summary import NOTHING_CERTAIN
from cozcli.reports.table_reports import COLUMNS, CsvReport, MarkdownReport
from cozcli.reports.text import TextReport


def analysis_of(lines: list[Line], blocks: int = 120, **model: object) -> Analysis:
    raw = to_bytes(Model(lines, **model).records(blocks)).splitlines(keepends=True)  # type: ignore[arg-type]
    return analyse(Profile(collect_runs(read_records(raw, ReadProblems()), "x"), ["x"]))


RISES = Line("/s/a.c:1", lambda s: 0.4 * s)
NOTHING = Line("/s/a.c:2", lambda s: 0.0)
LEVELS = Line("/s/a.c:3", lambda s: 0.8 * min(s, 0.3))
BENDS = Line("/s/a.c:4", lambda s: 0.8 * min(s, 0.4) - max(s - 0.4, 0))
SLOWS = Line("/s/a.c:7", lambda s: 0.5 * s - 0.1 * s**2)
GAINS_LESS = Line("/s/a.c:6", lambda s: 0.8 * min(s, 0.4) - 0.3 * max(s - 0.4, 0))
HARMS = Line("/s/a.c:5", lambda s: -0.3 * s)


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        (RISES, Shape.OPEN),
        (NOTHING, Shape.OPEN),
        (LEVELS, Shape.LEVELS),
        (BENDS, Shape.BENDS),
        (SLOWS, Shape.OPEN),
    ],
)
def test_shapes(line: Line, shape: Shape) -> None:
    analysis = analysis_of([line, NOTHING] if line is not NOTHING else [line], 400)
    result = next(r for r in analysis.results if r.location == line.location)
    found = outline(result)
    assert found.shape is shape
    if shape is Shape.LEVELS:
        assert 0.2 <= found.since.speedup <= 0.5
    if shape is Shape.BENDS:
        assert 0.3 <= found.since.speedup <= 0.5


def test_a_straight_line_hardly_ever_levels_off_or_bends() -> None:
    found = [
        outline(result).shape
        for seed in range(40)
        for result in analysis_of([RISES, NOTHING], 60, seed=seed).results
    ]
    assert sum(shape is not Shape.OPEN for shape in found) <= 4


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (RISES, "Making a.c:1 (work) 25 % faster would make request 10.0 % ± 0."),
        (BENDS, "; beyond that it gets slower: contention."),
        (GAINS_LESS, "; beyond that it gets slower."),
        (LEVELS, "; beyond that little is gained: something else becomes the bottleneck."),
        (HARMS, " slower: contention. Look for what it contends for."),
        (NOTHING, NOTHING_CERTAIN),
    ],
)
def test_the_summary_stands_above_the_table(line: Line, words: str) -> None:
    text = TextReport().render(analysis_of([line, Line("/s/b.c:9", lambda s: 0.0)], 400))
    head = text.partition("\n Line ")[0]
    assert words in head


def test_an_interval_that_says_nothing_is_not_spelt_out(golden: Path) -> None:
    analysis = analysis_of([Line("/s/a.c:1", lambda s: 0.0), NOTHING], 2, noise=4.0)
    assert all(len(line) < 260 for line in TextReport().render(analysis).splitlines()[5:9])


HOSTILE = '=HYPERLINK("http://x")|<script>*a*\x1b[2J.c:1'


def test_csv_is_complete_and_no_formula() -> None:
    lines = [
        Line(HOSTILE, lambda s: 0.4 * s, function="@SUM(A1)"),
        Line("/s/a.c:2", lambda s: -0.2 * s, function='f<int, "x">'),
    ]
    rows = list(csv.reader(io.StringIO(CsvReport().render(analysis_of(lines)))))
    assert tuple(rows[0]) == COLUMNS
    assert {len(row) for row in rows} == {len(COLUMNS)}
    assert rows[1][0] == "'" + HOSTILE.replace("\x1b", "\\x1b")
    assert rows[1][1] == "'@SUM(A1)"
    assert rows[2][1] == 'f<int, "x">'
    # Numbers are numbers, below 0 too.
    assert float(rows[2][COLUMNS.index("slope")]) < 0
    assert 0.05 < float(rows[1][COLUMNS.index("effect_25")]) < 0.15


def test_markdown_takes_names_for_text() -> None:
    text = MarkdownReport().render(analysis_of([Line(HOSTILE, lambda s: 0.4 * s), NOTHING]))
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 4
    assert {len(line.replace("\\|", "").split("|")) for line in table} == {11}
    assert "<script>" not in text.replace("\\<script\\>", "")
    assert "\x1b" not in text


def test_annotations_are_in_a_compilers_form_and_certain() -> None:
    text = AnnotateReport().render(analysis_of([RISES, NOTHING, HARMS], 400))
    assert [line.partition(" note: ")[0] for line in text.splitlines()] == ["/s/a.c:1:", "/s/a.c:5:"]
    assert "Making this line (work) 25 % faster would make request" in text


# Source


def test_the_leading_lines_are_shown_with_their_source(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("one\n\ttwo\x1b[2J\nthree\nfour\nfive\n")
    lines = [Line(f"{source}:2", lambda s: 0.4 * s), NOTHING]
    text = TextReport().render(analysis_of(lines))
    assert ">     2      two\\x1b[2J\n" in text
    assert "      4  four\n" in text
    assert "five" not in text
    assert "two" not in TextReport(source=False).render(analysis_of(lines))


def test_only_ordinary_source_files_are_read(tmp_path: Path) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("key\n")
    pipe = tmp_path / "pipe.c"
    os.mkfifo(pipe)
    source = tmp_path / "a.c"
    source.write_text("int x;\n")
    assert read_excerpt(f"{source}:1") is not None
    refused = (f"{secret}:1", f"{pipe}:1", f"{source}:2", f"{source}:0", f"{tmp_path}:1", "a.c:1", "/a\0.c:1")
    for location in refused:
        assert read_excerpt(location) is None, location


def test_source_that_was_changed_is_marked(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text("int x;\n")
    changed = source.stat().st_mtime_ns
    before, after = read_excerpt(f"{source}:1", changed - 1), read_excerpt(f"{source}:1", changed + 1)
    assert before is not None
    assert after is not None
    assert before.newer
    assert not after.newer


def test_json_has_summary_and_shape() -> None:
    import json

    document = json.loads(JsonReport().render(analysis_of([BENDS, NOTHING], 400)))
    assert "beyond that it gets slower" in document["summary"][0]
    assert document["results"][0]["shape"]["kind"] == "bends down"
    assert document["results"][0]["shape"]["since"] == document["results"][0]["shape"]["largest"]["speedup"]


def test_json_has_the_usual_speedups_even_if_none_of_them_was_measured() -> None:
    document = json.loads(JsonReport().render(analysis_of([RISES], 400, speedups=(0.3,))))
    curve = {point["speedup"]: point for point in document["results"][0]["curve"]}
    assert list(curve) == [0.0, 0.25, 0.3, 0.5, 0.75]
    assert [s for s, point in curve.items() if point["experiments"] == 0] == [0.25, 0.5, 0.75]
    assert curve[0.25]["effect"] == pytest.approx(0.1, abs=0.01)
    assert curve[0.75]["effect"] == pytest.approx(0.3, abs=0.03)
    # Nobody knows whether the curve goes on like that.
    assert curve[0.75]["low"] <= curve[0.3]["low"]
    assert curve[0.75]["high"] >= curve[0.75]["effect"]


# SARIF


def test_sarif_has_the_annotated_lines_relative_to_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    below = f"{tmp_path}/src/a b.c"
    lines = [
        Line(f"{below}:1", RISES.effect),
        Line(f"{below}:2", NOTHING.effect),
        Line("/s/a.c:5", HARMS.effect),
    ]
    document = json.loads(SarifReport().render(analysis_of(lines, 400)))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert run["tool"]["driver"]["name"] == "coz"
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    rises, harms = run["results"]
    assert {rises["ruleId"], harms["ruleId"]} == rules
    assert rises["ruleId"] == "faster-line-pays"
    assert "Making this line (work) 25 % faster" in rises["message"]["text"]
    place = rises["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "src/a%20b.c", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 1},
    }
    assert harms["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///s/a.c"}


def test_sarif_has_names_that_no_file_can_have() -> None:
    lines = [Line("/s/\ud800.c:5", HARMS.effect), Line("/s/\udcff.c:6", RISES.effect)]
    (run,) = json.loads(SarifReport().render(analysis_of(lines, 400)))["runs"]
    places = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]
    ]
    assert sorted(places) == ["file:///s/%3F.c", "file:///s/%FF.c"]
