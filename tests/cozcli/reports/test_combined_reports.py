"""What reports say of combined windows: lines that matter in the table, the others in a sentence."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from combined_evidence import analyse_records
from combined_profiles import Measurement, Program

from cozcli.analysis.estimate.shape import effect_at
from cozcli.analysis.rank.rest import MATTERS, divide
from cozcli.analysis.result import Analysis
from cozcli.reports.json_report import JsonReport
from cozcli.reports.page import PageProfile, render_page
from cozcli.reports.summary import describe_rest
from cozcli.reports.table_reports import CsvReport, MarkdownReport
from cozcli.reports.text import TextReport


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse_records(Measurement(dose=0.1).records(Program("serial", 60), 300))


def test_the_rest_is_summed_up_by_its_largest_possible_gain(analysis: Analysis) -> None:
    shown, rest = divide(analysis.results)
    assert len(shown) + len(rest) == len(analysis.results)
    assert len(rest) > 30
    highs = [effect.high for result in rest if (effect := effect_at(result, 0.25))]
    assert max(highs) < MATTERS
    assert not any(result.significant or result.marks for result in rest)
    text = describe_rest(rest)
    assert text.startswith(
        f"{len(rest)} other lines: none gains more than {100 * max(highs):.1f} % at 25 %, "
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
    assert render_page([PageProfile("x", analysis)], {}).count('"companion_experiments":') == len(
        analysis.results
    )


def test_what_is_read_from_the_fit_is_shown_as_such(analysis: Analysis) -> None:
    never_main = next(r for r in analysis.results if r.experiments == 0)
    one = replace(analysis, results=(never_main,))
    text = TextReport().render(one)
    row = next(line for line in text.splitlines() if line.lstrip().startswith("program.c:"))
    assert row.count("~") == 3
    assert f"0+{never_main.companion_windows}" in row


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
    assert describe_rest([]) == ""
