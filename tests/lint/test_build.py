"""What the Makefile promises beyond building: clear words where a package is missing, and what tools read."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
CHECK = ROOT / "scripts" / "check_prerequisites.sh"


def compiler_without(folder: pathlib.Path, header: str) -> pathlib.Path:
    """A compiler that finds every header but one, in whatever folder."""
    fake = folder / "fake-g++"
    fake.write_text(f'#!/bin/sh\ncase "$(cat)" in *"{pathlib.Path(header).name}>"*) exit 1 ;; esac\n')
    fake.chmod(0o755)
    return fake


def make(folder: pathlib.Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    # A make above this one would hand down its jobs and variables.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    command = ["make", f"BUILD={folder / 'build'}", *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("header", "package"),
    [
        ("elfutils/libdw.h", "libdw-dev"),
        ("libelf.h", "libelf-dev"),
        ("libiberty/demangle.h", "libiberty-dev"),
        ("Zydis/Zydis.h", "libzydis-dev"),
    ],
)
def test_make_names_the_package_of_a_missing_header_before_it_compiles(tmp_path, header, package):
    done = make(tmp_path, f"CXX={compiler_without(tmp_path, header)}", "native")
    assert done.returncode != 0
    assert f"<{header}> ({package})" in done.stderr
    assert "make dependencies" in done.stderr
    assert "CXX " not in done.stdout


def test_make_says_that_there_is_no_compiler(tmp_path):
    done = make(tmp_path, "CXX=no-such-compiler", "native")
    assert done.returncode != 0
    assert "no-such-compiler (g++)" in done.stderr
    assert "make dependencies" in done.stderr


def test_with_everything_there_nothing_is_said(tmp_path):
    done = subprocess.run(
        [CHECK, compiler_without(tmp_path, "none")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_make_dependencies_installs_every_package_that_may_be_named():
    listed = subprocess.run(
        [ROOT / "scripts/install_dependencies.sh", "--list"], capture_output=True, text=True, check=True
    ).stdout.split()
    text = CHECK.read_text()
    headers = text[text.index("headers=(") : text.index("\n)\n")].splitlines()[1:]
    packages = [line.strip().strip('"').split()[1] for line in headers]
    assert packages
    assert {*packages, "g++"} <= set(listed)


def test_the_database_of_compile_commands_has_every_source_of_the_library(tmp_path):
    done = make(tmp_path, "compile-commands")
    assert done.returncode == 0, done.stderr
    entries = json.loads((tmp_path / "build/compile_commands.json").read_text())
    files = {entry["file"] for entry in entries}
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "libcoz").rglob("*.cpp")}
    assert sources <= files
    assert all(f" -c {entry['file']} " in entry["command"] for entry in entries)


@pytest.mark.parametrize(
    "arguments", [("survival", "SURVIVAL_ROUNDS=3"), ("transparency", "TRANSPARENCY_ROUNDS=3")]
)
def test_the_old_names_of_transparency_tests_work(tmp_path, arguments):
    """They are only shown (-n), with their number of rounds."""
    done = make(tmp_path, "-n", *arguments)
    assert done.returncode == 0, done.stderr
    assert "COZ_TRANSPARENCY_ROUNDS=3 " in done.stdout
    assert " tests/transparency" in done.stdout


def test_the_front_door_is_short():
    assert len((ROOT / "Makefile").read_text().splitlines()) <= 150


def test_examples_are_built_from_nothing(tmp_path):
    done = make(tmp_path, "examples")
    assert done.returncode == 0, done.stderr
    built = {path.name for path in (tmp_path / "build" / "examples").iterdir() if os.access(path, os.X_OK)}
    assert built == {"two_threads", "serial", "producer_consumer", "queue"}


def test_the_fuzzers_build_the_helper_that_makes_their_seeds(tmp_path):
    done = make(tmp_path, "--dry-run", "V=1", "fuzz")
    assert done.returncode == 0, done.stderr
    assert f"-o {tmp_path / 'build'}/libexec/coz-linetable" in done.stdout
