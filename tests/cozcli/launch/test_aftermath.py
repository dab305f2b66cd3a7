"""What `coz run` reads of its own profile when the program has ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from cozcli.launch import aftermath, load
from cozcli.launch.live import Tail

EXPERIMENT = b'{"type":"experiment","kind":"line","location":"a.c:1"}\n'


@pytest.mark.parametrize("kind", ["experiment", "samples"])
def test_records_of_absurd_depth_are_passed_over(tmp_path: Path, kind: str) -> None:
    """Another process may have written into the file: what is measured is still told."""
    profile = tmp_path / "deep.coz"
    deep = b'{"type":"%s","location":' % kind.encode() + b"[" * 100_000 + b"\n"
    profile.write_bytes(EXPERIMENT + deep + EXPERIMENT)
    assert aftermath.count_experiments(profile, 0) == (2, 1)
    assert aftermath.is_little(profile)
    assert "2 experiments" in str(aftermath.describe(profile, 0, "deep.coz"))
    assert aftermath.never_sampled(profile, 0, []) == []
    assert load._last_samples(profile, 0) == (None, False)
    assert Tail(profile, 0).read().experiments == 2
