"""Load amplification, from the macro to the report. What is tested holds on a slow machine, too."""

from __future__ import annotations

import pytest


@pytest.fixture
def program(build):
    return build("examples/producer_consumer/producer_consumer.cpp", "-O1", "-pthread")


def arrivals(run):
    (last,) = [record for record in run.records("samples") if record["final"]]
    return last["arrivals"]


def test_each_arrival_is_charged_and_windows_say_so(coz, program):
    run = coz.run([program, "seconds=1"], "--fixed-speedup", "0", "--arrival-speedup", "500us")
    assert run.status == 0
    counted = arrivals(run)
    assert counted["count"] > 10
    assert counted["charged"] > 0.9 * counted["count"] * 500_000
    windows = run.records("experiment")
    assert windows
    for window in windows:
        assert window["kind"] == "none"
        assert window["arrival_speedup"] == 500_000
    assert "each 500 µs earlier" in run.err


def test_busy_pauses_are_not_computing(coz, program):
    options = ["--fixed-speedup", "0", "--arrival-speedup", "2ms", "--busy-pauses"]
    run = coz.run([program, "seconds=1"], *options)
    if "a control group allows" in run.err:
        pytest.skip("processor time is limited")
    assert run.status == 0, run.err
    assert run.records("run")[0]["busy_pauses"] is True
    counted = arrivals(run)
    assert counted["charged"] > 0.9 * counted["count"] * 2_000_000
    # Half of the time between two arrivals, every 4 ms, is pauses of the producers, which wait otherwise.
    assert counted["computed"] < 0.25 * counted["between"]


@pytest.mark.measured
def test_a_share_is_measured_first(coz, program):
    run = coz.run([program, "seconds=4"], "--fixed-speedup", "0", "--arrival-speedup", "50%")
    (load,) = run.records("load")
    assert load["arrival_speedup"] == pytest.approx(load["interval"] / 2, rel=0.01)
    assert all(w["arrival_speedup"] == load["arrival_speedup"] for w in run.records("experiment"))
    assert "it is as if they came" in run.err


def test_the_whole_run_at_one_load(coz, program):
    run = coz.run(
        [program, "seconds=1"], "--end-to-end", "--fixed-speedup", "0", "--arrival-speedup", "500us"
    )
    (whole,) = run.records("experiment")
    assert "end-to-end" in {point["name"] for point in whole["points"]}
    assert whole["arrivals"]["count"] == arrivals(run)["count"]


def test_requests_that_cannot_come_so_early_are_told_and_end_it(coz, program):
    run = coz.run([program, "seconds=2"], "--fixed-speedup", "0", "--arrival-speedup", "1s", timeout=120)
    assert run.status == 0
    assert "from here on, load is not amplified" in run.err
    assert "could not be done" in run.err
    assert coz("report", run.profile).status != 0


def test_a_program_without_arrivals_is_told(coz, build):
    run = coz.run([build("visits.cpp", "-pthread")], "--fixed-speedup", "0", "--arrival-speedup", "1ms")
    assert "no arrival point" in run.err


def test_a_location_instead_of_a_macro(coz, program, request):
    source = request.config.rootpath / "examples/producer_consumer/producer_consumer.cpp"
    lines = enumerate(source.read_text().splitlines(), 1)
    line = next(number for number, text in lines if "queue.add(task);" in text)
    place = f"producer_consumer.cpp:{line}"
    run = coz.run(
        [program, "seconds=1"], "--fixed-speedup", "0", "--arrival-speedup", "1us", "--arrival", place
    )
    (placed,) = run.records("run")[0]["points"]
    assert placed["kind"] == "arrival"
    assert placed["by"] == "breakpoint"  # each visit is seen, and can be charged
    (last,) = [record for record in run.records("samples") if record["final"]]
    visits = {point["name"]: point["visits"] for point in last["points"]}
    # The macro and the location: each request arrives twice.
    assert last["arrivals"]["count"] == visits["task"] + visits[placed["name"]]
    assert visits[placed["name"]] > 10


def test_what_a_thread_computes_between_two_arrivals_is_measured(coz, build, tmp_path):
    requests = tmp_path / "requests"
    requests.write_bytes(b"\n" * 1000)
    with requests.open("rb") as stream:
        run = coz.run(
            [build("serving_receiver.cpp")], "--fixed-speedup", "0", "--arrival-speedup", "1us", stdin=stream
        )
    counted = arrivals(run)
    # A millisecond of processor time for each, however long that takes.
    assert 0.95e6 * counted["intervals"] <= counted["computed"] <= 1.05 * counted["between"]
    assert counted["intervals"] == 999


def test_an_arrival_point_that_never_runs_is_told(coz, program):
    run = coz.run([program, "seconds=1", "producers=0"], "--fixed-speedup", "0", "--arrival-speedup", "1ms")
    assert run.status == 0
    assert "never came to one" in run.err
    assert coz("report", run.profile).status != 0
