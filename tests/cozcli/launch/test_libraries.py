"""Libraries are listed without running the program, nor whatever else it names as its loader."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cozcli.launch import libraries
from cozcli.launch.elf import dynamic_tags, read_elf
from cozcli.launch.libraries import is_known_loader, loaded_libraries

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def compiled(folder: Path, *options: str) -> Path:
    (folder / "p.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-g", "p.c", "-o", "p", *options], cwd=folder, check=True)
    return folder / "p"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """The file that the loader of `foreign` writes when it is run."""
    return tmp_path / "trace"


@pytest.fixture
def foreign(tmp_path: Path, trace: Path) -> Path:
    """A program whose loader is a script."""
    loader = tmp_path / "lib64" / "ld-linux-x86-64.so.2"
    loader.parent.mkdir()
    loader.write_text(f"#!/bin/sh\necho run >{trace}\n")
    loader.chmod(0o755)
    return compiled(tmp_path, f"-Wl,--dynamic-linker={loader}")


def test_libraries_of_a_usual_program(tmp_path: Path) -> None:
    program = compiled(tmp_path)
    elf = read_elf(program)
    assert elf is not None
    paths, problems = loaded_libraries(program, elf.interpreter)
    assert any("libc.so" in path for path in paths)
    assert not any("ld-linux" in path for path in paths)
    assert not problems


def test_preloaded_libraries_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = compiled(tmp_path)
    (tmp_path / "early.c").write_text("int early;\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "early.c", "-o", "early.so"], cwd=tmp_path, check=True)
    monkeypatch.setenv("LD_PRELOAD", str(tmp_path / "early.so"))
    elf = read_elf(program)
    assert elf is not None
    assert str((tmp_path / "early.so").resolve()) in loaded_libraries(program, elf.interpreter).paths


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("/lib64/ld-linux-x86-64.so.2", True),
        ("/lib/ld-linux-aarch64.so.1", True),
        ("/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", True),
        ("/usr/lib/ld-musl-x86_64.so.1", True),
        ("/tmp/lib64/ld-linux-x86-64.so.2", False),
        ("lib64/ld-linux-x86-64.so.2", False),
        ("/lib64/../tmp/ld-linux-x86-64.so.2", False),
        ("/lib/../ld-linux.so", False),
        ("/bin/sh", False),
        ("", False),
    ],
)
def test_known_loaders(path: str, known: bool) -> None:
    assert is_known_loader(path) == known


def test_the_loader_of_trusted_programs_is_known(foreign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elf = read_elf(foreign)
    assert elf is not None
    assert not is_known_loader(elf.interpreter)
    monkeypatch.setattr(sys, "executable", str(foreign))
    assert is_known_loader(elf.interpreter)


def test_another_loader_is_not_run(foreign: Path, trace: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for command, words in (
        (("doctor", str(foreign)), "names"),
        (("doctor", "-b", "%/libc.so%", str(foreign)), "names"),
        (("lines", str(foreign)), ""),
        (("lines", "-b", "MAIN", "-b", "%/libc.so%", str(foreign)), "is not one of this system's"),
        (("lines", "-b", "%/libc.so%", str(foreign)), "is not one of this system's"),
        (("run", "-b", "%/libc.so%", "---", str(foreign)), "is not one of this system's"),
    ):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "cozcli", *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert words in " ".join((done.stdout + done.stderr).split()), command
        assert not trace.exists(), command


@pytest.mark.parametrize("option", ["--audit", "--depaudit"])
def test_an_audit_library_is_not_run(tmp_path: Path, trace: Path, option: str) -> None:
    body = f'{{ fclose(fopen("{trace}", "w")); return v; }}'
    code = f"#include <stdio.h>\nunsigned la_version(unsigned v) {body}\n"
    (tmp_path / "audit.c").write_text(code)
    library = tmp_path / "audit.so"
    subprocess.run(["gcc", "-shared", "-fPIC", tmp_path / "audit.c", "-o", library], check=True)
    program = compiled(tmp_path, f"-Wl,{option}={library}")
    elf = read_elf(program)
    assert elf is not None
    paths, (problem,) = loaded_libraries(program, elf.interpreter)
    assert paths == []
    assert "DT_AUDIT" in problem.text
    assert not trace.exists()


def test_dynamic_sections_that_are_not_what_they_seem(tmp_path: Path) -> None:
    program = compiled(tmp_path)
    tags = dynamic_tags(program)
    assert tags is not None
    assert 1 in tags  # DT_NEEDED
    raw = program.read_bytes()
    at = int.from_bytes(raw[32:40], "little")
    kinds = {int.from_bytes(raw[at + i * 56 :][:4], "little"): at + i * 56 for i in range(raw[56])}
    load, dynamic = kinds[1], kinds[2]  # the last PT_LOAD, and PT_DYNAMIC
    broken = tmp_path / "broken"
    for place, value in (
        (dynamic + 16, b"\xff" * 8),  # its address lies in no segment
        (load + 16, b"\xff" * 8),
        (kinds[6], b"\2"),  # there are two
        (kinds[6], raw[load : load + 56]),  # two segments lie there
        (54, b"\0"),
        (32, b"\xff" * 8),
    ):
        broken.write_bytes(raw[:place] + value + raw[place + len(value) :])
        assert dynamic_tags(broken) is None
    # The offset in the file is not what the loader goes by.
    broken.write_bytes(raw[: dynamic + 8] + bytes(8) + raw[dynamic + 16 :])
    assert dynamic_tags(broken) == tags
    for size in range(0, len(raw), 997):
        broken.write_bytes(raw[:size])
        dynamic_tags(broken)


def test_a_loader_that_hangs(foreign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elf = read_elf(foreign)
    assert elf is not None
    Path(elf.interpreter).write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(sys, "executable", str(foreign))
    monkeypatch.setattr(libraries, "PATIENCE", 0.2)
    begin = time.monotonic()
    paths, (problem,) = loaded_libraries(foreign, elf.interpreter)
    assert time.monotonic() - begin < 30
    assert paths == []
    assert "did not list them (no answer" in problem.text
