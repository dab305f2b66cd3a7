"""Programs that tests compile. They are kept in build/tests/programs.

The processes of a test run that work side by side share them, and the next run need not compile them again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "build" / "tests" / "programs"
#: A program that no test has used for so long is removed.
_KEPT_SECONDS = 7 * 24 * 3600


def compiled(
    command: Sequence[str], source: Path, name: str, environment: Mapping[str, str] = os.environ
) -> Path:
    """The program `name` that `command`, followed by `-o` and a path, makes of `source`.

    It is made again if the command, the compiler, the source, a header beside it or coz.h changes.
    """
    folder = KEPT / _digest(command, source)
    program = folder / name
    if program.exists():
        os.utime(folder)
        return program
    KEPT.mkdir(parents=True, exist_ok=True)
    _remove_unused()
    work = Path(tempfile.mkdtemp(dir=KEPT, prefix="new-"))
    done = subprocess.run(
        [*command, "-o", str(work / name), *_at_the_end(source)],
        env=dict(environment),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    work.chmod(0o755)
    try:
        work.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(work)
    return program


def _at_the_end(source: Path) -> list[str]:
    """Go wants the name of the source after all options."""
    return [str(source)] if source.suffix == ".go" else []


def _digest(command: Sequence[str], source: Path) -> str:
    digest = hashlib.sha256("\0".join(command).encode())
    compiler = Path(shutil.which(command[0]) or command[0]).resolve()
    digest.update(f"{compiler}\0{compiler.stat().st_mtime_ns}".encode())
    for path in [source, *_headers(source)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def _headers(source: Path) -> Iterable[Path]:
    return sorted([*source.parent.glob("*.h"), ROOT / "include" / "coz.h"])


def _remove_unused() -> None:
    for folder in KEPT.iterdir():
        try:
            if time.time() - folder.stat().st_mtime > _KEPT_SECONDS:
                shutil.rmtree(folder)
        except OSError:  # another process was faster
            continue
