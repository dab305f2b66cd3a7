"""`coz compare --metric progress:NAME` and `latency:NAME`: the runtime counts visits only."""

import json
import os
import subprocess

import pytest
from compiled import ROOT, compiled

LIBRARY = ROOT / "build/lib/libcoz.so"
PROGRAM = ROOT / "tests/programs/rated.c"
COMPILE = ["gcc", "-O1", "-pthread", f"-I{ROOT}/include", str(PROGRAM)]


@pytest.fixture(scope="module")
def rated():
    """Two threads and a child, each of which makes so many steps of so many microseconds."""
    return compiled(COMPILE, PROGRAM, "rated")


def compare(*words):
    """Status, output, errors of `coz compare --json`."""
    command = [str(ROOT / "build/bin/coz"), "compare", "--json", "-n", "6", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    return done.returncode, done.stdout, done.stderr


def test_the_runtime_writes_the_visits_of_each_process(rated, tmp_path):
    totals = tmp_path / "totals"
    totals.touch()
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY), "COZ_POINT_TOTALS": str(totals)}
    done = subprocess.run([rated, "50"], env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    lines = [line.split("\t") for line in totals.read_text().splitlines()]
    assert [line[0] for line in lines].count("process") == 2
    for kind, name, timed in (("begin", "step", True), ("end", "step", True), ("throughput", "done", False)):
        visits = [(int(line[1]), int(line[2])) for line in lines if (line[0], line[-1]) == (kind, name)]
        assert visits == [(count, count if timed else 0) for count in (50, 100)]


def test_rate_and_latency_of_an_operation_that_takes_longer(rated):
    status, out, err = compare(
        *("--metric", "progress:done", "--metric", "latency:step", "--metric", "wall"),
        *(rated, 20, 2000, "---", "vs", rated, 20, 20000),
    )
    assert status == 0, err
    data = json.loads(out)
    rate, latency, _ = data["comparisons"]
    assert [each["metric"] for each in data["comparisons"]] == ["progress:done", "latency:step", "wall"]
    assert rate["verdict"] == latency["verdict"] == "slower"
    assert rate["ratio"] < 1 < latency["ratio"]
    # A pause may be longer than wanted, but not shorter.
    assert latency["a"] >= 0.002
    assert latency["b"] >= 0.02
    for block in data["blocks"]:
        for run in block:
            assert run["progress:done"] * run["wall"] == pytest.approx(60)


def test_points_that_a_program_has_not_are_named(rated):
    status, _, err = compare("--metric", "progress:dnoe", rated, 5, "---", "vs", rated, 5)
    assert status == 2
    assert "A visited no progress point dnoe; it visited" in err
    assert "rated.c:20, done." in err


def test_a_static_program_is_refused():
    static = compiled([*COMPILE[:3], "-static", *COMPILE[3:]], PROGRAM, "rated_static")
    status, _, err = compare("--metric", "progress:done", static, 5, "---", "vs", static, 5)
    assert status == 2
    assert "libcoz.so was not loaded into it" in err


def test_operations_with_identities_are_counted_too(tmp_path):
    source = ROOT / "tests/programs/operations.c"
    program = compiled(["gcc", "-O1", "-pthread", f"-I{ROOT}/include", str(source)], source, "operations")
    totals = tmp_path / "totals"
    totals.touch()
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY), "COZ_POINT_TOTALS": str(totals)}
    done = subprocess.run([program, "1"], env=environment, capture_output=True, text=True, check=True)
    visits = {(line[0], line[-1]): line[1] for line in map(str.split, totals.read_text().splitlines())}
    assert visits["begin", "request"] == visits["end", "request"] == done.stdout.strip()
