"""No command follows what another user put into a shared folder; files are put in place at once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import in_fork
import pytest
from synthetic import Line, Model, to_bytes

from cozcli.errors import CozError
from cozcli.output_file import replacing, resolve

OTHER_USER = 65534

as_root = pytest.mark.skipif(os.getuid() != 0, reason="takes root to make files of another user")


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder like /tmp."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def plant(path: Path, target: Path | None) -> Path:
    """Another user's link or file."""
    if target is None:
        path.write_text("theirs")
    else:
        path.symlink_to(target)
    os.chown(path, OTHER_USER, OTHER_USER, follow_symlinks=False)
    return path


def refused(path: Path) -> bool:
    try:
        resolve(path)
    except CozError as error:
        return "belongs to another user" in error.problem.text
    return False


@as_root
def test_links_and_files_of_another_user(shared: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    assert refused(plant(shared / "link", own / "victim"))
    assert refused(plant(shared / "file", None))
    # A folder by way of their link, and a link of our own that leads to theirs.
    plant(shared / "folder", own)
    assert refused(shared / "folder" / "new")
    (own / "mine").symlink_to(shared / "link")
    assert refused(own / "mine")
    # What the owner of the folder made may be followed; so may all, where others cannot write.
    os.chown(shared, OTHER_USER, OTHER_USER)
    assert not refused(shared / "link")
    os.chown(shared, os.getuid(), os.getgid())
    shared.chmod(0o755)
    assert not refused(shared / "link")


def test_it_is_the_real_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to("a/b")
    (tmp_path / "a" / "b" / "up").symlink_to("../new")
    (tmp_path / "far").symlink_to(tmp_path / "link" / "up")
    for name in ("new", "link/../new", "link/up", "far", "./a//b/up", "none/new", "none/../new", "far/x"):
        assert str(resolve(name)) == os.path.realpath(name)
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(OSError, match="symbolic links"):
        resolve("circle/x")


def test_nothing_is_left_of_what_fails(tmp_path: Path) -> None:
    target = tmp_path / "file.png"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(target) as temporary:
        temporary.write_text(str(1 / 0))
    assert target.read_text() == "old"
    with replacing(target) as temporary:
        assert temporary.suffix == ".png"
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]
    mask = os.umask(0o022)
    os.umask(mask)
    assert target.stat().st_mode & 0o777 == 0o666 & ~mask
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="regular"), replacing(tmp_path / "pipe"):
        pass


@pytest.fixture
def coz(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    profile = tmp_path / "a.coz"
    profile.write_bytes(to_bytes(Model([Line("/s/a.c:1", lambda s: 0.5 * s)], seed=1).records(60)))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return in_fork.coz(*arguments, cwd=tmp_path, environment=os.environ | {"HOME": str(tmp_path)})

    return run


COMMANDS = [
    (("view", "--no-open"), "a.html"),
    (("view", "--no-open", "--force"), "a.html"),
    (("merge",), "all.coz"),
    (("plot",), "a.png"),
    (("plot",), "a.svg"),
    (("plot",), "a.pdf"),
]


@as_root
@pytest.mark.parametrize(("command", "name"), COMMANDS)
@pytest.mark.parametrize("kind", ["link", "file"])
def test_no_command_follows(
    coz: Callable[..., subprocess.CompletedProcess[str]],
    shared: Path,
    tmp_path: Path,
    command: tuple[str, ...],
    name: str,
    kind: str,
) -> None:
    victim = tmp_path / "victim"
    planted = plant(shared / name, victim if kind == "link" else None)
    done = coz(*command, "-o", str(planted), "a.coz")
    assert done.returncode == 2
    assert f"{planted} belongs to another user" in done.stderr
    assert not victim.exists()
    assert list(shared.iterdir()) == [planted]


@pytest.mark.parametrize(("command", "name"), COMMANDS)
def test_ones_own_link_is_followed(
    coz: Callable[..., subprocess.CompletedProcess[str]],
    shared: Path,
    tmp_path: Path,
    command: tuple[str, ...],
    name: str,
) -> None:
    link, target = shared / name, tmp_path / f"real-{name}"
    link.symlink_to(target)
    done = coz(*command, "-o", str(link), "a.coz")
    assert done.returncode == 0, done.stderr
    assert target.stat().st_size > 100
    assert link.is_symlink()
    assert list(shared.iterdir()) == [link]
