"""The sentence above a table and the marks in it agree, in every combination."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from synthetic import Line, Model, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.result import CurvePoint, Fit, LineResult, Mark
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records
from cozcli.reports.annotate import AnnotateReport
from cozcli.reports.json_report import JsonReport
from cozcli.reports.summary import NOTHING_CERTAIN, NOTHING_CERTAIN_COMBINED, sentence
from cozcli.reports.table_reports import MarkdownReport
from cozcli.reports.text import TextReport

LEVELS_OFF = (0.0, 0.2, 0.3, 0.3, 0.3)


ANALYSIS = analyse(
    Profile(
        collect_runs(
            read_records(
                to_bytes(Model([Line("/s/a.c:1", lambda s: 0.4 * s)]).records(12)).splitlines(keepends=True),
                ReadProblems(),
            ),
            "x",
        ),
        ["x"],
    )
)


def result_of(
    slope: float, *marks: Mark, star: bool = True, contention: bool = False, effects: tuple[float, ...] = ()
) -> LineResult:
    """A result of these properties, whether or not an analysis would find them together."""
    shown = effects or tuple(slope * s for s in (0, 0.25, 0.5, 0.75, 1))
    curve = tuple(CurvePoint(i / 4, e, e - 0.01, e + 0.01, 9) for i, e in enumerate(shown))
    found = ANALYSIS.results[0]
    end = 0.04 if shown[-1] == slope else 0.01
    fit = Fit(1, (0.0, 1.0), (0.0, slope), (0.0, slope - end), (0.0, slope + end))
    return replace(
        found, slope=slope, significant=star, contention=contention, curve=curve, marks=marks, fit=fit
    )


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (result_of(0.4, Mark.FEW_DATA), "those that are certain are marked “few data”."),
        (result_of(0.4, Mark.LOAD, Mark.NOT_STEADY), "are marked “limited by load”."),
        (result_of(0.4, Mark.LOAD, Mark.FEW_DATA), "are marked “few data” or “limited by load”."),
        (result_of(-0.4, Mark.UNSTABLE, contention=True), "are marked “unstable queue”."),
        # The slope is not certain, but something else that the marks say is.
        (result_of(0.0, Mark.LOAD, star=False, contention=True), "are marked “limited by load”."),
        (
            result_of(0.2, star=False, effects=LEVELS_OFF),
            "50 % faster would make request 30 % ± 1 faster; beyond",
        ),
        (
            result_of(0.0, star=False, contention=True, effects=(0.0, 0.0, 0.0, -0.1, -0.2)),
            "100 % faster would make request 20 % ± 1 slower: contention.",
        ),
        # Doubts go with the sentence.
        (result_of(0.4, Mark.MAYBE_LOAD), "10 % ± 1 faster (but: perhaps limited by load)."),
        (result_of(0.4, Mark.NOT_STEADY), "10 % ± 1 faster (but: not settled)."),
    ],
)
def test_the_summary_denies_no_star_and_no_mark(result: LineResult, words: str) -> None:
    analysis = replace(ANALYSIS, results=(result,))
    shown = [TextReport().render(analysis), MarkdownReport().render(analysis), JsonReport().render(analysis)]
    for text in shown:
        text = json.loads(text)["summary"][0] if text.startswith("{") else text
        assert words.replace("\n", "") in text
        assert NOTHING_CERTAIN not in text
    assert bool(AnnotateReport().render(analysis)) == (result.is_trusted and result.significant)


def test_a_sentence_quotes_the_fitted_curve_unless_it_turns() -> None:
    raw = (0.0, 0.11, 0.2, 0.3, 0.4)  # one point by chance
    fitted = result_of(0.4, effects=raw)
    assert " 10 % ± 1 faster." in sentence(fitted, "a.c:1", "request")
    # Of a queue that did not settle, only measured points have intervals that say so.
    unsteady = result_of(0.4, Mark.NOT_STEADY, effects=raw)
    assert " 11 % ± 1 faster (but" in sentence(unsteady, "a.c:1", "request")
    # The points of combined windows are the fit's already.
    assert " 11 % ± 1 faster." in sentence(replace(fitted, is_combined=True), "a.c:1", "request")


def test_what_may_be_chance_is_called_so_whatever_its_marks() -> None:
    for mark in Mark:
        analysis = replace(ANALYSIS, results=(result_of(0.0, mark, star=False, effects=(0.0,) * 5),))
        assert NOTHING_CERTAIN in TextReport().render(analysis)
        combined = replace(analysis, results=(replace(analysis.results[0], is_combined=True),))
        assert NOTHING_CERTAIN_COMBINED in TextReport().render(combined)


@pytest.mark.parametrize(
    ("low", "high", "words", "cell"),
    [
        (0.12, 0.5, "between 12 and 50 % faster (but: too few cores)", "+45.0 [+12, +50]"),
        (-0.04, 0.5, "between 4 % slower and 50 % faster", "+45.0 [-4, +50]"),
        (0.4, 0.5, "45 % ± 5 faster", "+45.0 ±5.0"),
    ],
)
def test_where_only_bounds_are_known_they_are_said(low: float, high: float, words: str, cell: str) -> None:
    result = replace(
        result_of(0.9, Mark.CORES),
        curve=(CurvePoint(0.0, 0.0, 0.0, 0.0, 9), CurvePoint(0.5, 0.45, low, high, 9)),
        fit=Fit(1, (0.0,), (0.0,), (0.0,), (0.0,)),
    )
    assert words in sentence(result, "a.c:1", "request")
    shown = TextReport().render(replace(ANALYSIS, results=(result,)))
    assert cell in shown
    assert ("rely on the ends of skewed ones only" in shown) == ("[" in cell)


def test_losses_between_bounds_are_told_as_losses() -> None:
    result = replace(
        result_of(-0.9, Mark.CORES),
        curve=(CurvePoint(0.0, 0.0, 0.0, 0.0, 9), CurvePoint(0.5, -0.2, -0.5, -0.12, 9)),
        fit=Fit(1, (0.0,), (0.0,), (0.0,), (0.0,)),
    )
    assert "between 12 and 50 % slower" in sentence(result, "a.c:1", "request")


def test_a_wait_gets_shorter() -> None:
    wait = replace(result_of(0.4), target="wait", location="wait /s/a.c:1")
    words = sentence(wait, "wait a.c:1", "request")
    assert words.startswith("Making the wait a.c:1 ")
    assert "25 % shorter would make request 10 % ± 1 faster." in words
    note = AnnotateReport().render(replace(ANALYSIS, results=(wait,)))
    assert note.startswith("/s/a.c:1: note: Making the wait here ")
