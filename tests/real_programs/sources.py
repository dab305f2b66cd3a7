"""Fetches what is tested: Debian's source packages, by apt with a state of its own, and crates, by cargo.

apt checks the signatures, cargo the checksums of its index. Nothing is installed, and /etc/apt is left as
it is.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


class MissingError(Exception):
    """Something is needed that is not there; the text says what to install."""


def need(command: str, package: str) -> None:
    if shutil.which(command) is None:
        raise MissingError(f"{command} is missing; on Debian: apt-get install {package}")


def shell(command: str, folder: Path, log: Path) -> None:
    """Run a step of building, with its output in `log`."""
    with log.open("a") as out:
        done = subprocess.run(["bash", "-euc", command], cwd=folder, stdout=out, stderr=out, check=False)
    if done.returncode != 0:
        raise MissingError(f"a step of building failed, see {log}: {command.strip().splitlines()[0]}")


_APT = """
mkdir -p apt/parts apt/lists/partial apt/cache/archives/partial
for source in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  if [ -r "$source" ]; then sed -n 's/^deb\\(-src\\)\\?[ \\t]/deb-src /p' "$source" >>apt/sources.list; fi
done
for source in /etc/apt/sources.list.d/*.sources; do
  if [ -r "$source" ]; then sed 's/^Types:.*/Types: deb-src/' "$source" >"apt/parts/$(basename "$source")"; fi
done
touch apt/sources.list
options=(-o "Dir::Etc::SourceList=$PWD/apt/sources.list" -o "Dir::Etc::SourceParts=$PWD/apt/parts"
  -o "Dir::State::Lists=$PWD/apt/lists" -o "Dir::Cache=$PWD/apt/cache" -o APT::Sandbox::User=root
  -o Acquire::Languages=none)
apt-get "${options[@]}" update
apt-get "${options[@]}" source --download-only PACKAGE
mkdir source
tar -xf "$(ls *.orig.tar.* | grep -v '\\.asc$' | head -1)" -C source --strip-components=1
ls *.dsc | sed 's/.*_\\(.*\\)\\.dsc/\\1/' >version
"""


def debian_source(package: str, folder: Path) -> Path:
    """The unpacked source of `package`, in `folder`; `folder/version` has Debian's version."""
    need("apt-get", "apt")
    source = folder / "source"
    if not (folder / "version").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shell(_APT.replace("PACKAGE", package), folder, folder / "fetch.log")
    return source


def git_source(address: str, tag: str, folder: Path) -> Path:
    """A clone of a repository at a tag; `folder/version` has the tag."""
    need("git", "git")
    source = folder / "source"
    if not (folder / "version").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shell(f"git clone --depth 1 --branch {tag} {address} source", folder, folder / "fetch.log")
        (folder / "version").write_text(tag + "\n")
    return source


def crate(name: str, version: str, folder: Path) -> Path:
    """The source of a crate, with its tests, in a folder that may be written to."""
    need("cargo", "cargo")
    source = folder / "source"
    if not (folder / "version").exists():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "fetch").mkdir(parents=True)
        (folder / "fetch/Cargo.toml").write_text(
            '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n'
            f'[dependencies]\n{name} = "={version}"\n'
        )
        (folder / "fetch/lib.rs").touch()
        shell("cargo vendor vendor", folder / "fetch", folder / "fetch.log")
        shutil.copytree(folder / "fetch/vendor" / name, source)
        (source / ".cargo-checksum.json").unlink()
        (folder / "version").write_text(version + "\n")
    return source
