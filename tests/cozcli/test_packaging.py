"""What stands around the command: the installed script, its Python packages, the man pages."""

from __future__ import annotations

import argparse
import os
import re
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
    [
        (["report"], "numpy, scipy, rich"),
        (["report", "--json"], "numpy, scipy"),
        (["plot"], "numpy, scipy, matplotlib"),
    ],
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
    assert done.returncode == 2
    assert "/no/such/python" in done.stderr
    assert "COZ_PYTHON" in done.stderr


def test_a_checkout_names_a_missing_interpreter(tmp_path: Path) -> None:
    (tmp_path / "build" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "packaging" / "coz_checkout.sh", tmp_path / "build" / "bin" / "coz")
    done = coz(tmp_path / "build", "/no/such/python", "--version")
    assert done.returncode == 2
    assert "there is no Python interpreter /no/such/python" in done.stderr


def parsers_below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """By name, the parsers of its commands or actions; none if it has none."""
    found = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return next((dict(action.choices) for action in found), {})


COMMANDS = parsers_below(build_parser())


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """Of a command, those of its actions included."""
    return set(parser._option_string_actions).union(*map(options_of, parsers_below(parser).values()))


def documented(page: str) -> set[str]:
    """The options whose meaning a page explains: those that head an item of a list."""
    items = [line for line in page.splitlines() if line.startswith(".It ")]
    return {f"-{name}" for item in items for name in re.findall(r"Fl (\S+)", item.replace("\\-", "-"))}


def mentioned(page: str) -> set[str]:
    """All options that a page names, but for examples, where programs have some of their own."""
    lines = [line.replace("\\-", "-") for line in page.splitlines() if not line.startswith(".Dl")]
    return {f"-{name}" for line in lines for name in re.findall(r"\bFl ([-\w]+)", line)}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_man_page_of_a_command_has_its_options_and_no_others(name: str) -> None:
    page = (ROOT / "docs" / "man" / f"coz-{name}.1").read_text(encoding="utf-8")
    options = options_of(COMMANDS[name])
    assert documented(page) == options - {"-h", "--help"}
    # Compilers have options, too; what separates a program is none.
    foreign = {"-g", "---", "--"}
    everywhere = {option for command in COMMANDS.values() for option in options_of(command)}
    assert mentioned(page) - foreign <= everywhere


def test_the_overview_names_every_command_and_only_options_that_exist() -> None:
    page = (ROOT / "docs" / "man" / "coz.1").read_text(encoding="utf-8")
    assert set(re.findall(r"^\.It Xr coz-(\w+) 1$", page, re.MULTILINE)) == set(COMMANDS)
    assert set(re.findall(r"^\.Cm (\w+)$", page.partition(".Sh DESC")[0], re.MULTILINE)) == set(COMMANDS)
    everywhere = {option for command in COMMANDS.values() for option in options_of(command)}
    assert mentioned(page) - {"-g", "---", "--", "--version"} <= everywhere


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "man").glob("*.1")), ids=lambda page: page.name)
def test_man_pages_are_without_mistakes(page: Path) -> None:
    """Of mdoc, and of references to pages of ours that do not exist."""
    for name in re.findall(r"^\.Xr (coz\S*) 1", page.read_text(encoding="utf-8"), re.MULTILINE):
        assert (page.parent / f"{name.replace(chr(92), '')}.1").exists(), name
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("needs groff")
    done = subprocess.run(
        [groff, "-ww", "-mdoc", "-Tutf8", "-z", page], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_make_below_another_does_not_warn_about_jobs() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make", "-n", "demo"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "scripts/demo.sh" in done.stdout
    assert "warning" not in done.stdout + done.stderr
