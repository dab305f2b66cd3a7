"""What targets are called: each function once, below the heading for its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from page_data import analysis_of
from synthetic import Line

from cozcli.analysis.result import Analysis
from cozcli.reports.table_reports import MarkdownReport
from cozcli.reports.targets import heading, target_name
from cozcli.reports.text import TextReport

FUNCTION = "std::vector<int> parse<int>(char const*)"


def analysis_with(*targets: tuple[str, str, str]) -> Analysis:
    """A result for each kind, location and function."""
    found = analysis_of([Line("/s/a.c:1", lambda s: s / 2)], 30)
    results = tuple(
        replace(found.results[0], target=kind, location=location, function=function)
        for kind, location, function in targets
    )
    return replace(found, results=results)


def columns(text: str) -> Sequence[str]:
    return next(line for line in text.splitlines() if "Slope" in line).split()


def test_functions_are_named_once_under_their_heading() -> None:
    analysis = analysis_with(
        ("function", f"/s/lib/x.so:{FUNCTION}", FUNCTION), ("function", "/s/a.c:main", "main")
    )
    text = TextReport().render(analysis)
    assert "Functions are below /s/" in text
    assert list(columns(text)[:2]) == ["Function", "Point"]
    row = next(line for line in text.splitlines() if line.startswith(" lib/x.so:"))
    assert row.split()[0] == "lib/x.so:parse<int>"
    assert row.count("parse") == 1
    assert "Making lib/x.so:parse<int> 25 % faster" in text
    assert "| Function | Point |" in MarkdownReport().render(analysis)


def test_lines_of_a_library_without_debug_information_do_not_repeat_the_function() -> None:
    analysis = analysis_with(("line", "/s/x.so:inner", "inner"), ("line", "/s/a.c:1", "work"))
    text = TextReport().render(analysis)
    assert list(columns(text)[:3]) == ["Line", "Function", "Point"]
    assert next(line for line in text.splitlines() if line.startswith(" x.so:")).count("inner") == 1


def test_where_no_function_is_known_there_is_no_column() -> None:
    analysis = analysis_with(("line", "/s/a.c:1", ""))
    assert list(columns(TextReport().render(analysis))[:2]) == ["Line", "Point"]
    assert "Function" not in MarkdownReport().render(analysis)


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        (["line"], "Line"),
        (["callpath", "callpath"], "Call path"),
        (["region"], "Region"),
        (["line", "wait"], "Target"),
        (["wait"], "Target"),
        ([], "Line"),
    ],
)
def test_headings(kinds: list[str], text: str) -> None:
    assert heading(analysis_with(*((kind, "/s/a.c:1", "f") for kind in kinds)).results) == text


def test_other_targets_keep_their_location() -> None:
    analysis = analysis_with(("callpath", "/s/a.c:1 < /s/b.c:2", "f"), ("region", "region x", ""))
    assert [target_name(result, "/s/") for result in analysis.results] == ["a.c:1 < b.c:2", "region x"]
