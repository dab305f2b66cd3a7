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


@pytest.mark.parametrize("damage", DAMAGES)
def test_runs_of_one_program_stay_whole(tmp_path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    """Their targets are the same, or nearly so."""
    first, second = lines_of(1), lines_of(2)
    profile = load(tmp_path, [*first, damage(second[0]), *second[1:]])
    assert [(len(run.experiments), run.unknown) for run in profile.runs] == [(200, 0), (200, 0)]
    assert profile.runs[1].record.program == "/src/program"


def test_a_run_does_not_join_one_without_experiments(tmp_path: Path) -> None:
    short = [lines_of(1)[0], to_bytes([{"type": "exit", "status": 0}])]
    profile = load(tmp_path, [*short, *lines_of(2)[1:]])
    assert [len(run.experiments) for run in profile.runs] == [0, 200]
    assert "begins 1 run is" in texts(profile)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [("experiment", "start", 7), ("experiment", "run_time", 7), ("target", "number", 0)],
)
def test_one_wrong_number_divides_no_run(tmp_path: Path, kind: str, field: str, value: int) -> None:
    records = Measurement(seed=1).records(PROGRAM, 200)
    [record for record in records if record["type"] == kind][2][field] = value
    profile = load(tmp_path, [to_bytes(records)])
    assert len(profile.runs) == 1
    assert "begins" not in texts(profile)


def test_a_mark_of_the_byte_order_is_no_damage(tmp_path: Path) -> None:
    profile = load(tmp_path, [b"\xef\xbb\xbf", *lines_of(1)])
    assert texts(profile) == ""
    assert profile.runs[0].record.program == "/src/program"


def test_merging_makes_no_run_of_what_breaks_off(tmp_path: Path) -> None:
    paths = [str(tmp_path / "1"), str(tmp_path / "2")]
    Path(paths[0]).write_bytes(b"".join([*lines_of(1), lines_of(2)[0][:-9]]))
    Path(paths[1]).write_bytes(b"".join(lines_of(3)))
    merge(str(tmp_path / "merged"), paths)
    assert len(load_profile([str(tmp_path / "merged")]).runs) == 2


def test_merging_keeps_runs_apart(tmp_path: Path) -> None:
    paths = []
    for seed in (1, 2):
        lines = lines_of(seed)
        paths.append(str(tmp_path / str(seed)))
        Path(paths[-1]).write_bytes(b"".join([DAMAGES[0].values[0](lines[0]), *lines[1:]]))
    merge(str(tmp_path / "merged"), paths)
    profile = load_profile([str(tmp_path / "merged")])
    assert [len(run.experiments) for run in profile.runs] == [200, 200]
