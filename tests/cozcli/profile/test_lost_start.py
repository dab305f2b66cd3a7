"""Profiles in which the record of a run's start is damaged or missing: nothing measured is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from combined_profiles import Measurement, Program
from synthetic import to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.profile.merge import merge
from cozcli.profile.profile import Profile, load_profile

PROGRAM = Program("serial", 8)


def lines_of(seed: int, program: Program = PROGRAM) -> list[bytes]:
    return to_bytes(Measurement(seed=seed).records(program, 200)).splitlines(keepends=True)


def load(tmp_path: Path, lines: list[bytes]) -> Profile:
    (tmp_path / "p").write_bytes(b"".join(lines))
    return load_profile([str(tmp_path / "p")])


def texts(profile: Profile) -> str:
    return "\n".join(warning.text for warning in profile.warnings)


DAMAGES = [
    pytest.param(lambda line: line.replace(b'"version": 1', b'"version": x'), id="garbage"),
    pytest.param(lambda line: line.replace(b'"period": 1000000', b'"period": -7'), id="impossible"),
    pytest.param(lambda line: b"\0" * (len(line) - 1) + b"\n", id="zeros"),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_effects_do_not_need_it(tmp_path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    lines = lines_of(1)
    whole = analyse(load(tmp_path, lines))
    assert damage(lines[0]) != lines[0]
    profile = load(tmp_path, [damage(lines[0]), *lines[1:]])
    assert "the record that begins 1 run is damaged or missing" in texts(profile)
    found = {result.key: result for result in analyse(profile).results}
    for result in whole.results:
        assert found[result.key].slope == pytest.approx(result.slope, abs=1e-9)
        assert found[result.key].share == pytest.approx(result.share)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_run_does_not_join_the_one_before_it(tmp_path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    """Numbers of companions mean other targets there."""
    other = Program("lock", 8, seed=5)
    first, second = lines_of(1), lines_of(2, other)
    profile = load(tmp_path, [*first, damage(second[0]), *second[1:]])
    (tmp_path / "second").write_bytes(b"".join(second))
    alone = load_profile([str(tmp_path / "second")])
    assert [len(run.experiments) for run in profile.runs] == [200, 200]
    assert profile.runs[1].targets == alone.runs[0].targets
    assert "begins 1 run is" in texts(profile)


def test_a_mark_of_the_byte_order_is_no_damage(tmp_path: Path) -> None:
    profile = load(tmp_path, [b"\xef\xbb\xbf", *lines_of(1)])
    assert texts(profile) == ""
    assert profile.runs[0].record.program == "/src/program"


def test_merging_keeps_runs_apart(tmp_path: Path) -> None:
    paths = []
    for seed in (1, 2):
        lines = lines_of(seed)
        paths.append(str(tmp_path / str(seed)))
        Path(paths[-1]).write_bytes(b"".join([DAMAGES[0].values[0](lines[0]), *lines[1:]]))
    merge(str(tmp_path / "merged"), paths)
    profile = load_profile([str(tmp_path / "merged")])
    assert [len(run.experiments) for run in profile.runs] == [200, 200]
