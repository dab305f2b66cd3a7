"""What stands around the command: the installed script, its Python packages, the man page."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cozcli.cli import build_parser

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """An installation's script and Python code, and an interpreter without packages of its own."""
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / "packaging" / "coz_installed.sh", tmp_path / "bin" / "coz")
    shutil.copytree(ROOT / "cozcli", tmp_path / "share" / "coz" / "cozcli")
    bare = tmp_path / "bare-python"
    # -S leaves out the folder in which packages are installed, -I what the environment names.
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -I "$@"\n')
    bare.chmod(0o755)
    return tmp_path


def coz(prefix: Path, python: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(prefix / "bin" / "coz"), *arguments],
        cwd=prefix,
        env={**os.environ, "COZ_PYTHON": python},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_packages_all_works_that_needs_none(installed: Path) -> None:
    bare = str(installed / "bare-python")
    for arguments in (["--version"], ["--help"], ["run", "--help"], ["report", "--help"], ["plot", "--help"]):
        done = coz(installed, bare, *arguments)
        assert (done.returncode, done.stderr) == (0, ""), arguments
        assert "coz" in done.stdout
    # `run` comes as far as looking for the runtime, which is not installed here.
    done = coz(installed, bare, "run", "---", sys.executable)
    assert "libcoz.so and coz-linetable were not found" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "packages"),
    [(["report"], "numpy, rich"), (["report", "--json"], "numpy"), (["plot"], "numpy, matplotlib")],
)
def test_missing_packages_are_named(installed: Path, arguments: list[str], packages: str) -> None:
    done = coz(installed, str(installed / "bare-python"), *arguments)
    assert done.returncode == 2
    assert f"lacks {packages}," in done.stderr
    assert str(Path(sys.executable)) in done.stderr
    assert "COZ_PYTHON" in done.stderr
    assert f"python3-{packages.split(', ')[-1]}" in done.stderr


def test_a_missing_interpreter_is_named(installed: Path) -> None:
    done = coz(installed, "/no/such/python", "--version")
    assert done.returncode == 1
    assert "/no/such/python" in done.stderr
    assert "COZ_PYTHON" in done.stderr


def test_every_option_is_in_the_man_page() -> None:
    page = (ROOT / "docs" / "man" / "coz.1").read_text(encoding="utf-8")
    parser = build_parser()
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    missing = []
    for name, command in commands.choices.items():
        section = page.partition(f".Ss coz {name}\n")[2].partition("\n.Ss ")[0].partition("\n.Sh ")[0]
        for action in command._actions:
            for option in action.option_strings:
                written = option.removeprefix("-").replace("-", r"\-")
                if option not in ("-h", "--help") and f"Fl {written} " not in section.replace("\n", " "):
                    missing.append(f"coz {name} {option}")
    assert missing == []


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_make_below_another_does_not_warn_about_jobs() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make", "-n", "demo"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "scripts/demo.sh" in done.stdout
    assert "warning" not in done.stdout + done.stderr
