"""cargo coz: whose options are whose, and what cargo says."""

from __future__ import annotations

import importlib.util
import json
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("cargo_coz", ROOT / "packaging/cargo_coz.py")
cargo_coz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cargo_coz)


def test_options_are_divided():
    words = [
        "--bin",
        "server",
        "--progress",
        "main.rs:5",
        "--all-features",
        "-o",
        "a.coz",
        "---",
        "--bin",
        "x",
    ]
    of_cargo, of_coz, arguments = cargo_coz.divide(words)
    assert of_cargo == ["--bin", "server", "--all-features"]
    assert of_coz == ["--progress", "main.rs:5", "-o", "a.coz"]
    assert arguments == ["--bin", "x"]
    assert cargo_coz.divide(["--release", "--jobs", "2"]) == (["--jobs", "2", "--release"], [], [])
    assert cargo_coz.divide(["--features", "a", "--features=b", "--", "1"]) == (
        ["--features", "a", "--features", "b"],
        [],
        ["1"],
    )


@pytest.mark.parametrize(
    ("profile", "has"),
    [
        ({"debuginfo": 1}, True),
        ({"debuginfo": "line-tables-only"}, True),
        ({"debuginfo": 0}, False),
        ({"debuginfo": None}, False),
        ({"debuginfo": "line-directives-only"}, False),
        (None, True),
    ],
)
def test_line_tables_are_seen(profile, has, tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"\0.debug_line\0")
    assert cargo_coz.has_lines({"profile": profile, "executable": str(program)}) is has
    program.write_bytes(b"stripped")
    assert not cargo_coz.has_lines({"profile": profile, "executable": str(program)})


def fake_cargo(tmp_path, monkeypatch, messages):
    said = "\n".join(json.dumps(message) for message in messages)
    (tmp_path / "said").write_text(said + "\n")
    cargo = tmp_path / "cargo"
    cargo.write_text(
        f'#!/bin/sh\necho "$@" "${{CARGO_PROFILE_MY_OWN_DEBUG-}}" "${{CARGO_PROFILE_MY_OWN_STRIP-}}" '
        f"> {tmp_path}/given\ncat {tmp_path}/said\n"
    )
    cargo.chmod(0o755)
    monkeypatch.setenv("CARGO", str(cargo))
    return tmp_path / "given"


def test_one_program_is_wanted(tmp_path, monkeypatch):
    program = {
        "reason": "compiler-artifact",
        "executable": "/x/a",
        "target": {"name": "a"},
        "profile": {"debuginfo": 1},
    }
    library = {**program, "executable": None}
    given = fake_cargo(tmp_path, monkeypatch, [library, program])
    assert cargo_coz.build(["--profile", "my-own"], with_lines=True)["executable"] == "/x/a"
    assert given.read_text().split() == [
        *("build", "--message-format=json-render-diagnostics"),
        *("--profile", "my-own", "line-tables-only", "none"),
    ]
    assert cargo_coz.build([], with_lines=False) == program
    assert "--release" in given.read_text()
    fake_cargo(tmp_path, monkeypatch, [library])
    with pytest.raises(cargo_coz.Refused, match="no program"):
        cargo_coz.build([], with_lines=False)
    fake_cargo(tmp_path, monkeypatch, [program, {**program, "target": {"name": "b"}}])
    with pytest.raises(cargo_coz.Refused, match="several programs: a, b"):
        cargo_coz.build([], with_lines=False)


def test_programs_that_cargo_builds_for_a_test_are_not_meant(tmp_path, monkeypatch):
    program = {"executable": "/x/a", "target": {"name": "a", "kind": ["bin"]}}
    test = {"executable": "/x/it-1", "target": {"name": "it", "kind": ["test"]}}
    fake_cargo(tmp_path, monkeypatch, [program, test])
    assert cargo_coz.build(["--test", "it"], with_lines=False) == test
    assert cargo_coz.build(["--bin", "a"], with_lines=False) == program


def test_no_cargo(tmp_path, monkeypatch):
    monkeypatch.setenv("CARGO", str(tmp_path / "none"))
    with pytest.raises(cargo_coz.Refused, match="cannot be run"):
        cargo_coz.build([], with_lines=False)
