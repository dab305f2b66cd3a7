"""Fetching upstream tarballs of Debian's source packages.

Needs apt-get and dpkg-dev, but no rights and no entry in /etc/apt.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from study import call


def fetch(package: str, checksums: Mapping[str, str], folder: Path) -> None:
    """Unpack the original tarball into `folder`; otherwise as `fetch_all`."""
    fetch_all([package], checksums, lambda _: folder, folder.parent)


def fetch_all(
    packages: Sequence[str], checksums: Mapping[str, str], folder_of: Callable[[str], Path], root: Path
) -> None:
    """Unpack the original tarballs into their folders, which exist. root: for what is needed meanwhile.

    `checksums`: sha256 by file name, for the releases that we know.
    apt checks the signature of every version; of the known ones the sum is checked here, too.
    """
    log = root / "fetch.log"
    with tempfile.TemporaryDirectory(dir=root) as work:
        options = _sources(Path(work), log)
        for package in packages:
            tarball = _download(package, options, Path(work), log)
            expected = checksums.get(tarball.name)
            actual = hashlib.sha256(tarball.read_bytes()).hexdigest()
            if expected is None:
                print(f"{tarball.name} is not a version that was tried here; patches may not apply to it")
            elif actual != expected:
                raise SystemExit(f"{tarball.name} has the checksum {actual}, not {expected}: not used")
            call(["tar", "-xf", tarball, "-C", folder_of(package), "--strip-components=1"], log)
            print(f"{package}: {tarball.name} -> {folder_of(package)}")


def _sources(work: Path, log: Path) -> list[str]:
    """Options by which apt-get knows source packages, from lists of its own in `work`."""
    apt = work / "apt"
    for name in ("sources", "lists/partial", "cache/archives/partial"):
        (apt / name).mkdir(parents=True)
    lines: list[str] = []
    for source in [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.list")]:
        if source.is_file():
            lines += re.findall(r"^deb(?:-src)?[ \t].*", source.read_text(), re.M)
    (apt / "sources.list").write_text(
        "".join(re.sub(r"^deb(-src)?", "deb-src", line) + "\n" for line in lines)
    )
    for source in Path("/etc/apt/sources.list.d").glob("*.sources"):
        text = re.sub(r"^Types:.*", "Types: deb-src", source.read_text(), flags=re.M)
        (apt / "sources" / source.name).write_text(text)
    settings = {
        "Dir::Etc::SourceList": apt / "sources.list",
        "Dir::Etc::SourceParts": apt / "sources",
        "Dir::State::Lists": apt / "lists",
        "Dir::Cache": apt / "cache",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
    }
    options = [f"-o{key}={value}" for key, value in settings.items()]
    # One entry that fails is no reason to give up, such as a repository that has no sources.
    with log.open("a") as out:
        subprocess.run(["apt-get", *options, "update"], stdout=out, stderr=subprocess.STDOUT, check=False)
    return options


def _download(package: str, options: Sequence[str], work: Path, log: Path) -> Path:
    call(["apt-get", *options, "source", "--download-only", "--tar-only", package], log, cwd=work)
    found = [path for path in work.glob(f"{package}_*.orig.tar.*") if path.suffix != ".asc"]
    if len(found) != 1:
        raise SystemExit(
            f"{package}: apt-get brought {len(found)} original tarballs instead of one; see {log}"
        )
    return found[0]
