"""`coz compare --suite`: the file, what runs, and the statistics of many comparisons."""

import json
import math
import os
import random
from argparse import Namespace
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from cozcli import cli
from cozcli.compare.collect import Collected, Collector, Plan
from cozcli.compare.function_layouts import FunctionLayouts
from cozcli.compare.gate import gate
from cozcli.compare.metrics import METRICS
from cozcli.compare.result import Estimate
from cozcli.compare.suite import command
from cozcli.compare.suite.description import read_suite
from cozcli.compare.suite.report import SuiteReport, render
from cozcli.compare.suite.running import run_fixed, run_suite
from cozcli.compare.suite.statistics import CellResult, SuiteResult, evaluate, holm, within_subjects
from cozcli.compare.trial import Side, Trial
from cozcli.errors import CozError
from cozcli.launch.layout_plan import LayoutPlan

LOOP = "i=0; while [ $i -lt {times} ]; do i=$((i+1)); done"
TWO_TREATMENTS = '[treatments.some]\ntimes = "8000"\n[treatments.many]\ntimes = "32000"\n'
FILE = f"""{TWO_TREATMENTS}
[programs.loop]
command = ["/bin/sh", "-c", "{LOOP}"]
[programs.built]
build = "echo '{LOOP}' > {{treatment}}.sh; echo {{treatment}} >> built"
command = "/bin/sh {{treatment}}.sh"
"""


@pytest.fixture
def suite(tmp_path):
    """suite(TEXT): the path of a file with that text."""

    def write(text):
        path = tmp_path / "bench.toml"
        path.write_text(text)
        return str(path)

    return write


def compare(*arguments):
    """The command's status."""
    return cli.main(["compare", *arguments])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x", "cannot be read"),
        ("[treatments.a]\n[programs.p]\ncommand = 'true'", "two [treatments.NAME]"),
        ("[treatments.a]\n[treatments.b]", "no [programs.NAME]"),
        (TWO_TREATMENTS + "[programs.p]\nbuild = 'x'", "has no command"),
        (TWO_TREATMENTS + "[programs.p]\ncommand = ' '", "has no command"),
        (TWO_TREATMENTS + "[programs.p]\ncommand = '{flags}'", "{flags} in [programs.p] is in no treatment"),
        (TWO_TREATMENTS + "[programs.p]\ncommnd = 'x'", "commnd in [programs.p] is not known"),
        (TWO_TREATMENTS + "[programs.p]\ncommand = 3", "wrong type"),
        ("[suite]\nbaseline = 'c'\n" + TWO_TREATMENTS + "[programs.p]\ncommand = 'x'", "'c' is no treatment"),
    ],
)
def test_files_that_describe_no_suite(suite, text, reason, capsys):
    assert compare("--suite", suite(text)) == 2
    assert reason in capsys.readouterr().err


def test_the_baseline_comes_first_and_texts_are_filled_in(suite):
    text = "[suite]\nbaseline = 'many'\n" + TWO_TREATMENTS
    text += "[programs.p]\ncommand = '{program}-{seed} {treatment} {times} {x'\nenvironment = { A = '1' }"
    found = read_suite(suite(text))
    assert found.treatments == ["many", "some"]
    assert [list(cell.command) for cell in found.programs[0].cells] == [
        ["p-{seed}", "many", "32000", "{x"],
        ["p-{seed}", "some", "8000", "{x"],
    ]
    assert found.programs[0].cells[0].environment == {"A": "1"}


def test_a_suite_is_built_measured_and_judged(suite, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = suite(FILE)
    assert compare("--suite", path, "-n", "9", "--json", "--gate", "slower > 10%") == 1
    output = capsys.readouterr()
    assert "coz: gate: slower > 10%: loop with many" in output.err
    data = json.loads(output.out)
    assert (tmp_path / "built").read_text().split() == ["some", "many"]
    assert {(cell["program"], cell["treatment"]) for cell in data["comparisons"]} == {
        ("loop", "many"),
        ("built", "many"),
    }
    for cell in data["comparisons"]:
        assert cell["verdict"] == "slower"
        assert cell["p"] <= cell["p_holm"] < 0.05
    assert len(data["controls"]) == 2
    assert data["anova"][0]["treatment"] == "many"
    assert data["anova"][0]["ratio"] > 1.5
    assert len(data["programs"]["loop"]["blocks"]) == 9
    for form in ("--csv", "--markdown", "--metric=wall"):
        assert compare("--suite", path, "-n", "6", form) == 0
        assert "many" in capsys.readouterr().out
    assert compare("--suite", path, "-n", "6", "--metric=cpu", "--metric=wall", "--markdown") == 0
    assert capsys.readouterr().out.count("| ---") >= 2


def test_suites_refuse_other_programs_and_broken_builds(suite, capsys):
    assert compare("--suite", suite(FILE), "true", "---", "vs", "true") == 2
    assert "leave one of them out" in capsys.readouterr().err
    broken = TWO_TREATMENTS + "[programs.p]\nbuild = 'echo no rule >&2; exit 2'\ncommand = 'true'"
    assert compare("--suite", suite(broken)) == 2
    assert "ended with status 2; its last words: no rule" in capsys.readouterr().err
    with pytest.raises(CozError, match="cannot be read") as missing:
        read_suite("/no/such/file.toml")
    assert missing.value.problem.hint == "check the name."


def test_suites_refuse_options_that_they_have_no_use_for(suite, capsys):
    heap = TWO_TREATMENTS.replace("[treatments.many]", "[treatments.many]\nheap = 'zero'")
    for text, words, reason in (
        (FILE, ["--layout", "none", "--heap", "zero"], "--layout none moves nothing"),
        (heap + "[programs.p]\ncommand = 'true'", ["--layout", "none"], "or heap in [treatments.many]"),
        (FILE, ["--input", "x"], "leave out --input"),
        (FILE, ["--t-test"], "leave out --t-test"),
        (FILE, ["--profile", "x"], "leave out --profile"),
        (FILE, ["--line", "x"], "leave out --line"),
    ):
        with pytest.raises(SystemExit):
            compare("--suite", suite(text), *words)
        assert reason in capsys.readouterr().err


def test_pictures_and_pages_of_a_suite_are_where_the_user_is(suite, tmp_path, monkeypatch):
    path = suite(TWO_TREATMENTS + "[programs.p]\ncommand = 'true'")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert compare("--suite", path, "-n", "6", "--plot", "found.svg", "--html", "found.html") == 0
    assert {file.name for file in (tmp_path / "here").iterdir()} == {"found.svg", "found.html"}


def test_gates_with_a_limit_allow_for_the_number_of_comparisons(capsys):
    slower = Estimate(1.03, 1.02, 1.04, "inconclusive", 6, 0.03, 0.0, 0.01)
    options = Namespace(gate=[gate("slower > 1%")])
    for p, status in ((0.3, 0), (0.04, 1)):
        cells = [CellResult("p", "b", METRICS["cpu"], slower, p)]
        report = SuiteReport(
            "a", ["a", "b"], [METRICS["cpu"]], 0.01, None, {}, {}, {}, SuiteResult(cells, [], []), []
        )
        assert command._gates(options, report) == status


def test_gates_are_not_passed_by_a_suite_that_lacks_programs() -> None:
    block = (Trial(1, 1, 1, 0), Trial(1, 1, 1, 0))
    results = {name: Collected([block] * pairs, 0, True) for name, pairs in (("p", 6), ("q", 1))}
    report = SuiteReport(
        "a", ["a", "b"], [METRICS["cpu"]], 0.01, None, {}, {}, results, SuiteResult([], [], []), []
    )
    (doubt,) = [found for found in command._doubts(report, False, 1) if "q" in found.text]
    assert "nothing is told of q: fewer than 6 pairs" in doubt.text
    assert command._gates(Namespace(gate=[gate("slower")]), report) == 130
    assert command._gates(Namespace(gate=[]), report) == 0


class Elsewhere(NamedTuple):
    """Moves what it wants to."""

    def arrange(self, environment, layout):
        environment["COZ_HEAP_SEED"] = str(layout.seed)


def test_the_layout_of_the_files_keeps_what_treatments_do_to_the_heap(tmp_path):
    heap = Elsewhere()
    functions = FunctionLayouts(LayoutPlan("p", "/plan", tmp_path, 1, 1, 1, 0, 0, []))
    moved = [
        Side(
            name,
            ["/bin/sh", "-c", 'echo "${COZ_LAYOUT_PLAN-none} $COZ_HEAP_SEED" >> ' + str(tmp_path / "log")],
        )
        for name in ("a", "b", "a, again")
    ]
    moved = [side._replace(arrangers=(functions, heap)) for side in moved]
    plan = Plan(12, 0.01, METRICS["cpu"], 1, True, 1, os.devnull, False)
    programs, plans = {"p": moved, "q": [moved[0]._replace(arrangers=())]}, {"p": plan, "q": plan}
    assert run_fixed(programs, plans, 0, 1, lambda _: None) == {}
    found = run_fixed(programs, plans, 6, 1, lambda _: None)
    assert list(found) == ["p"]
    assert len(found["p"].blocks) == 6
    assert set((tmp_path / "log").read_text().splitlines()) == {"none 0"}


def test_the_layout_of_the_files_is_told_beside_the_others():
    generator = np.random.default_rng(3)
    results = collected(generator, 2, [0.05])
    plan = Plan(20, None, METRICS["cpu"], 1, True, 0, os.devnull, False)
    metrics = [METRICS["cpu"]]
    found = evaluate(results, ["a", "b"], metrics, 0.01)
    report = SuiteReport("a", ["a", "b"], metrics, 0.01, plan, {}, {}, results, found, ["p0"], found)
    for form in (None, "markdown"):
        text = render(report, form)
        assert text.count("1.05") >= 4
        assert "In each run functions of p0 lie in other places." in text
        again = render(report._replace(interval=500), form)
        assert "functions of p0 lie in other places, and move again every 500 ms." in again
        assert text.count("The one layout that the linker chose would have said:") == 1
    assert "functions lie in" in render(report._replace(moved=["p0", "p1"]), None)
    without = report._replace(moved=[], fixed=None)
    assert "functions" not in render(without, None)
    assert json.loads(render(without, "json"))["fixed_layout"] == []
    assert json.loads(render(report._replace(interval=500), "json"))["rerandomize"] == 0.5
    assert json.loads(render(report, "json"))["rerandomize"] is None


def test_holm_against_a_worked_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def collected(generator, programs, shifts, pairs=20, noise=0.01):
    """Results of programs whose treatments take exp(shift) times as long; the last side is a control."""
    found = {}
    for number in range(programs):
        blocks = []
        for _ in range(pairs):
            speed = generator.uniform(1, 2)
            times = [speed * math.exp(s + noise * generator.standard_normal()) for s in (0, *shifts, 0)]
            blocks.append(tuple(Trial(time, time, 1, 0) for time in times))
        found[f"p{number}"] = Collected(blocks, 0, False)
    return found


def test_in_suites_without_effects_false_verdicts_are_rare():
    generator = np.random.default_rng(1)
    false = 0
    for _ in range(100):
        results = collected(generator, 4, [0, 0], pairs=12)
        found = evaluate(results, ["a", "b", "c"], [METRICS["cpu"]], 0.001)
        false += any(cell.estimate.verdict in ("faster", "slower") for cell in found.cells)
    assert false <= 11  # of 100 with at most 5 %, more have a probability of 0.4 %


def test_an_effect_on_all_programs_is_found_and_equals_the_paired_t_test():
    generator = np.random.default_rng(2)
    results = collected(generator, 8, [-0.05, 0.0])
    found = evaluate(results, ["a", "b", "c"], [METRICS["cpu"]], 0.01)
    faster, same = found.treatments
    assert {cell.estimate.verdict for cell in found.cells if cell.treatment == "b"} == {"faster"}
    assert faster.p < 0.001 < same.p
    assert faster.low < math.exp(-0.05) < faster.high
    d = [math.log(cell.estimate.ratio) for cell in found.cells if cell.treatment == "b"]
    test = stats.ttest_1samp(d, 0)
    assert (faster.f, faster.p) == pytest.approx((test.statistic**2, test.pvalue))
    assert math.isnan(within_subjects("b", found.cells[:1]).p)


def test_precision_ends_each_program_as_soon_as_its_intervals_are_narrow(monkeypatch):
    generator = random.Random(1)
    noise = {"quiet": 0.005, "noisy": 0.05}

    def run_one(self, side, layout):
        time = math.exp(generator.gauss(0, noise[self._sides[side].name]))
        return Trial(time, time, 0, 0.0)

    monkeypatch.setattr(Collector, "_run", run_one)
    programs = {name: [Side(name, ["/bin/true"])] * 3 for name in noise}
    plan = Plan(200, 0.02, METRICS["cpu"], 1, True, 0, os.devnull, False)
    found, _ = run_suite(programs, dict.fromkeys(programs, plan), 1, lambda text: None)
    pairs = {name: len(each.blocks) for name, each in found.items()}
    assert pairs["quiet"] == 12 < pairs["noisy"] < 200
