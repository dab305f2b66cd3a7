"""Layouts of functions in the command line: what is planned, tested, told. The library itself is tested by
tests/system/test_layouts.py.
"""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from cozcli import cli
from cozcli.compare import explain, function_layouts, layout_command
from cozcli.compare.design import Layout
from cozcli.compare.function_layouts import (
    FunctionLayouts,
    function_layouts_of,
    in_one_layout,
    with_functions_moved,
)
from cozcli.compare.self_test import Difference, SelfTest, self_test
from cozcli.compare.trial import FailedRunError, Side, environment_of, run
from cozcli.errors import CozError, Problem
from cozcli.launch.layout_plan import LayoutPlan, LayoutReport, Pinned, Unit
from cozcli.launch.runtime_library import preload

PINNED = [
    Pinned("blake3", 0x401000, 600, "holds bytes that are no instruction"),
    Pinned("", 0x400100, 206, "…"),
]
PLAN = LayoutPlan(
    "/bin/p", "/cache/p.cozlayout", Path("/lib/libcoz-layout.so"), 10_000, 9_199, 25, 2, 2, PINNED
)
GOOD = SelfTest(10, True, [], 0, 0.00152)


@pytest.fixture
def planned(monkeypatch):
    """planned(PLAN, TEST): what the helper and the runs say."""

    def use(plan, test):
        def answer(_, interval):
            if isinstance(plan, Exception):
                raise plan
            return plan._replace(interval=interval)

        monkeypatch.setattr(function_layouts, "plan_layout", answer)
        monkeypatch.setattr(function_layouts, "self_test", lambda *_: test)

    return use


def sides(**changes):
    return [Side(name, [f"/bin/{name}"], **changes) for name in "AB"]


def test_both_sides_get_other_places_in_each_run(planned):
    planned(PLAN, GOOD)
    moved, stay = with_functions_moved(sides(), "auto", 1, "/dev/null")
    assert stay is None
    for side in moved:
        assert function_layouts_of(side) == FunctionLayouts(PLAN)
        found = environment_of(side, Layout(0, seed=77))
        assert (found["COZ_LAYOUT_PLAN"], found["COZ_LAYOUT_SEED"]) == (PLAN.path, "77")
        assert found["LD_PRELOAD"].endswith("libcoz-layout.so")
        assert "COZ_LAYOUT_PLAN" not in environment_of(side, None)


@pytest.mark.parametrize(
    ("plan", "test", "reason"),
    [
        (
            CozError(Problem("p is linked statically.", "link it dynamically.")),
            GOOD,
            "p is linked statically",
        ),
        (PLAN._replace(movable_bytes=8_949), GOOD, "only 89 % of the code"),
        (
            PLAN,
            GOOD._replace(differences=[Difference(5, "was killed by SIGSEGV")]),
            "(seed 5): was killed by",
        ),
        (PLAN, GOOD._replace(unmoved=1), "was not loaded into /bin/A"),
    ],
)
def test_auto_says_why_functions_stay_and_runtime_insists(planned, plan, test, reason):
    planned(plan, test)
    found, stay = with_functions_moved(sides(), "auto", 1, "/dev/null")
    assert found == sides()
    assert stay is not None
    assert reason in stay.text
    assert "may come from the layout" in stay.hint
    with pytest.raises(CozError, match=reason.replace("(", r"\(").replace(")", r"\)")):
        with_functions_moved(sides(), "runtime", 1, "/dev/null")


def test_a_program_that_cannot_be_started_is_told(monkeypatch):
    monkeypatch.setattr(function_layouts, "plan_layout", lambda *_: PLAN)
    with pytest.raises(CozError, match="/nothing cannot be started"):
        with_functions_moved([Side("A", ["/nothing"])], "runtime", 1, "/dev/null")


def test_builds_are_layouts_of_their_own(planned):
    planned(CozError(Problem("not asked", "")), GOOD)
    built = sides(builds=["a1", "a2"])
    assert with_functions_moved(built, "auto", 1, "/dev/null") == (built, None)
    assert with_functions_moved(built, "link", 1, "/dev/null") == (built, None)
    assert with_functions_moved(sides(), "none", 1, "/dev/null") == (sides(), None)
    with pytest.raises(CozError, match="linked in several orders"):
        with_functions_moved(sides(), "link", 1, "/dev/null")
    with pytest.raises(CozError, match="layouts already"):
        with_functions_moved(built, "runtime", 1, "/dev/null")


def test_several_builds_of_one_side_only_are_told(planned):
    planned(PLAN, GOOD)
    a, b = sides()
    mixed = [a._replace(builds=["a1", "a2"]), b]
    moved, stay = with_functions_moved(mixed, "auto", 1, "/dev/null")
    assert moved == mixed
    assert "functions of B stay where the linker put them" in stay.text


def test_a_comparison_in_one_layout_keeps_what_is_done_to_the_heap(monkeypatch):
    class Heap:
        def arrange(self, environment, layout):
            environment["HEAP"] = str(layout.seed)
            preload(environment, Path("/lib/libcoz-heap.so"))

    monkeypatch.setenv("LD_PRELOAD", "/lib/theirs.so")
    side = in_one_layout(Side("A", ["/bin/A"], {"X": "1"}, arrangers=[Heap(), FunctionLayouts(PLAN)]))
    found = environment_of(side, None)
    assert (found["X"], found["HEAP"]) == ("1", "0")
    assert found["LD_PRELOAD"] == "/lib/theirs.so:/lib/libcoz-heap.so"
    assert "COZ_LAYOUT_PLAN" not in found


def test_a_library_that_gives_up_says_why(tmp_path):
    script = tmp_path / "program"
    said = "coz-layout: the functions of this program cannot be moved: it is too large"
    script.write_text(f'#!/bin/sh\n[ -z "$COZ_LAYOUT_SEED" ] || {{ echo "{said}" >&2; exit 125; }}\n')
    script.chmod(0o755)
    with pytest.raises(CozError, match="program cannot be moved: it is too large") as caught:
        self_test(PLAN._replace(library=tmp_path / "none.so"), [str(script)], [1])
    assert "something else" not in caught.value.problem.text


def test_functions_that_move_again_within_a_run(planned):
    planned(PLAN, GOOD)
    moved, stay = with_functions_moved(sides(), "auto", 1, "/dev/null", 500)
    assert stay is None
    assert environment_of(moved[0], Layout(0, seed=7))["COZ_LAYOUT_INTERVAL"] == "500"
    moved, _ = with_functions_moved(sides(), "auto", 1, "/dev/null")
    assert "COZ_LAYOUT_INTERVAL" not in environment_of(moved[0], Layout(0, seed=7))


@pytest.mark.parametrize("mode", ["none", "link"])
def test_rerandomize_wants_functions_that_move(planned, mode):
    planned(PLAN, GOOD)
    with pytest.raises(CozError, match=f"--layout {mode} leaves them in place"):
        with_functions_moved(sides(), mode, 1, "/dev/null", 500)


def test_rerandomize_insists(planned):
    planned(PLAN, GOOD._replace(unmoved=1))
    with pytest.raises(CozError, match="was not loaded into /bin/A"):
        with_functions_moved(sides(), "auto", 1, "/dev/null", 500)
    with pytest.raises(CozError, match="layouts already"):
        with_functions_moved(sides(builds=["a1", "a2"]), "auto", 1, "/dev/null", 500)


def test_check_in_words():
    text = layout_command.as_text(PLAN, GOOD)
    assert "91.99 % of 10,000 bytes of code can be moved, 25 functions." in text
    assert "2 functions of these run at the original place" in text
    assert "0x401000 blake3: 600 bytes; it holds bytes that are no instruction" in text
    assert "0x400100 (no name)" in text
    assert "10 runs in random layouts: same status and output as the plain run." in text
    assert "took 1.5 ms at each start" in text
    differs = GOOD._replace(differences=[Difference(5, "it printed something else")])
    assert "seed 5: it printed something else" in layout_command.as_text(PLAN, differs)
    assert "same status as" in layout_command.as_text(PLAN, GOOD._replace(output_repeats=False))
    whole = PLAN._replace(pinned_count=0, pinned=[], kept_entries=0)
    assert "stay" not in layout_command.as_text(whole, None)


def test_check_in_json():
    found = json.loads(layout_command.as_json(PLAN, GOOD))
    assert found["movable"] == 0.9199
    assert found["pinned"][0] == {
        "function": "blake3",
        "address": 0x401000,
        "bytes": 600,
        "reason": "holds bytes that are no instruction",
    }
    assert found["self_test"]["passed"]
    assert json.loads(layout_command.as_json(PLAN, None))["self_test"] is None


@pytest.mark.parametrize(
    ("fails", "status_repeats"), [("= 2", True), ("-gt 2", False)], ids=["a moved run", "two plain runs"]
)
def test_a_program_that_fails_at_times_is_not_accused(tmp_path, fails, status_repeats):
    script = tmp_path / "program"
    log = tmp_path / "log"
    first = '[ -n "$COZ_LAYOUT_SEED" ] && exit 1' if not status_repeats else ""
    script.write_text(f"#!/bin/sh\necho >> {log}\n[ $(wc -l < {log}) {fails} ] && exit 2\n{first}\nexit 0\n")
    script.chmod(0o755)
    found = self_test(PLAN._replace(library=tmp_path / "none.so"), [str(script)], [7])
    assert not found.differences
    assert found.status_repeats == status_repeats


def test_a_replayed_program_has_the_signals_of_a_shell(monkeypatch):
    seen = []
    monkeypatch.setattr(layout_command, "plan_layout", lambda *_: PLAN)
    monkeypatch.setattr(layout_command, "_fix_addresses", lambda: True)
    monkeypatch.setattr(
        os, "execve", lambda *_: seen.extend(map(signal.getsignal, (signal.SIGPIPE, signal.SIGXFSZ)))
    )
    before = {number: signal.getsignal(number) for number in (signal.SIGPIPE, signal.SIGXFSZ)}
    try:
        cli.main(["layout", "replay", "--seed", "1", "true"])
    finally:
        for number, action in before.items():
            signal.signal(number, action)
    assert seen == [signal.SIG_DFL, signal.SIG_DFL]


def test_the_self_test_sees_what_differs(tmp_path):
    """A script stands in for a program: the shell has no plan, so nothing is moved."""
    script = tmp_path / "program"
    script.write_text('#!/bin/sh\necho "out $COZ_LAYOUT_SEED"\nexit ${COZ_LAYOUT_SEED:-0}\n')
    script.chmod(0o755)
    plan = PLAN._replace(library=tmp_path / "none.so")
    told: list[str] = []
    found = self_test(plan, [str(script)], [0, 3], progress=told.append)
    assert told == [
        "running the program as it is",
        "running it in layout 1 of 2",
        "running it in layout 2 of 2",
    ]
    assert [each.seed for each in found.differences] == [0, 3]
    assert found.differences[0].what == "it printed something else"
    assert found.differences[1].what.startswith("ended with status 3")
    assert found.output_repeats
    assert not found.passed
    assert found.start is None
    assert found.unmoved == 2
    script.write_text("#!/bin/sh\necho $$\nkill -9 $$\n")
    found = self_test(plan, [str(script)], [1])
    assert not found.output_repeats
    assert not found.differences


MOVED = "process {} moved 9 units to 0x7f00, 1 layouts, in {} ns, processor {} ns\n"


@pytest.mark.parametrize(
    ("text", "report"),
    [
        ("", LayoutReport()),
        (MOVED.format(12, 3_000_000, 2_000_000), LayoutReport(1, 0, False, 0.003, 0.002)),
        # A launcher becomes another program.
        (MOVED.format(12, 10**6, 10**6) + "process 12 other\n", LayoutReport(1, 1, True, 0.001, 0.001)),
        # A program starts others, and itself.
        (
            MOVED.format(12, 10**6, 10**6) + "process 13 other\n" + MOVED.format(14, 2 * 10**6, 2 * 10**6),
            LayoutReport(2, 1, False, 0.001, 0.003),
        ),
    ],
)
def test_what_the_library_reports(text, report):
    found = LayoutReport.read("unit 3 lies at 0x7f10\n" + text)
    assert found._replace(seconds=0, processor_seconds=0) == report._replace(seconds=0, processor_seconds=0)
    assert (found.seconds, found.processor_seconds) == pytest.approx(
        (report.seconds, report.processor_seconds)
    )


def test_the_time_for_moving_functions_is_not_the_programs(tmp_path):
    """A script stands in for a program whose library says that moving took 0.2 s, and 1 µs of a processor."""
    side = program_that_reports(tmp_path, seconds=0.2, processor_seconds=1e-6)
    begin = time.monotonic()
    moved = run(side, Layout(0))
    assert 0.1 <= moved.wall <= time.monotonic() - begin - 0.2
    assert moved.cpu > 0


def test_where_processes_outlive_the_program_what_they_took_is_no_result(tmp_path):
    with pytest.raises(FailedRunError) as error:
        run(program_that_reports(tmp_path, seconds=0.2, processor_seconds=40), Layout(0))
    assert "some of them outlive it" in error.value.problem.text


def program_that_reports(folder, seconds, processor_seconds):
    script = folder / "program"
    line = MOVED.format(12, round(1e9 * seconds), round(1e9 * processor_seconds)).strip()
    script.write_text(f'#!/bin/sh\necho "{line}" >> "$COZ_LAYOUT_REPORT"\nsleep 0.3\n')
    script.chmod(0o755)
    return Side("A", [str(script)], arrangers=[FunctionLayouts(PLAN._replace(library=folder / "none.so"))])


def test_the_report_of_a_run_moves_no_stack(planned):
    planned(PLAN, GOOD)
    (side, _), _ = with_functions_moved(sides(), "auto", 1, "/dev/null")
    environment = environment_of(side, Layout(0))
    length = len(environment["COZ_LAYOUT_REPORT"])
    script = Side("A", ["/bin/sh", "-c", f"[ ${{#COZ_LAYOUT_REPORT}} = {length} ]"], arrangers=side.arrangers)
    run(script, Layout(0))  # fails if not


@pytest.mark.parametrize(("interval", "again"), [(0, "--seed 77"), (500, "--seed 77 --rerandomize 500ms")])
def test_a_failing_run_tells_where_its_functions_lay(interval, again):
    side = Side("A", [], arrangers=[FunctionLayouts(PLAN._replace(interval=interval))])
    with pytest.raises(CozError) as caught:
        run(side._replace(command=["/bin/false"]), Layout(0, seed=77))
    assert f"coz layout replay {again} COMMAND" in caught.value.problem.hint


def test_other_programs_that_a_program_starts_are_told(planned):
    planned(PLAN, GOOD._replace(others=2))
    moved, _ = with_functions_moved(sides(), "auto", 1, "/dev/null")
    assert function_layouts_of(moved[0]).others == 2


def test_places_are_read_from_the_librarys_report(tmp_path, monkeypatch):
    """A script stands in for a program whose library reports where a unit lies."""
    script = tmp_path / "program"
    script.write_text('#!/bin/sh\necho "unit 3 from 0x401000 to 0x7f00" >> "$COZ_LAYOUT_REPORT"\n')
    script.chmod(0o755)
    unit = Unit(3, 0x401000, 600, ["blake3"])
    monkeypatch.setattr(explain, "describe_units", lambda plan, numbers: [unit])
    plan = PLAN._replace(library=tmp_path / "none.so")
    explainer = explain.Explainer(plan, [str(script)], "/dev/null", print)
    assert explainer._places(7, [3]) == [explain.Place(unit, 0x401000, 0x7F00)]
