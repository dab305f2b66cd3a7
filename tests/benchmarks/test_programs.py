"""The ground-truth programs themselves: each is run for a moment, and nothing is timed."""

from __future__ import annotations

import re
import subprocess

import pytest
from ground_truth import programs
from ground_truth.programs import PROGRAMS, Program

SECONDS = 0.2
#: A line and its length in microseconds, where the program declares it.
LENGTH = re.compile(r'Line \w+_line{"(\w+)", (\d+)}')


@pytest.fixture(params=PROGRAMS, ids=lambda program: program.name)
def program(request: pytest.FixtureRequest) -> Program:
    chosen: Program = request.param
    if not chosen.binary.exists():
        pytest.skip("not built: make bench-programs")
    return chosen


def test_every_source_is_listed() -> None:
    assert {path.stem for path in programs.SOURCES.glob("*.cpp")} == {
        program.source.stem for program in PROGRAMS
    }


def test_marks_stand_where_the_loop_begins() -> None:
    # There samples fall; formatting may move a mark to the loop's second line.
    for program in PROGRAMS:
        marked = [line for line in program.source.read_text().splitlines() if "// LINE" in line]
        assert len(marked) == list(program.kinds.values()).count("line")
        assert all("for (" in line for line in marked), program.name


def test_runs_and_shortens_the_line_it_is_told_to(program: Program) -> None:
    lengths = {line: 3000 * int(number) for line, number in LENGTH.findall(program.source.read_text())}
    assert list(lengths) == list(program.lines)
    line = next(iter(lengths))
    outcome = programs.run(program, SECONDS, {line: 75})
    assert outcome.iterations == lengths | {line: lengths[line] // 4}
    assert outcome.visits > 0
    assert outcome.seconds > 0
    assert (outcome.latency is not None) == program.latency
    assert list(outcome.quantiles) == sorted(outcome.quantiles)
    assert (len(outcome.quantiles) == 3) == (program.name == "latency_tail")


def test_has_one_progress_point(program: Program) -> None:
    assert program.point


def test_slices_alternate_and_come_back_to_the_whole_length(program: Program) -> None:
    cases = [(line, 75) for line in program.lines]
    outcome = programs.run_slices(program, 1.0, 0.04, cases)
    assert {one.case for one in outcome.slices[::2]} == {-1}
    assert all(one.case >= 0 for one in outcome.slices[1::2])
    assert all(one.visits > 0 for one in outcome.slices)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--speedup", "nothing=10"],
        ["--speedup", "major=101"],
        ["--speedup"],
        ["--seconds", "0"],
        ["--slices", "1"],
    ],
)
def test_wrong_arguments_are_refused(arguments: list[str]) -> None:
    binary = Program("serial").binary
    if not binary.exists():
        pytest.skip("not built: make bench-programs")
    assert subprocess.run([binary, *arguments], capture_output=True).returncode == 2
