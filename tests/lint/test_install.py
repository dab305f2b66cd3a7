"""`make install` and `make uninstall`: what is removed is what was installed, and nothing else."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
TREE = ROOT / "packaging" / "install_tree.sh"
LIST = "share/coz/installed"


def files(root: pathlib.Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def stage(folder: pathlib.Path, *names: str) -> pathlib.Path:
    shutil.rmtree(folder, ignore_errors=True)
    for name in names:
        path = folder / "usr" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return folder


def tree(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(TREE), *map(str, arguments)], capture_output=True, text=True, check=False
    )


def install(staged: pathlib.Path, root: pathlib.Path) -> None:
    done = tree("install", staged, root, "/usr")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def uninstall(root: pathlib.Path) -> None:
    done = tree("uninstall", root, "/usr")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    """A system on which others have installed things, and folders are empty, too."""
    root = tmp_path / "root"
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/other").write_text("")
    (root / "usr/share/man/man1").mkdir(parents=True)
    return root


def test_after_uninstall_all_is_as_before(tmp_path, root):
    before = files(root)
    install(stage(tmp_path / "s", "bin/coz", "share/man/man1/coz.1", "share/coz/cozcli/a b.py"), root)
    assert (root / "usr/share/coz/cozcli/a b.py").read_text() == "share/coz/cozcli/a b.py"
    uninstall(root)
    assert files(root) == before


def test_an_upgrade_removes_what_the_new_version_has_not(tmp_path, root):
    before = files(root)
    install(stage(tmp_path / "s", "bin/coz", "lib/coz/old.so", "share/coz/cozcli/old/x.py"), root)
    install(stage(tmp_path / "s", "bin/coz", "lib/coz/new.so"), root)
    assert not (root / "usr/lib/coz/old.so").exists()
    assert not (root / "usr/share/coz/cozcli/old/x.py").exists()
    assert (root / "usr/lib/coz/new.so").exists()
    uninstall(root)
    assert files(root) == before


def test_what_others_put_into_our_folders_stays(tmp_path, root):
    install(stage(tmp_path / "s", "bin/coz", "share/coz/cozcli/a.py"), root)
    (root / "usr/share/coz/mine").write_text("")
    uninstall(root)
    assert (root / "usr/share/coz/mine").exists()
    assert (root / "usr/bin/other").exists()
    assert not (root / "usr/share/coz/cozcli").exists()


def test_code_that_python_compiled_later_is_removed(tmp_path, root):
    before = files(root)
    install(stage(tmp_path / "s", "bin/coz", "share/coz/cozcli/a.py"), root)
    (root / "usr/share/coz/cozcli/__pycache__").mkdir()
    (root / "usr/share/coz/cozcli/__pycache__/a.cpython-399.pyc").write_text("")
    uninstall(root)
    assert files(root) == before


def test_without_an_installation_nothing_is_removed(root):
    before = files(root)
    done = tree("uninstall", root, "/usr")
    assert done.returncode == 1
    assert "nothing was removed" in done.stderr
    assert files(root) == before


@pytest.mark.skipif(not (ROOT / "build/libexec/coz-linetable").exists(), reason="needs the build")
def test_make_install_works_and_make_uninstall_removes_it(tmp_path, root):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }

    def make(target: str) -> None:
        command = ["make", target, f"DESTDIR={root}", "PREFIX=/usr"]
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)

    before = files(root)
    make("install")
    coz = root / "usr/bin/coz"
    done = subprocess.run([coz, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("coz ")
    assert (root / "usr/include/coz.h").exists()
    assert (root / "usr" / LIST).exists()
    for name, target in (("Coz", "Coz::coz"), ("coz-profiler", "coz::profiler")):
        _find_package(tmp_path / name, root / "usr", name, target)
    make("uninstall")
    assert files(root) == before


def _find_package(folder: pathlib.Path, prefix: pathlib.Path, name: str, target: str) -> None:
    """CMake finds the package and its target; without CMake this is not looked at."""
    if shutil.which("cmake") is None:
        return
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(p NONE)\n"
        f"find_package({name} REQUIRED)\nif(NOT TARGET {target})\n  message(FATAL_ERROR none)\nendif()\n"
    )
    command = ["cmake", "-S", folder, "-B", folder / "b", f"-DCMAKE_PREFIX_PATH={prefix}"]
    subprocess.run(command, check=True, capture_output=True)


def test_a_failed_copy_is_an_error(tmp_path, root):
    staged = stage(tmp_path / "s", "bin/coz", "share/coz/z")
    (root / "usr/bin/coz.new").symlink_to("/nowhere/coz")
    done = tree("install", staged, root, "/usr")
    assert done.returncode != 0
    assert not (root / "usr" / LIST).exists()


def test_a_relative_prefix_is_refused():
    command = ["make", "-o", "native", "install", "PREFIX=./out"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "PREFIX=./out: name the whole path" in done.stderr
    assert not (ROOT / "out").exists()


def test_a_prefix_with_a_space_is_refused():
    command = ["make", "-o", "native", "install", "PREFIX=/opt/my tools"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "PREFIX=/opt/my tools: name a path without spaces" in done.stderr


def test_a_slash_behind_the_prefix_changes_nothing(tmp_path, root):
    (root / "usr/.list").write_text("of the user")
    before = files(root)
    done = tree("install", stage(tmp_path / "s", "bin/coz"), root, "/usr/")
    assert (done.returncode, done.stderr) == (0, "")
    assert files(root) - before == {"usr/bin/coz", "usr/share/coz", "usr/share/coz/installed"}
    assert (root / "usr/.list").read_text() == "of the user"
    uninstall(root)
    assert files(root) == before
