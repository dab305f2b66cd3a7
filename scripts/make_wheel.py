"""Writes a wheel that brings runtime and helper: `pip install` it, and `coz run` works without a compiler.

    make_wheel.py STAGE OUTPUT_FOLDER

STAGE is an installation (`make stage`). The libraries that the helper needs, but for glibc's, come with it;
only the helper's process loads them. The wheel is written with zipfile in a fixed order and with the time of
SOURCE_DATE_EPOCH, so that two builds are the same to the byte. Its tag says which glibc is needed: the newest
version of any symbol that its native files use.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What every Linux with a fitting glibc has.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2", "librt.so.1"}
#: What the runtime finds its way by is there since then: _dl_find_object.
OLDEST = (2, 35)


def glibc_of(binary: Path) -> tuple[int, int]:
    """The version of glibc that a binary's symbols need."""
    text = subprocess.run(["objdump", "-p", binary], capture_output=True, text=True, check=True).stdout
    versions = [(int(a), int(b)) for a, b in re.findall(r"\bGLIBC_(\d+)\.(\d+)", text)]
    return max(versions, default=OLDEST)


def bundled(binary: Path) -> dict[str, Path]:
    """The libraries that a program loads at its start, but for the system's, by name."""
    text = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^\s*(\S+) => (/\S+)", text, re.MULTILINE)
    return {name: Path(path).resolve() for name, path in found if name not in SYSTEM}


def relocated(binary: Path, folder: Path, name: str) -> Path:
    """A copy that looks for libraries beside itself, without debug information."""
    copy = folder / name
    shutil.copy(binary, copy)
    copy.chmod(0o755)
    subprocess.run(["strip", "--strip-debug", copy], check=True)
    subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", copy], check=True)
    return copy


def native_files(stage: Path, folder: Path) -> dict[str, Path]:
    """The libraries to be preloaded, the helper, and the helper's libraries, by name."""
    files = {}
    for path in sorted((stage / "lib/coz").glob("*.so")):
        files[path.name] = folder / path.name
        shutil.copy(path, files[path.name])
        subprocess.run(["strip", "--strip-debug", files[path.name]], check=True)
    helper = stage / "libexec/coz/coz-linetable"
    files[helper.name] = relocated(helper, folder, helper.name)
    return files | {name: relocated(path, folder, name) for name, path in sorted(bundled(helper).items())}


def licences(stage: Path) -> dict[str, bytes]:
    """What Debian says of the bundled libraries' licences, by package."""
    found = {}
    for path in bundled(stage / "libexec/coz/coz-linetable").values():
        done = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True, check=False)
        if done.returncode != 0:  # where /lib is a link, packages may list the path through it
            done = subprocess.run(
                ["dpkg-query", "-S", f"*/{path.name}"], capture_output=True, text=True, check=False
            )
        package = done.stdout.partition(":")[0]
        text = Path(f"/usr/share/doc/{package}/copyright")
        if not package or not text.exists():
            sys.exit(f"the licence of {path}, which the wheel brings, was not found")
        found[package] = text.read_bytes()
    return dict(sorted(found.items()))


def platform_tag(binaries: Iterable[Path]) -> str:
    """manylinux_2_NN_x86_64."""
    newest = max([OLDEST, *(glibc_of(binary) for binary in binaries)])
    return f"manylinux_{newest[0]}_{newest[1]}_{os.uname().machine}"


def metadata(version: str) -> str:
    """METADATA, from pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {requirement}" for requirement in project["dependencies"]),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (ROOT / "README.md").read_text(encoding="utf-8")


def contents(
    stage: Path, native: Mapping[str, Path], name: str, tag: str, version: str
) -> Iterator[tuple[str, bytes, int]]:
    """Path in the wheel, bytes, mode."""
    package = stage / "share" / "coz"
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.name != "installed":
            if "rust" in path.relative_to(package).parts or path.name == "coz_mpi.c":
                continue  # cargo takes crates from elsewhere
            yield str(path.relative_to(package)), path.read_bytes(), 0o644
    for target, source in native.items():
        yield f"cozcli/native/{target}", source.read_bytes(), 0o755
    data = f"{name}-{version}.data/data"
    for header in ("coz.h", "coz.f90"):
        yield f"{data}/include/{header}", (stage / "include" / header).read_bytes(), 0o644
    yield f"{data}/share/coz/coz_mpi.c", (package / "coz_mpi.c").read_bytes(), 0o644
    yield f"{name}-{version}.data/scripts/cargo-coz", (stage / "bin/cargo-coz").read_bytes(), 0o755
    for page in sorted((stage / "share/man/man1").iterdir()):
        yield f"{data}/share/man/man1/{page.name}", page.read_bytes(), 0o644
    info = f"{name}-{version}.dist-info"
    yield f"{info}/METADATA", metadata(version).encode(), 0o644
    yield (
        f"{info}/WHEEL",
        f"Wheel-Version: 1.0\nGenerator: coz\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        0o644,
    )
    yield f"{info}/entry_points.txt", b"[console_scripts]\ncoz = cozcli.cli:main\n", 0o644
    yield f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644
    for owner, text in licences(stage).items():
        yield f"{info}/licenses/{owner}", text, 0o644


def main() -> None:
    """Write it, and say where it is."""
    stage, folder = Path(sys.argv[1]), Path(sys.argv[2])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = re.search(r'__version__[^"]*"([^"]*)"', (ROOT / "cozcli/__init__.py").read_text())
    assert found is not None
    name, version = project["name"], found[1]
    with tempfile.TemporaryDirectory() as temporary:
        native = native_files(stage, Path(temporary))
        tag = f"py3-none-{platform_tag(native.values())}"
        print(write(folder, name, version, tag, contents(stage, native, name, tag, version)))


def write(folder: Path, name: str, version: str, tag: str, entries: Iterable[tuple[str, bytes, int]]) -> Path:
    """The wheel, with its RECORD."""
    moment = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{version}-{tag}.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data, mode in entries:
            _add(archive, path, data, mode, moment)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}\n")
        path = f"{name}-{version}.dist-info/RECORD"
        _add(archive, path, "".join([*record, f"{path},,\n"]).encode(), 0o644, moment)
    return wheel


def _add(archive: zipfile.ZipFile, path: str, data: bytes, mode: int, moment: tuple[int, ...]) -> None:
    entry = zipfile.ZipInfo(path, moment)  # type: ignore[arg-type]
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


if __name__ == "__main__":
    main()
