"""Packages: one version everywhere, archives that are the same to the byte, a wheel that works by itself."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"


def version() -> str:
    found = re.search(r'__version__[^"]*"([^"]*)"', (ROOT / "cozcli/__init__.py").read_text())
    assert found is not None
    return found[1]


def test_all_packages_have_one_version():
    changelog = (PACKAGING / "debian/changelog").read_text()
    assert changelog.startswith(f"coz ({version()}-")
    assert re.search(rf"^Version:\s+{re.escape(version())}$", (PACKAGING / "coz.spec").read_text(), re.M)


def test_packages_have_the_command_and_all_that_is_installed():
    """What `make stage` installs is in one of the Debian packages, and in the RPM."""
    installed = re.findall(r"\$\(TO\)/(?!\$)([\w/.-]+)", (ROOT / "make/install.mk").read_text())
    deb = "".join(path.read_text() for path in PACKAGING.glob("debian/*.install"))
    for path in installed:
        first = "/".join(path.split("/")[:2])
        assert f"usr/{first}" in deb or path == "include", path


def dist(folder: pathlib.Path) -> pathlib.Path:
    archive = folder / "coz.tar.gz"
    command = [ROOT / "scripts/make_dist.sh", archive, "coz-1", "1795435200"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return archive


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a clone")
def test_an_archive_is_the_same_twice_and_has_no_build(tmp_path):
    first = hashlib.sha256(dist(tmp_path).read_bytes()).hexdigest()
    archive = dist(tmp_path)
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == first
    with tarfile.open(archive) as tar:
        names = set(tar.getnames())
        assert {member.mtime for member in tar.getmembers()} == {1795435200}
    assert {"coz-1/Makefile", "coz-1/cozcli/cli.py", "coz-1/packaging/debian/control"} <= names
    assert not [name for name in names if name.startswith("coz-1/build/")]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a clone")
def test_what_a_debian_package_is_built_with_is_installed_by_a_command_that_is_named(tmp_path):
    for name, status in (("dpkg-checkbuilddeps", 1), ("dpkg-buildpackage", 0)):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "$0 $*"\nexit {status}\n')
        (tmp_path / name).chmod(0o755)
    command = ["make", "deb", f"BUILD={tmp_path}/build"]
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "apt-get build-dep" in done.stderr
    assert "dpkg-buildpackage -us" not in done.stdout
    command.append("DEB_OPTIONS=-d")
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert "dpkg-buildpackage -us -uc -d" in done.stdout


STAGED = (ROOT / "build/lib/libcoz.so").exists() and (ROOT / "build/libexec/coz-linetable").exists()


@pytest.mark.skipif(not STAGED or shutil.which("patchelf") is None, reason="needs the build, and patchelf")
def test_a_wheel_is_the_same_twice_and_runs_by_itself(tmp_path):
    stage = tmp_path / "stage"
    for target, source in (
        ("lib/coz/libcoz.so", "build/lib/libcoz.so"),
        ("libexec/coz/coz-linetable", "build/libexec/coz-linetable"),
        ("include/coz.h", "include/coz.h"),
        ("include/coz.f90", "include/coz.f90"),
        ("bin/cargo-coz", "packaging/cargo_coz.py"),
        ("share/coz/coz.py", "python/coz.py"),
        ("share/coz/coz_mpi.c", "include/coz_mpi.c"),
        ("share/man/man1/coz.1", "docs/man/coz.1"),
    ):
        (stage / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / source, stage / target)
    shutil.copytree(ROOT / "cozcli", stage / "share/coz/cozcli")
    hashes = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, ROOT / "scripts/make_wheel.py", stage, tmp_path / "out"],
            env={**os.environ, "SOURCE_DATE_EPOCH": "1795435200"},
            capture_output=True,
            text=True,
            check=True,
        )
        wheel = pathlib.Path(done.stdout.strip())
        hashes.append(hashlib.sha256(wheel.read_bytes()).hexdigest())
    assert hashes[0] == hashes[1]
    assert re.fullmatch(rf"cozcli-{version()}-py3-none-manylinux_2_\d\d_x86_64\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        assert f"cozcli-{version()}.data/data/share/coz/coz_mpi.c" in archive.namelist()
        archive.extractall(tmp_path / "site")
    native = tmp_path / "site/cozcli/native"
    (native / "coz-linetable").chmod(0o755)
    loaded = subprocess.run(
        ["ldd", native / "coz-linetable"], capture_output=True, text=True, check=True
    ).stdout
    assert f"libdw.so.1 => {native}/libdw.so.1" in loaded
    code = "from cozcli.launch.runtime_library import find_installation as f; print(f().helper)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    environment.pop("COZ_HOME", None)
    found = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == str((native / "coz-linetable").resolve())


@pytest.mark.skipif(shutil.which("rpmspec") is None, reason="needs rpm")
def test_the_spec_is_one():
    done = subprocess.run(
        ["rpmspec", "-q", "--qf", "%{name} %{version}\n", PACKAGING / "coz.spec"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[0] == f"coz {version()}"
