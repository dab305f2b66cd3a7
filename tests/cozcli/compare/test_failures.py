"""What is kept of a comparison in which a run fails late."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cozcli import cli


def failing_after(runs: int, folder: Path) -> str:
    """A shell script that succeeds so often."""
    count = folder / "count"
    count.write_text("0")
    script = folder / "fails_late"
    script.write_text(
        f"#!/bin/sh\nread n < {count}\necho $((n + 1)) > {count}\n"
        f"[ $n -lt {runs} ] || {{ echo no >&2; exit 3; }}\n"
    )
    script.chmod(0o755)
    return str(script)


def test_pairs_before_a_run_that_fails_make_a_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", "-n", "30", "--layout", "none", "--json", "--gate", "slower"]
    assert cli.main([*words, failing_after(20, tmp_path), "---", "vs", "true"]) == 2
    output = capsys.readouterr()
    pairs = json.loads(output.out)["comparisons"][0]["pairs"]
    assert 6 <= pairs <= 20
    assert "ended with status 3; its last words: no. The results are those of the" in output.err


def test_too_few_pairs_before_it_make_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "-n", "30", "--layout", "none"]
    assert cli.main([*words, failing_after(4, tmp_path), "---", "vs", "true"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "ended with status 3" in output.err


def test_the_other_programs_of_a_suite_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text(
        "[treatments.a]\n[treatments.b]\n[programs.good]\ncommand = 'true'\n"
        f"[programs.bad]\ncommand = '{failing_after(4, tmp_path)}'\n"
    )
    assert cli.main(["compare", "--suite", str(suite), "-n", "6", "--layout", "none", "--json"]) == 2
    output = capsys.readouterr()
    data = json.loads(output.out)
    assert {cell["program"] for cell in data["comparisons"]} == {"good"}
    assert "nothing is told of bad: fewer than 6 pairs" in output.err
    assert "ended with status 3" in output.err
