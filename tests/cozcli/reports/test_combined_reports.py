"""What reports say of combined windows: lines that matter in the table, the others in a sentence."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from combined_evidence import analyse_records
from combined_profiles import Measurement, Program
from synthetic import to_bytes

from cozcli.analysis.estimate.shape import effect_at
from cozcli.analysis.rank.rest import MATTERS, divide
from cozcli.analysis.result import Analysis, Mark
from cozcli.cli import build_parser
from cozcli.reports.figure import write_figure
from cozcli.reports.json_report import JsonReport
from cozcli.reports.page import PageProfile, render_page
from cozcli.reports.reading import MODELLED, OF_A_PICTURE, Reading, reading_of
from cozcli.reports.summary import describe_rest
from cozcli.reports.table_reports import CsvReport, MarkdownReport
from cozcli.reports.text import TextReport


def data_of(page: str) -> Any:
    found = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.S)
    assert found
    return json.loads(found[1])


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse_records(Measurement(dose=0.1).records(Program("serial", 60), 300))


def test_the_rest_is_summed_up_by_its_largest_possible_gain(analysis: Analysis) -> None:
    shown, rest = divide(analysis.results)
    assert len(shown) + len(rest) == len(analysis.results)
    assert len(rest) > 30
    highs = [effect.high for result in rest if (effect := effect_at(result, 0.25))]
    assert max(highs) < MATTERS
    assert not any(result.significant or {*result.marks} - {Mark.FEW_DATA} for result in rest)
    text = describe_rest(rest)
    assert text.startswith(
        f"{len(rest)} other lines: none gains more than {math.ceil(1000 * max(highs)) / 10:.1f} % at 25 %, "
    )
    assert text.endswith(" % (95 % intervals).")


@pytest.mark.parametrize("report", [TextReport(), TextReport(100), MarkdownReport()])
def test_tables_have_the_lines_that_matter_and_the_sentence(
    analysis: Analysis, report: TextReport | MarkdownReport
) -> None:
    shown, rest = divide(analysis.results)
    text = re.sub(r"\s+", " ", report.render(analysis).replace("\\", ""))
    assert describe_rest(rest) in text
    for result in shown:
        assert result.location.rpartition("/")[2] in text
    for result in rest:
        assert f"{result.location.rpartition('/')[2]} " not in text


def test_json_csv_and_page_have_all_lines(analysis: Analysis) -> None:
    document = json.loads(JsonReport().render(analysis))
    assert document["pairs"] == []
    assert len(document["results"]) == len(analysis.results)
    for result in document["results"]:
        assert {0.25, 0.5, 0.75} <= {point["speedup"] for point in result["curve"]}
        assert all(point["effect"] <= result["bound"] * point["speedup"] + 1e-9 for point in result["curve"])
        assert result["companion_experiments"] >= 0
    assert CsvReport().render(analysis).count("\n") == len(analysis.results) + 1
    shown = data_of(render_page([PageProfile("x", analysis)], {}))["profiles"][0]["results"]
    assert [result["location"] for result in shown] == [result.location for result in analysis.results]


def test_what_is_read_from_the_fit_is_shown_as_such(analysis: Analysis) -> None:
    never_main = next(r for r in analysis.results if r.experiments == 0)
    one = replace(analysis, results=(never_main,))
    text = TextReport().render(one)
    row = next(line for line in text.splitlines() if line.lstrip().startswith("program.c:"))
    assert row.count("~") == 3
    assert f"0+{never_main.companion_windows}" in row


def test_the_page_says_what_curves_rest_on(analysis: Analysis) -> None:
    shown = data_of(render_page([PageProfile("x", analysis)], {}))
    assert shown["readings"].keys() == {"combined", "companion"}
    for result, of_page in zip(analysis.results, shown["profiles"][0]["results"], strict=True):
        is_main = any(point.experiments > 0 for point in result.curve if point.speedup > 0)
        assert of_page["reading"] == ("combined" if is_main else "companion")
        assert of_page["rests_on"].startswith(f"{result.experiments} experiments as the main target")
        assert of_page["rests_on"].endswith(f", {result.companion_windows} as a companion")
        assert {0.25, 0.5, 0.75} <= set(of_page["curve"]["s"])
        assert of_page["told"][0] == 0.25


def test_what_is_measured_one_at_a_time_is_read_as_before() -> None:
    analysis = analyse_records(Measurement(dose=0.0).records(Program("serial", 3), 100))
    shown = data_of(render_page([PageProfile("x", analysis)], {}))
    assert shown["readings"].keys() == {"measured"}
    assert "Points are what was measured" in shown["readings"]["measured"]
    first = shown["profiles"][0]["results"][0]
    assert first["rests_on"] == f"{analysis.results[0].experiments} experiments"


def test_pictures_have_the_lines_that_matter_dotted_where_never_main(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    records = Measurement(dose=0.1, mains=0.5).records(Program("serial", 60), 160)
    (tmp_path / "p.coz").write_bytes(to_bytes(records))
    monkeypatch.chdir(tmp_path)
    shown, rest = divide(analyse_records(records).results)
    never = [result for result in shown if reading_of(result) is Reading.COMPANION]
    assert rest
    assert 0 < len(never) < len(shown)
    options = build_parser("plot").parse_args(["plot", "p.coz", "-o", "p.svg"])
    assert options.execute(options) == 0
    svg = (tmp_path / "p.svg").read_text()
    for result in shown:
        assert f">{result.location.rpartition('/')[2]}<" in svg
    assert svg.count("stroke-dasharray") == len(never)
    assert f"; {len(shown)} of {len(shown) + len(rest)} curves." in svg
    assert OF_A_PICTURE in svg
    assert f"coz: not drawn: {describe_rest(rest)}\n" in capsys.readouterr().err


def test_points_that_cores_forbid_to_measure_are_told_from_measured_ones(
    analysis: Analysis, tmp_path: Path
) -> None:
    main, never = (
        next(result for result in analysis.results if reading_of(result) is reading)
        for reading in (Reading.COMBINED, Reading.COMPANION)
    )
    modelled = [replace(result, is_modelled=True) for result in (main, never)]
    assert [reading_of(result) for result in modelled] == [Reading.MODELLED, Reading.MODELLED]
    for result, is_said in ((main, False), (modelled[0], True)):
        write_figure(replace(analysis, results=(result,)), tmp_path / "p.svg")
        assert (MODELLED in (tmp_path / "p.svg").read_text()) == is_said


def test_a_loss_is_in_the_sentence_where_it_may_be_larger(analysis: Analysis) -> None:
    _, rest = divide(analysis.results)
    sinking = [
        replace(
            result,
            curve=tuple(
                replace(point, effect=-0.002, low=-0.008, high=0.001) if point.speedup > 0 else point
                for point in result.curve
            ),
        )
        for result in rest
    ]
    assert "none gains more than 0.1 % at 25 %, none costs more than 0.8 %, tog" in describe_rest(sinking)
    only = describe_rest(sinking[:1])
    assert only == "1 other line: it gains at most 0.1 % and costs at most 0.8 % at 25 % (95 % interval)."
    assert describe_rest([]) == ""
