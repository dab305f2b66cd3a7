"""Some seconds of each fuzz target, and all that they ever found (`make fuzz` is the long run)."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path.insert(0, str(FOLDER))

from profiles import fuzz, try_one  # noqa: E402
from seeds import make_seeds  # noqa: E402

#: Of each target; what is tried differs from run to run, and the seed is printed with a failure.
SECONDS = 4
#: What is done with a profile takes longer than what the native readers do.
PROFILE_SECONDS = 8


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return make_seeds(tmp_path_factory.mktemp("seeds"))


@pytest.mark.parametrize(
    "path", sorted((FOLDER / "regressions" / "profiles").glob("*.coz")), ids=lambda p: p.name
)
def test_profiles_that_once_failed(path: Path, tmp_path: Path) -> None:
    _, failure = try_one(path.read_bytes(), tmp_path)
    assert not failure


def test_damaged_profiles(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    seed = random.SystemRandom().randrange(2**32)
    found = fuzz(PROFILE_SECONDS, seed, tmp_path / "findings")
    assert found == 0, capfd.readouterr().out


@pytest.mark.parametrize("name", ["line_table", "debug_info", "unwind_table"])
def test_native_target(name: str, seeds: dict[str, Path], tmp_path: Path) -> None:
    target = ROOT / "build" / "fuzz" / f"{name}_driven"
    if not target.exists():
        pytest.skip(f"{target} was not built: make fuzz-targets")
    seed = random.SystemRandom().randrange(2**31)
    command = [
        target,
        f"-max_total_time={SECONDS}",
        f"-seed={seed}",
        "-max_len=65536",
        f"-artifact_prefix={tmp_path}/",
    ]
    regressions = FOLDER / "regressions" / name
    folders = [seeds[name], *([regressions] if regressions.exists() else [])]
    done = subprocess.run([*command, *folders], capture_output=True, text=True, check=False, timeout=600)
    kept = tmp_path / "crash-in-hand"
    assert done.returncode == 0, (
        f"seed {seed}, input {kept.read_bytes().hex() if kept.exists() else ''}\n{done.stderr}"
    )
