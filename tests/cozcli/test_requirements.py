"""COZ_TEST_REQUIRE: a test that is skipped for want of what should be there fails (tests/conftest.py)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
TESTS = """
import pytest
def test_called(): pytest.skip("libmalloc.so not found")
@pytest.mark.skipif(True, reason="libmalloc.so not found")
def test_marked(): pass
@pytest.mark.xfail(reason="libmalloc.so")
def test_expected(): assert False
def test_other(): pytest.skip("takes root")
"""


@pytest.mark.parametrize(
    ("required", "summary"),
    [("", "3 skipped, 1 xfailed"), ("other libmalloc", "1 failed, 1 skipped, 1 xfailed, 1 error")],
)
def test_a_skip_for_want_of_what_is_there_fails(tmp_path: Path, required: str, summary: str) -> None:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_some.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path],
        env={**os.environ, "COZ_TEST_REQUIRE": required},
        capture_output=True,
        text=True,
        check=False,
    )
    assert summary in done.stdout
    assert ("COZ_TEST_REQUIRE says that it is there" in done.stdout) == bool(required)
