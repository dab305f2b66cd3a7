"""Waits as targets: coz run --waits, --wait-classes and --fixed-wait."""

import json

import pytest


@pytest.fixture
def device(build):
    return build("device.c")


@pytest.fixture
def wait_line(request):
    source = request.config.rootpath / "tests/programs/device.c"
    lines = source.read_text().splitlines()
    return f"{source}:{1 + next(i for i, line in enumerate(lines) if '/* WAIT */' in line)}"


def has_wait(experiments):
    return any(e["kind"] == "wait" for e in experiments)


def delays(experiments):
    """By speedup: delay, and time waited, both summed over the windows."""
    found = {}
    for each in experiments:
        delay, waited = found.get(each["speedup"], (0, 0))
        found[each["speedup"]] = (delay + each["delay"], waited + each["hits"])
    return found


def test_without_the_option_no_wait_is_a_target(coz, device):
    run = coz.run_until(2, [device, coz.enough])
    assert {e["kind"] for e in run.records("experiment")} <= {"line", "none"}
    assert not [line for line in run.records("samples")[-1]["lines"] if line.get("kind") == "wait"]


def test_a_wait_is_a_target_beside_the_lines(coz, device, wait_line):
    run = coz.run_until(has_wait, [device, coz.enough], "--waits")
    assert run.status == 0, run.err
    waits = [e for e in run.records("experiment") if e["kind"] == "wait"]
    assert {(e["location"], e["function"]) for e in waits} == {(f"wait {wait_line}", "read_block")}


def test_the_others_pay_for_the_time_waited(coz, device, wait_line):
    def has_both(experiments):
        return {e["speedup"] for e in experiments if e["hits"] > 50} == {0, 0.5}

    options = ("--fixed-wait", wait_line, "--speedups", "50", "--period", "500us")
    run = coz.run_until(has_both, [device, coz.enough], *options)
    found = delays(run.records("experiment"))
    assert found[0][0] == 0
    delay, periods = found[0.5]
    assert delay == pytest.approx(0.5 * 500_000 * periods, rel=0.2)


def test_classes_are_targets_as_a_whole(coz, device):
    run = coz.run_until(
        lambda e: any(each["kind"] == "wait" for each in e), [device, coz.enough], "--wait-classes"
    )
    waits = {e["location"] for e in run.records("experiment") if e["kind"] == "wait"}
    assert waits == {"wait (all sleep)"}


def test_reports_say_what_it_is(coz, device, wait_line):
    run = coz.run_until(6, [device, coz.enough], "--fixed-wait", wait_line)
    assert run.status == 0, run.err
    done = coz("report", "--json", run.profile)
    assert {r["target"] for r in json.loads(done.out)["results"]} == {"wait"}
