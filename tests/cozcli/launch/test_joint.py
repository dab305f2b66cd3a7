"""How the ranks of a job find each other for --joint."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from cozcli.errors import CozError
from cozcli.launch import joint
from cozcli.launch.job import Job

DEFAULTS = {
    "ranks": None,
    "tree": False,
    "forked": 0,
    "end_to_end": False,
    "granularity": "line",
    "waits": "",
    "fixed_wait": [],
    "fixed_lock": [],
    "fixed_region": [],
    "repeat": None,
    "duration": None,
    "until": None,
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(joint, "FOLDER", tmp_path)
    return tmp_path


def options(**changed: object) -> argparse.Namespace:
    return argparse.Namespace(**{**DEFAULTS, **changed})


def join(rank: int | None, name: str = "job/1", environment: dict[str, str] | None = None) -> joint.Joint:
    return joint.join(options(), Job(rank, 4, name, "host"), environment or {}, patience=0.05)


def test_the_others_find_the_file_of_rank_0(folder: Path) -> None:
    leading = join(0)
    assert not leading.follows
    assert leading.file.stat().st_mode & 0o777 == 0o600
    assert "COZ_JOINT_FOLLOWS" not in leading.variables
    other = join(3)
    assert other.follows
    assert other.file == leading.file
    assert other.variables == {"COZ_JOINT": str(leading.file), "COZ_JOINT_FOLLOWS": "1"}
    other.end()
    assert leading.file.exists()
    leading.end()
    assert list(folder.iterdir()) == []


def test_steps_of_a_job_are_apart() -> None:
    one = join(0, environment={"SLURM_STEP_ID": "0"})
    with pytest.raises(CozError, match="was not seen"):
        join(1, environment={"SLURM_STEP_ID": "1"})
    assert join(1, environment={"SLURM_STEP_ID": "0"}).file == one.file


def test_what_a_killed_job_has_left_is_not_taken(folder: Path) -> None:
    link = folder / f"coz-joint.{os.getuid()}.job_1"
    for left in (f"{link.name}.999999999-5", f"{link.name}.{os.getpid()}-1", "x", "y.1-z"):
        link.unlink(missing_ok=True)
        link.symlink_to(left)
        with pytest.raises(CozError, match="was not seen"):
            join(1)
    leading = join(0)
    assert join(1).file == leading.file


def test_the_lowest_profiled_rank_leads() -> None:
    assert joint.leading_rank(None) == 0
    assert joint.leading_rank({5, 2, 3}) == 2
    leading = joint.join(options(ranks={2, 3}), Job(2, 4, "job", "host"), {})
    assert not leading.follows


def test_ranks_of_several_machines_are_refused() -> None:
    with pytest.raises(CozError, match="only 2 of the job's 4 ranks run on this machine"):
        join(0, environment={"MPI_LOCALNRANKS": "2"})
    assert not join(0, environment={"MPI_LOCALNRANKS": "4"}).follows


@pytest.mark.parametrize(("rank", "name", "missing"), [(None, "job", "rank"), (0, "", "name of the job")])
def test_outside_a_job(rank: int | None, name: str, missing: str) -> None:
    with pytest.raises(CozError, match=f"no variable tells the {missing}"):
        join(rank, name)


@pytest.mark.parametrize(
    "changed", [{"tree": True}, {"granularity": "callpath"}, {"until": 0.02}, {"waits": "sites"}]
)
def test_what_ranks_cannot_share_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(CozError, match="exclude each other"):
        joint.join(options(**changed), Job(0, 2, "job", "host"), {})


def test_a_folder_that_cannot_be_written_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "FOLDER", Path("/nonexistent"))
    with pytest.raises(CozError, match="cannot share /nonexistent"):
        join(0)
