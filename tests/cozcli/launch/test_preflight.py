"""What is refused before the start, on ELF files made by the compiler."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from cozcli.errors import CozError
from cozcli.launch.elf import build_id, has_section, read_elf, read_shebang
from cozcli.launch.preflight import (
    check_program,
    find_program,
    is_of_another_build,
    open_output,
    refuse_sanitized,
)

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

RUN = b'{"type":"run","format":"coz-profile","version":1}\n'


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elf")
    (folder / "p.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-g", "p.c", "-o", "p"], cwd=folder, check=True)
    return folder / "p"


def refusal(path: Path) -> CozError:
    with pytest.raises(CozError) as caught:
        check_program(path)
    assert caught.value.problem.hint
    return caught.value


def test_a_usual_program_passes(binary: Path) -> None:
    assert check_program(binary).interpreter.startswith("/")


def test_static_binaries(binary: Path, tmp_path: Path) -> None:
    for option in ("-static", "-static-pie"):
        command = ["gcc", option, str(binary.with_suffix(".c")), "-o", str(tmp_path / "s")]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            assert "statically" in refusal(tmp_path / "s").problem.text


@pytest.mark.parametrize("section", [".go.buildinfo", ".note.go.buildid"])
def test_programs_with_go(binary: Path, tmp_path: Path, section: str) -> None:
    for program in (binary, binary_without_loader(tmp_path)):
        (tmp_path / "content").write_bytes(b"\xff Go buildinf:")
        made = tmp_path / "go"
        added = ["objcopy", "--add-section", f"{section}={tmp_path}/content", str(program), str(made)]
        subprocess.run(added, check=True)
        problem = refusal(made).problem
        assert "has code in Go" in problem.text
        assert "pprof" in problem.hint


def binary_without_loader(folder: Path) -> Path:
    """As most Go programs are; only read, never run."""
    source = folder / "alone.c"
    source.write_text("void _start(void) {}\n")
    subprocess.run(["gcc", "-static", "-nostdlib", source, "-o", folder / "alone"], check=True)
    return folder / "alone"


def test_sections_of_broken_files(binary: Path, tmp_path: Path) -> None:
    raw = binary.read_bytes()
    broken = tmp_path / "b"
    for size in (0, 10, 50, 63, 64, 1000, len(raw) - 100):
        broken.write_bytes(raw[:size])
        assert not has_section(broken, (b".text",))
    for at, value in ((40, b"\xff" * 8), (58, b"\xff\xff"), (60, b"\xff\xff"), (62, b"\xff\xff")):
        broken.write_bytes(raw[:at] + value + raw[at + len(value) :])
        has_section(broken, (b".text",))
    assert has_section(binary, (b".none", b".text"))
    assert not has_section(binary, (b".tex", b"text"))
    assert not has_section(tmp_path / "none", (b".text",))


@pytest.mark.parametrize("kind", ["address", "thread", "leak"])
def test_programs_with_a_sanitizer(binary: Path, tmp_path: Path, kind: str) -> None:
    made = tmp_path / kind
    command = ["gcc", f"-fsanitize={kind}", str(binary.with_suffix(".c")), "-o", str(made)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"gcc's sanitizer for {kind} is not there")
    refuse_sanitized(binary)
    with pytest.raises(CozError) as caught:
        refuse_sanitized(made)
    assert "sanitizer" in caught.value.problem.text


def test_setuid_and_setgid(binary: Path, tmp_path: Path) -> None:
    for bit in (0o4755, 0o2755):
        copy = Path(shutil.copy(binary, tmp_path / f"p{bit}"))
        copy.chmod(bit)
        assert "setuid" in refusal(copy).problem.text


def test_what_is_not_there_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in (".", "..", "folder", "./folder"):
        with pytest.raises(CozError, match="is a directory"):
            find_program(name)
    # PATH has nothing to do with a name that has a slash.
    for name, speaks_of_path in (("./missing", False), ("missing", True)):
        with pytest.raises(CozError, match="no such program") as caught:
            find_program(name)
        assert ("PATH" in caught.value.problem.hint) == speaks_of_path


def test_script(tmp_path: Path) -> None:
    script = tmp_path / "s.sh"
    script.write_text("#!/bin/sh -e\nexit 0\n")
    assert read_shebang(script) == "/bin/sh -e"
    problem = refusal(script).problem
    assert "script" in problem.text
    assert "coz run -b NAME" in problem.hint


def test_other_architecture_and_width(binary: Path, tmp_path: Path) -> None:
    raw = bytearray(binary.read_bytes())
    raw[18:20] = (183 if os.uname().machine != "aarch64" else 62).to_bytes(2, "little")
    other = tmp_path / "other"
    other.write_bytes(raw)
    assert "64-bit" in refusal(other).problem.text


@pytest.mark.parametrize(
    "raw", [b"", b"hello", b"\x7fELF", b"\x7fELF" + b"\xff" * 200, b"\x7fELF" + bytes(60)]
)
def test_no_file_breaks_the_elf_reader(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "f").write_bytes(raw)
    read_elf(tmp_path / "f")
    assert build_id(tmp_path / "f") == ""
    assert refusal(tmp_path / "f").status != 0


def test_truncated_elf_files(binary: Path, tmp_path: Path) -> None:
    raw = binary.read_bytes()
    for size in range(0, 1000, 37):
        (tmp_path / "t").write_bytes(raw[:size])
        read_elf(tmp_path / "t")
        build_id(tmp_path / "t")


def test_a_profile_of_another_build_is_told(binary: Path, tmp_path: Path) -> None:
    listed = subprocess.run(["readelf", "-n", binary], capture_output=True, text=True, check=True).stdout
    identity = build_id(binary)
    assert len(identity) == 40
    assert f"Build ID: {identity}" in listed
    profile = tmp_path / "p.coz"
    assert not is_of_another_build(profile, binary)
    for program, build, other in [
        (str(binary), identity, False),
        (str(binary), "ab12", True),
        (str(binary), "", False),
        ("/another", "ab12", False),
    ]:
        profile.write_text(json.dumps({"type": "run", "program": program, "build_id": build}) + "\n")
        assert is_of_another_build(profile, binary) == other
    for text in ("", "startup\ttime=1\n", "[1]\n", "{}\n", '{"program": 1, "build_id": []}\n'):
        profile.write_text(text)
        assert not is_of_another_build(profile, binary)


def test_finding_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    with pytest.raises(CozError) as caught:
        find_program("tool")
    assert (caught.value.status, caught.value.problem.hint) == (127, "name it with its folder: ./tool")
    with pytest.raises(CozError) as caught:
        find_program("./tool")
    assert caught.value.status == 126
    with pytest.raises(CozError) as caught:
        find_program(str(tmp_path))
    assert caught.value.status == 126
    for name in ("", "./none", "none"):
        with pytest.raises(CozError) as caught:
            find_program(name)
        assert caught.value.status == 127
    (tmp_path / "tool").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program("tool") == tmp_path / "tool"


def test_nothing_is_found_in_a_folder_that_may_not_be_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user of this test may be root, who may search any."""
    locked, tool, stat = tmp_path / "locked", tmp_path / "tool", os.stat

    def refuse(path: object, **options: Any) -> os.stat_result:
        if str(path).startswith(f"{locked}/"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return stat(cast("str", path), **options)

    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setattr(os, "stat", refuse)
    monkeypatch.setenv("PATH", f"{locked}:{tmp_path}")
    assert find_program("tool") == tool
    for name in ("other", f"{locked}/tool"):
        with pytest.raises(CozError, match="no such program") as caught:
            find_program(name)
        assert caught.value.status == 127


def test_output_is_only_ever_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "p.coz"
    output = open_output(str(path))
    assert path.exists()
    output.discard_if_empty()
    assert not path.exists()

    path.write_bytes(RUN + b'{"type": "expe')
    output = open_output(str(path))
    assert output.appends
    assert path.read_bytes() == RUN + b'{"type": "expe'
    del output
    output = open_output(str(path))
    beginning = output.begin()
    assert path.read_bytes()[beginning - 1 :] == b"\n"
    output.discard_if_empty()
    assert path.exists()


def test_two_runs_at_once_do_not_write_one_file(tmp_path: Path) -> None:
    path = str(tmp_path / "p.coz")
    first = open_output(path)
    with pytest.raises(CozError, match="another coz run is writing"):
        open_output(path)
    del first
    open_output(path)


def test_outputs_that_are_refused(tmp_path: Path) -> None:
    (tmp_path / "source.c").write_text("int main;\n")
    os.mkfifo(tmp_path / "fifo")
    for name, words in (
        (tmp_path, "directory"),
        (tmp_path / "source.c", "not a coz profile"),
        (tmp_path / "no" / "p.coz", "cannot be written"),
        (tmp_path / "fifo", "regular"),
        (tmp_path / ("x" * 300), "cannot be written"),
    ):
        with pytest.raises(CozError) as caught:
            open_output(str(name))
        assert words in caught.value.problem.text
    assert (tmp_path / "source.c").read_text() == "int main;\n"


def test_existing_empty_file_is_kept(tmp_path: Path) -> None:
    (tmp_path / "p.coz").touch()
    open_output(str(tmp_path / "p.coz")).discard_if_empty()
    assert (tmp_path / "p.coz").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="takes root to make files of another user")
@pytest.mark.parametrize("planted", ["link", "file"])
def test_what_another_user_planted_in_a_shared_folder_is_refused(tmp_path: Path, planted: str) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    output = shared / "profile.coz"
    victim = tmp_path / "victim"
    if planted == "link":
        output.symlink_to(victim)
    else:
        output.write_bytes(RUN)
    os.chown(output, 65534, 65534, follow_symlinks=False)
    with pytest.raises(CozError) as caught:
        open_output(str(output))
    assert "another user" in caught.value.problem.text
    assert not victim.exists()


def test_a_link_of_ones_own_is_followed(tmp_path: Path) -> None:
    link = tmp_path / "profile.coz"
    link.symlink_to(tmp_path / "elsewhere.coz")
    assert open_output(str(link)).path == (tmp_path / "elsewhere.coz").resolve()
    assert link.is_symlink()
