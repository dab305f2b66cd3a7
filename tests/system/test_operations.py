"""Operations with identities (COZ_BEGIN_ID, COZ_END_ID), from the macros to the report."""

from __future__ import annotations

import json
import subprocess

#: Where a bucket of durations begins, ns (docs/profile_format.md).
FIRST, OF_OCTAVE = 1024, 64


def lower_bound(bucket):
    octave, within = divmod(bucket - 1, OF_OCTAVE)
    return 0 if bucket == 0 else FIRST * 2**octave * (1 + within / OF_OCTAVE)


def point_of(record, name):
    return next(point for point in record["points"] if point["name"] == name)


def test_operations_that_end_in_another_thread_have_durations(coz, build):
    # From ten windows on, a report needs no baseline of one line.
    run = coz.run_until(10, [build("operations.c", "-O1", "-lpthread"), coz.enough])
    assert run.status == 0, run.err
    operations = int(run.out.splitlines()[-1])
    totals = run.records("samples")[-1]
    request, lost = point_of(totals, "request"), point_of(totals, "lost")
    assert request["arrivals"] == request["departures"] == operations
    assert "lost" not in request
    assert lost["lost"] == operations

    windows = [point_of(record, "request") for record in run.records("experiment")]
    durations = [(lower_bound(b), n) for window in windows for b, n in window.get("durations", [])]
    known = sum(n for _, n in durations)
    departures = sum(window["departures"] for window in windows)
    # One may end just where its window does.
    assert departures - len(windows) <= known <= departures + len(windows)
    # No delay that was inserted is part of them.
    long = sum(n for bound, n in durations if bound > 30e6)
    assert sum(n for bound, n in durations if bound < 3.5e6) <= 0.05 * known
    assert 0.05 * known <= long <= 0.5 * known

    report = coz("report", "--json", coz.profile)
    assert report.status == 0, report.err
    document = json.loads(report.out)
    latencies = [result for result in document["results"] if result["kind"] == "latency"]
    assert all(isinstance(result["quantiles"], list) for result in latencies)
    (told,) = [warning for warning in document["warnings"] if "could not be followed" in warning["text"]]
    assert "'lost'" in told["text"]


def test_an_operation_as_long_as_a_block_ends_however_that_is_left(coz, build):
    run = coz.run_until(3, [build("scoped_operations.cpp", "-O1", "-std=c++11", "-lpthread"), coz.enough])
    assert run.status == 0, run.err
    operation = point_of(run.records("samples")[-1], "operation")
    assert operation["arrivals"] == operation["departures"] == int(run.out.splitlines()[-1])
    assert "lost" not in operation
    windows = [point_of(record, "operation") for record in run.records("experiment")]
    assert sum(n for window in windows for _, n in window.get("durations", [])) > 0


def test_an_operation_as_long_as_a_block_ends_under_the_name_of_its_begin(coz, build):
    run = coz.run_until(3, [build("scoped_operations.cpp", "-O1", "-std=c++11", "-lpthread"), coz.enough])
    assert run.status == 0, run.err
    totals = run.records("samples")[-1]
    outer = point_of(totals, "outer")
    assert outer["arrivals"] == outer["departures"] == 2 * (int(run.out.splitlines()[-1]) + 1)
    assert "lost" not in outer
    assert "inner" not in [point["name"] for point in totals["points"]]


def test_operations_of_all_names_have_durations_and_a_region_too_many_is_told(coz, build):
    run = coz.run_until(3, [build("many_names.c", "-O1"), coz.enough])
    assert run.status == 0, run.err
    followed = {
        point["name"]
        for record in run.records("experiment")
        for point in record["points"]
        if point.get("durations")
    }
    assert followed == {f"operation {number}" for number in range(40)}
    assert run.err.count("more than 256 regions: region 256 and further ones are not profiled") == 1
    assert "region 257" not in run.err


def test_marks_may_be_part_of_the_programs_allocator(coz, build):
    program = build("marked_allocator.cpp", "-O1")
    assert subprocess.run([program, "0.01"], check=False, stdout=subprocess.DEVNULL).returncode == 0
    run = coz.run_until(2, [program, coz.enough])
    assert run.status == 0, run.err
    totals = run.records("samples")[-1]
    blocks = int(run.out.splitlines()[-1])
    assert point_of(totals, "round")["visits"] == blocks
    assert point_of(totals, "allocated")["visits"] >= blocks
    assert point_of(totals, "allocation")["arrivals"] >= blocks
    assert "allocate" in totals["regions"]
