"""--tree: the processes that the program forks are profiled with it."""

import contextlib
import os
import re
import shutil
import signal
import time
from pathlib import Path

import pytest


@pytest.fixture
def prog(build):
    return build("tree.c")


def rounds(run):
    return int(re.search(r"(\d+) rounds", run.out)[1])


def totals(run):
    return run.records("samples")[-1]


def samples_at(run, mark, request):
    source = request.config.rootpath / "tests/programs/tree.c"
    number = next(i for i, line in enumerate(source.read_text().splitlines(), 1) if mark in line)
    place = f"tree.c:{number}"
    return sum(line["count"] for line in totals(run)["lines"] if line["location"].endswith(place))


@pytest.mark.parametrize(("way", "processes"), [("pool", 11), ("nested", 3), ("lock", 3)])
@pytest.mark.parametrize("mode", ["perf-trap", "perf-signal", "timer"])
def test_visits_and_samples_of_all_processes_count(coz, prog, request, way, processes, mode):
    run = coz.run_until(1, [prog, way, coz.enough], "--tree", "--sampling", mode)
    assert run.status == 7, run.err
    assert totals(run)["processes"] == processes
    assert totals(run)["processes_running"] == 0
    assert totals(run)["points"][0]["visits"] == rounds(run)
    assert samples_at(run, "/* WORK */", request) > 0
    assert run.warnings() == []


def test_a_process_for_each_request(coz, prog):
    run = coz.run_until(8, [prog, "requests", coz.enough], "--tree")
    assert run.status == 7, run.err
    assert totals(run)["processes"] == rounds(run) + 1
    assert totals(run)["points"][0]["visits"] == rounds(run)
    assert f"of {rounds(run) + 1:,} processes" in coz("report", coz.profile).out


def test_without_tree_the_time_of_children_is_noted(coz, prog):
    run = coz.run([prog, "requests", 1])
    assert run.status == 7, run.err
    assert totals(run)["children_time"] > 0.1 * totals(run)["duration"]
    assert "children_time" not in totals(coz.run([prog, "requests", 1], "--tree"))


def test_a_process_that_is_killed_takes_nothing_with_it(coz, prog):
    """Experiments go on after its end, and nobody waits for what it owed."""
    run = coz.run_until(3, [prog, "killed", coz.enough], "--tree")
    assert run.status == 7, run.err
    assert totals(run)["final"]
    assert totals(run)["processes"] == 11
    assert totals(run)["processes_running"] == 0
    # A worker that is killed between its two ways of counting has counted in one only.
    assert 0 <= rounds(run) - totals(run)["points"][0]["visits"] <= 1


def test_a_process_that_executes_another_program_leaves(coz, prog):
    run = coz.run_until(1, [prog, "execs", coz.enough], "--tree")
    assert run.status == 7, run.err
    assert totals(run)["points"][0]["visits"] == rounds(run)
    assert totals(run)["processes_running"] == 0


@pytest.fixture
def executed(build):
    return build("executed.c")


@pytest.mark.parametrize("mode", ["perf-trap", "timer"])
def test_programs_that_are_executed_and_named_are_profiled(coz, build, executed, request, mode):
    command = [build("executes.c"), coz.enough, executed]
    run = coz.run_until(4, command, "--tree", "-b", executed, "--sampling", mode)
    assert run.status == 7, run.err
    assert run.warnings() == []
    assert totals(run)["points"][0]["visits"] == rounds(run)
    assert totals(run)["processes_running"] == 0
    source = request.config.rootpath / "tests/programs/executed.c"
    place = f"executed.c:{line_number(source, 'WORK')}"
    (samples,) = [line["count"] for line in totals(run)["lines"] if line["location"].endswith(place)]
    assert samples > 0.5 * totals(run)["in_scope"] > 0
    assert {Path(e["location"]).name.partition(":")[0] for e in run.records("experiment")} == {"executed.c"}


def test_a_shell_may_start_them(coz, executed):
    """It has no debug information, and need not."""
    script = f"yes | head -n 8000 | tr -d '\\n' | {executed} & wait; exit 3"
    run = coz.run(["sh", "-c", script], "--tree", "-b", executed)
    assert run.status == 3, run.err
    assert totals(run)["points"][0]["visits"] == 8000
    assert run.warnings() == []


def test_make_may_start_them(coz, executed):
    """Two at a time, each by a shell."""
    rules = coz.folder / "rules.mk"
    rules.write_text(f"all: a b c d\na b c d:\n\t@yes | head -n 2000 | tr -d '\\n' | {executed}; echo $@\n")
    run = coz.run(["make", "-j2", "-f", rules], "--tree", "-b", executed)
    assert (run.status, sorted(run.out.split())) == (0, ["a", "b", "c", "d"]), run.err
    assert totals(run)["points"][0]["visits"] == 8000
    assert totals(run)["processes_running"] == 0
    assert run.warnings() == []


def test_a_named_program_that_no_process_executes_is_told(coz, executed):
    run = coz.run(["sh", "-c", "exit 3"], "--tree", "-b", executed)
    assert run.status == 3
    assert f"no process has executed {executed} (-b)" in run.err


@pytest.mark.parametrize("form", ["path", "relative", "name"])
def test_a_program_that_executes_itself(coz, prog, form):
    name = {"path": prog, "relative": os.path.relpath(prog, coz.folder), "name": prog.name}[form]
    run = coz.run_until(2, [prog, "executes", coz.enough], "--tree", "-b", name)
    assert run.status == 7, run.err
    assert totals(run)["points"][0]["visits"] == rounds(run)


def test_a_shell_may_become_one(coz, executed):
    """The process that is launched; what it was before had no lines."""
    script = f"yes | head -n 8000 | tr -d '\\n' > jobs; exec {executed} < jobs"
    run = coz.run(["sh", "-c", script], "--tree", "-b", executed, cwd=coz.folder)
    assert run.status == 0, run.err
    assert totals(run)["points"][0]["visits"] == 8000


def test_a_name_of_the_launched_program_is_no_other_program(coz, prog):
    run = coz.run_until(1, [prog, "pool", coz.enough], "--tree", "-b", prog.name, "--waits")
    assert run.status == 7, run.err
    assert totals(run)["points"][0]["visits"] == rounds(run)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-b", "%cuted"], "-b %cuted does not say which program is meant"),
        (["-b", "no-such-program"], "no-such-program"),
        (["-b", "{}", "--waits"], "--waits do not go together"),
        (["-b", "{}", "--progress", "executed.c:9"], "--progress do not go together"),
    ],
)
def test_what_does_not_go_with_executed_programs_is_refused(coz, build, executed, options, told):
    options = [option.format(executed) for option in options]
    run = coz.run([build("executes.c"), 1, executed], "--tree", *options)
    assert (run.status in (2, 127), run.out) == (True, "")
    assert told in run.err


def test_what_outlives_the_program_goes_on_unprofiled(coz, prog):
    run = coz.run([prog, "outlives", 1], "--tree")
    assert run.status == 7, run.err
    assert totals(run)["final"]
    assert totals(run)["processes_running"] == 1
    assert "1 process that it forked was still running (of 2 in all)" in run.err


def line_number(source, mark):
    return next(i for i, line in enumerate(source.read_text().splitlines(), 1) if mark in line)


def processes_of(prog):
    """Their numbers, but for those that have ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (folder / "exe").samefile(prog):
                found.append(int(folder.name))
    return sorted(found)


def has_event(process):
    """Is it sampled, by an event of its own?"""
    links = [os.readlink(link) for link in Path(f"/proc/{process}/fd").iterdir()]
    return any("perf_event" in link for link in links)


def test_when_the_first_process_is_killed_sampling_ends_in_the_others(coz, prog, tmp_path):
    """What was measured stays, and no more is."""
    own = shutil.copy(prog, tmp_path / "outliving")
    running = coz.start([own, "outlives", 600], "--tree", "--sampling", "perf-trap")
    coz.wait_for_experiments(1)
    first, other = processes_of(own)
    try:
        assert has_event(other)
        os.kill(first, signal.SIGKILL)
        limit = time.monotonic() + 60
        while has_event(other):
            assert time.monotonic() < limit
            time.sleep(0.1)
    finally:
        os.kill(other, signal.SIGKILL)
    run = coz.finished(running, timeout=60)
    assert run.status == -signal.SIGKILL
    assert run.records("experiment")


def test_with_another_first_process_it_is_refused(coz, prog):
    run = coz.run([prog, "pool", 0.1], "--tree", "--forked", 1)
    assert (run.status, run.out) == (2, "")
    assert "--tree begins with the launched program" in run.err


def test_without_the_option_children_are_not_profiled(coz, prog):
    run = coz.run([prog, "nested", 0.5], "--fixed-speedup", 0)
    assert run.status == 7, run.err
    assert "processes" not in totals(run)
    assert totals(run)["points"] == []
