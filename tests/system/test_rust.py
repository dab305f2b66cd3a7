"""Rust programs as cargo builds them for release: names of lines, and the marks of our crate."""

from __future__ import annotations

import shutil
import subprocess

import pytest


@pytest.fixture
def compile_rust(tmp_path):
    """compile_rust(PROGRAM, CRATE, ITS_SOURCE): with optimisation and line tables; no network is needed."""
    if shutil.which("rustc") is None or subprocess.run(["rustc", "--version"], check=False).returncode != 0:
        pytest.skip("rustc not found")
    release = ["rustc", "--edition", "2021", "-C", "opt-level=3", "-C", "debuginfo=1", "-D", "warnings"]

    def build(program, crate, source):
        library = f"lib{crate}.rlib"
        as_library = ["--crate-type", "rlib", "--crate-name", crate, "-o", library, source]
        as_program = ["--extern", f"{crate}={library}", "-o", program.stem, program]
        for command in (as_library, as_program):
            subprocess.run([*release, *command], cwd=tmp_path, check=True)
        return tmp_path / program.stem

    return build


@pytest.fixture
def words(request, compile_rust):
    source = request.config.rootpath / "tests/programs/rust"
    return compile_rust(source / "words.rs", "mixing", source / "mixing.rs"), source


@pytest.mark.measured
def test_results_name_lines_of_the_users_crates(coz, words):
    program, source = words
    lines = (source / "words.rs").read_text().splitlines()
    turn = next(number for number, text in enumerate(lines, 1) if text.endswith("// TURN"))
    run = coz.run([program, "8"], "--progress", f"words.rs:{turn}")
    assert run.status == 0, run.err
    samples = run.records("samples")[-1]
    (point,) = samples["points"]
    assert point["visits"] == int(run.out.split()[0])
    # Hashing, sorting and formatting are the standard library's; their time is their callers'.
    sampled = {line["location"].rpartition(":")[0] for line in samples["lines"]}
    assert sampled == {str(source / "words.rs"), str(source / "mixing.rs")}
    functions = {line["function"] for line in samples["lines"]}
    assert "mixing::mix" in functions
    assert any(name.startswith("words::tally") for name in functions)
    assert any("{{closure}}" in name for name in functions)
    results = coz.results()
    assert results
    assert {result["location"].rpartition(":")[0] for result in results} <= sampled


def test_every_mark_of_the_crate_counts(coz, request, compile_rust):
    root = request.config.rootpath
    program = compile_rust(root / "tests/programs/rust/marks.rs", "coz", root / "rust/coz/src/lib.rs")
    plain = subprocess.run([program, "0.1"], check=True, capture_output=True, text=True)
    assert int(plain.stdout) > 0
    run = coz.run([program, "5"])
    assert run.status == 0, run.err
    rounds = int(run.out)
    samples = run.records("samples")[-1]
    points = {(point["kind"], point["name"]): point for point in samples["points"]}
    (here,) = (name for kind, name in points if kind == "throughput" and name != "done")
    assert "marks.rs:" in here
    for point in (("throughput", "done"), ("throughput", here), ("arrival", "arrived")):
        assert points[point]["visits"] == rounds
    for name in ("plain", "named", "operation"):
        point = points["latency", name]
        assert point["arrivals"] == point["departures"] == rounds
        assert "lost" not in point
    assert samples["regions"] == ["step"]
    measured = [point for record in run.records("experiment") for point in record["points"]]
    assert any(point.get("durations") for point in measured if point["name"] == "operation")
