"""A Rust program as cargo builds it for release: results name the user's crates, not the standard library."""

from __future__ import annotations

import shutil
import subprocess

import pytest


@pytest.fixture
def words(request, tmp_path):
    """A program and the crate it depends on, with optimisation and line tables; no network is needed."""
    if shutil.which("rustc") is None or subprocess.run(["rustc", "--version"], check=False).returncode != 0:
        pytest.skip("rustc not found")
    source = request.config.rootpath / "tests/programs/rust"
    release = ["rustc", "--edition", "2021", "-C", "opt-level=3", "-C", "debuginfo=1"]
    subprocess.run(
        [*release, "--crate-type", "rlib", "--crate-name", "mixing", source / "mixing.rs"],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    subprocess.run(
        [*release, "--extern", "mixing=libmixing.rlib", "-o", "words", source / "words.rs"],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    return tmp_path / "words", source


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
