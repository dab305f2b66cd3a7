"""What reports say of pairs."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from combined_evidence import analyse_records
from combined_profiles import SHAPES, Measurement, Program

from cozcli.analysis.check.pairs import trusted_pairs
from cozcli.analysis.result import Analysis, Mark, Pair
from cozcli.reports.json_report import JsonReport
from cozcli.reports.pairs import describe_pairs
from cozcli.reports.table_reports import MarkdownReport
from cozcli.reports.text import TextReport


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    program = Program("join", 20)
    program.work[:] = 0.001
    program.work[:2] = 1.2, 1.0
    program.work /= SHAPES["join"](program.work)
    return analyse_records(Measurement(pairs=0.25).records(program, 300))


def pair(effect: float, *alone: float) -> Pair:
    names = ("/src/a.c:10", "/src/b.c:20")
    return Pair(names, ("f", "g"), "p", "throughput", 0.5, effect, effect - 0.03, effect + 0.03, alone, 14)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("effect", "alone", "words"),
    [
        (
            0.12,
            (0.1, 0.01),
            "b.c:20 helps only once a.c:10 is faster, too: both by 50 % save 12 % ± 3 more than",
        ),
        (
            0.12,
            (0.1, 0.09),
            "b.c:20 helps more once a.c:10 is faster, too: both by 50 % save 12 % ± 3 more than",
        ),
        (0.12, (0.01, 0.0), "a.c:10 and b.c:20 help only together: both by 50 % save 12 % ± 3 more than"),
        (
            -0.12,
            (0.2, 0.2),
            "a.c:10 and b.c:20 save the same time: both by 50 % save 12 % ± 3 less than the sum of",
        ),
    ],
)
def test_sentences(analysis: Analysis, effect: float, alone: tuple[float, float], words: str) -> None:
    one = replace(analysis, pairs=(pair(effect, *alone),))
    (sentence,) = describe_pairs(one, lambda location: location.rpartition("/")[2], str)
    assert sentence == f"{words} each alone."


def test_points_are_named_where_there_are_several(analysis: Analysis) -> None:
    other = replace(analysis.results[0], point="p")
    one = replace(analysis, results=(*analysis.results, other), pairs=(pair(0.12, 0.1, 0.01),))
    assert describe_pairs(one, str, str)[0].endswith("more than each alone, for p.")


@pytest.mark.parametrize("report", [TextReport(), TextReport(90), MarkdownReport()])
def test_reports_have_a_sentence(analysis: Analysis, report: TextReport | MarkdownReport) -> None:
    text = re.sub(r"\s+", " ", report.render(analysis).replace("\\", ""))
    assert "program.c:2 helps only once program.c:1 is faster, too: both by 50 % save" in text
    assert "helps only" not in report.render(replace(analysis, pairs=()))


def test_json_has_pairs(analysis: Analysis) -> None:
    (found,) = json.loads(JsonReport().render(analysis))["pairs"]
    assert found["locations"] == ["/src/program.c:1", "/src/program.c:2"]
    assert (found["point"], found["kind"], found["speedup"]) == ("request", "throughput", 0.5)
    assert found["low"] < 0.33 < found["high"]
    assert found["effect"] == pytest.approx(0.33, abs=0.05)
    assert found["alone"][0] > found["alone"][1]
    assert found["experiments"] > 4


@pytest.mark.parametrize(("mark", "told"), [(None, 1), (Mark.PHASES, 1), (Mark.CORES, 0), (Mark.LOAD, 0)])
def test_no_pair_is_told_of_a_target_whose_result_is_doubted(
    analysis: Analysis, mark: Mark | None, told: int
) -> None:
    first, second = (replace(result, marks=()) for result in analysis.results[:2])
    curve = [SimpleNamespace(speedup=0.5, effect=0.1)]
    estimates = {
        number: SimpleNamespace(target=result, points=curve) for number, result in enumerate((first, second))
    }
    found = SimpleNamespace(pair=(0, 1), effect=0.12, low=0.1, high=0.14, windows=9)
    point = SimpleNamespace(pairs=[found], estimates=estimates, key=(first.point, first.kind))
    marked = replace(second, marks=(mark,) if mark else ())
    assert len(trusted_pairs([point], [first, marked])) == told  # type: ignore[list-item]
