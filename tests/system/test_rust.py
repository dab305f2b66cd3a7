"""Rust programs as cargo builds them for release: names of lines, and the marks of our crate."""

from __future__ import annotations

import os
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


@pytest.fixture
def crate(request, tmp_path):
    """A package of one program, whose release profile has no line tables; no network is needed."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo not found")
    root = request.config.rootpath
    folder = tmp_path / "marks"
    (folder / "src").mkdir(parents=True)
    manifest = '[package]\nname = "marks"\nversion = "1.0.0"\nedition = "2021"\n\n[dependencies]\n'
    (folder / "Cargo.toml").write_text(f'{manifest}coz-profiler = {{ path = "{root / "rust/coz"}" }}\n')
    shutil.copy(root / "tests/programs/rust/marks.rs", folder / "src/main.rs")
    return folder


def cargo_coz(request, folder, *words):
    command = request.config.rootpath / "build/bin/cargo-coz"
    return subprocess.run([command, "coz", *words], cwd=folder, check=False, capture_output=True, text=True)


@pytest.mark.measured
def test_cargo_coz_builds_with_line_tables_and_profiles(request, crate):
    ran = cargo_coz(request, crate, "run", "--offline", "--bin", "marks", "-o", "own.coz", "---", "4")
    assert ran.returncode == 0, ran.stderr
    assert "building again with line tables" in ran.stderr
    assert int(ran.stdout.split()[0]) > 0
    assert "marks/src/main.rs" in (crate / "own.coz").read_text()
    with (crate / "Cargo.toml").open("a") as manifest:
        manifest.write('\n[profile.release]\ndebug = "line-tables-only"\n')
    ran = cargo_coz(request, crate, "lines", "--offline")
    assert ran.returncode == 0, ran.stderr
    assert "again" not in ran.stderr
    assert "src/main.rs:" in ran.stdout


def test_cargo_coz_says_what_is_wrong(request, crate):
    unknown = cargo_coz(request, crate, "profile")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "cargo coz has no command profile" in unknown.stderr
    (crate / "src/main.rs").write_text("fn main() { nothing }\n")
    broken = cargo_coz(request, crate, "run", "--offline")
    assert broken.returncode == 2
    assert "cargo build failed" in broken.stderr


@pytest.fixture
def spans(request, tmp_path):
    """A program with spans of `tracing`, which cargo fetches."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo not found")
    root = request.config.rootpath
    folder = tmp_path / "spans"
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(
        '[package]\nname = "spans"\nversion = "1.0.0"\nedition = "2021"\n\n[dependencies]\n'
        f'coz-tracing = {{ path = "{root / "rust/coz-tracing"}" }}\n'
        'tracing = "0.1"\ntracing-subscriber = { version = "0.3", default-features = false }\n'
        '\n[profile.release]\ndebug = "line-tables-only"\n'
    )
    shutil.copy(root / "tests/programs/rust/spans.rs", folder / "src/main.rs")
    build = [*("cargo", "build", "--release", "--quiet"), "--target-dir", str(tmp_path / "target")]
    if subprocess.run(["cargo", "fetch", "--quiet"], cwd=folder, check=False).returncode != 0:
        pytest.skip("cargo cannot fetch tracing")
    subprocess.run(build, cwd=folder, check=True, env={**os.environ, "RUSTFLAGS": "-D warnings"})
    return tmp_path / "target/release/spans"


def test_spans_are_operations(coz, spans):
    plain = subprocess.run([spans, "0.1"], check=True, capture_output=True, text=True)
    assert "layer: false" in plain.stderr
    run = coz.run([spans, "3"], "--source-scope", "%main.rs")
    assert run.status == 0, run.err
    assert "layer: true" in run.err
    points = {point["name"]: point for point in run.records("samples")[-1]["points"]}
    assert set(points) == {"answer", "parse", "handed over"}
    for point in points.values():
        assert point["kind"] == "latency"
        assert point["arrivals"] == point["departures"] == int(run.out)
    measured = [point for record in run.records("experiment") for point in record["points"]]
    assert any(point.get("durations") for point in measured if point["name"] == "answer")
