"""Callers and instances of lines, from the counts of several runs."""

from __future__ import annotations

import pytest

from cozcli.analysis.input.callers import surroundings_of_lines
from cozcli.analysis.result import Caller, Instance, Surroundings
from cozcli.profile.profile import Run
from cozcli.profile.records import CallerCount, RunRecord, SamplesRecord


def run(*callers: CallerCount) -> Run:
    return Run(RunRecord(), "", samples=SamplesRecord(run_time=1, callers=callers))


def test_runs_are_added_up_and_the_hottest_comes_first() -> None:
    found = surroundings_of_lines(
        [
            run(CallerCount("a:1", "f", "b:2", "g", 2), CallerCount("a:1", "f", "b:3", "h", 4)),
            run(CallerCount("a:1", "f", "b:2", "g", 4)),
        ]
    )
    assert found["a:1"].callers == (
        Caller("b:2", "g", pytest.approx(0.6)),
        Caller("b:3", "h", pytest.approx(0.4)),
    )
    assert found["a:1"].instances == ()


def test_instances_are_told_where_there_are_several() -> None:
    found = surroundings_of_lines(
        [run(CallerCount("a:1", "f<int>", "b:2", "g", 3), CallerCount("a:1", "f<long>", "b:2", "g", 9))]
    )
    assert found["a:1"].instances == (Instance("f<long>", 0.75), Instance("f<int>", 0.25))
    assert found["a:1"].callers == (Caller("b:2", "g", 1.0),)


def test_a_line_without_callers_in_scope_has_none() -> None:
    found = surroundings_of_lines([run(CallerCount("a:1", "main", "", "", 50))])
    assert found["a:1"] == Surroundings()


def test_callers_out_of_scope_have_their_share() -> None:
    found = surroundings_of_lines(
        [run(CallerCount("a:1", "f", "", "", 5), CallerCount("a:1", "f", "b:2", "g", 15))]
    )
    assert found["a:1"].callers == (Caller("b:2", "g", 0.75), Caller("", "", 0.25))


def test_few_samples_say_nothing() -> None:
    assert surroundings_of_lines([run(CallerCount("a:1", "f", "b:2", "g", 4))]) == {}
    assert surroundings_of_lines([Run(RunRecord(), "")]) == {}
