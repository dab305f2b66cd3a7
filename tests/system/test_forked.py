"""--forked: a child that the program forks is profiled, and the program is not."""

import re
import signal
import time

import pytest

QUIET = ("--fixed-speedup", 0)


@pytest.fixture
def prog(build):
    return build("forks.c")


def rounds(run):
    return [int(number) for number in re.findall(r"(\d+) rounds", run.out)]


def visits(run):
    """Of each run in the profile, in the end."""
    return [record["points"][0]["visits"] for record in run.records("samples") if record["final"]]


@pytest.mark.parametrize(
    ("way", "generation", "status"), [("child", 1, 7), ("daemon", 1, 0), ("twice", 2, 0)]
)
def test_a_child_is_profiled_to_its_end(coz, prog, way, generation, status):
    """What the parent did before does not count, though marks and points are the same."""
    run = coz.run_until(1, [prog, way, coz.enough], "--forked", generation, *QUIET)
    assert run.status == status, run.err
    assert len(run.records("run")) == 1
    assert run.records("experiment"), run.err
    assert visits(run) == rounds(run)
    assert run.warnings() == []


@pytest.mark.parametrize("options", [(), ("--tree",)])
def test_what_was_measured_before_the_program_becomes_a_daemon_is_kept(coz, prog, options):
    run = coz.run([prog, "daemon", 0.5], *options, *QUIET)
    assert run.status == 0, run.err
    assert run.records("samples")[-1]["final"], run.err


def test_one_worker_at_a_time(coz, prog):
    run = coz.run([prog, "workers", 1], "--forked", 1, *QUIET)
    assert run.status == 0, run.err
    assert len(run.records("run")) == 1
    assert visits(run)[0] in rounds(run)
    assert "2 processes of the program ran at the same time as another, and were not profiled" in run.err


def test_children_one_after_the_other(coz, prog):
    run = coz.run([prog, "later", 0.5], "--forked", 1, *QUIET)
    assert run.status == 0, run.err
    first, second = run.records("run")
    assert second["seed"] == (first["seed"] + 1) % 2**64
    assert visits(run) == rounds(run)


def test_a_child_that_becomes_another_program_is_none(coz, prog):
    run = coz.run([prog, "exec", 0.5], "--forked", 1, *QUIET)
    assert run.status == 0, run.err
    assert visits(run) == rounds(run)


def test_a_program_that_does_not_fork(coz, prog):
    run = coz.run([prog, "none", 0.5], "--forked", 1)
    assert run.status == 0
    assert "forked no child that could be profiled, so nothing was" in run.err
    assert run.err.count("warning") == 1
    assert not coz.profile.exists()


@pytest.mark.parametrize(
    ("mode", "by"), [("perf-trap", "breakpoint"), ("perf-signal", "breakpoint"), ("timer", "auto")]
)
def test_points_of_the_command_line_in_a_child(coz, prog, mode, by):
    options = ("--progress", "count_round", "--progress-by", by, "--sampling", mode)
    run = coz.run([prog, "child", 0.5], "--forked", 1, *options, *QUIET)
    assert run.status == 7, run.err
    placed = [
        point["visits"] for point in run.records("samples")[-1]["points"] if point["name"] == "count_round"
    ]
    assert placed == rounds(run)


def test_a_daemon_takes_the_signals_that_coz_is_sent(coz, prog):
    running = coz.start([prog, "daemon", 600], "--forked", 1, *QUIET)
    limit = time.monotonic() + 60
    while not (coz.profile.exists() and '"experiment"' in coz.profile.read_text()):
        assert time.monotonic() < limit
        time.sleep(0.1)
    running.send_signal(signal.SIGTERM)
    # It has our output, which is closed when both have ended.
    run = coz.finished(running, timeout=60)
    assert run.status == 0, run.err  # the launched program's own
    assert "experiment" in run.err


@pytest.mark.measured
def test_a_daemon_is_ended_after_its_time(coz, prog):
    run = coz.run([prog, "daemon", 60], "--forked", 1, "--end-after", "2s", *QUIET)
    assert run.status == 0, run.err
    assert run.records("experiment")


def test_with_a_name_it_is_refused(coz, prog):
    run = coz.run([prog, "none"], "--forked", 1, "-b", "other")
    assert run.status != 0
    assert "--forked follows the launched program" in run.err


@pytest.mark.parametrize(
    ("way", "options"),
    [
        ("closes", ("--forked", 1)),
        ("server", ("--forked", 1)),
        ("reuses", ("--warmup", "0.5s")),
        ("reuses", ("--end-to-end",)),
        ("reuses", ("--sampling", "off")),
    ],
)
def test_descriptors_are_the_programs(coz, prog, way, options):
    """It may close ours with all others, and use their numbers: neither loses anything."""
    run = coz.run([prog, way, 0.8], *options, *(() if "off" in options else QUIET))
    assert run.status == 0, (run.out, run.err)
    assert "0 bytes of somebody" in run.out or "0 descriptors are missing" in run.out
    assert len(run.records("run")) == 1
    if "off" not in options:
        assert visits(run), "the last record was lost"


def test_a_helper_that_lives_on_does_not_keep_workers_from_being_profiled(coz, prog):
    run = coz.run([prog, "helper", 0.5], "--forked", 1, *QUIET)
    assert run.status == 0, run.err
    assert visits(run) == rounds(run)


def test_what_outlives_a_program_that_is_ended_is_ended_too(coz, prog):
    run = coz.run([prog, "orphan", 600], "--forked", 1, "--end-after", "1.5s", *QUIET)
    assert run.status == 0, run.err
    assert len(run.records("run")) == 1


def test_a_child_of_a_signal_handler_is_left_alone(coz, prog):
    """The handler may have interrupted malloc."""
    run = coz.run([prog, "handler"], "--forked", 1, *QUIET)
    assert run.status == 0, run.err
    assert rounds(run)
    assert "forked no child that could be profiled" in run.err
