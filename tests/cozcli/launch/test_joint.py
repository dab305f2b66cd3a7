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


def test_outside_a_job() -> None:
    with pytest.raises(CozError, match="no variable tells the rank"):
        join(None)


def test_where_launchers_give_no_name_it_is_that_of_the_launcher() -> None:
    leading = join(0, "")
    assert f".{os.getppid()}-" in leading.link.name
    assert join(1, "").file == leading.file


def test_two_launchers_of_one_allocation_are_apart() -> None:
    one = join(0, environment={"PMIX_NAMESPACE": "a"})
    other = join(0, environment={"PMIX_NAMESPACE": "b"})
    assert join(1, environment={"PMIX_NAMESPACE": "a"}).file == one.file
    one.end()
    assert join(1, environment={"PMIX_NAMESPACE": "b"}).file == other.file


def test_only_the_own_link_is_removed() -> None:
    first = join(0)
    again = first.link.with_name("again")
    again.symlink_to("another")
    again.rename(first.link)
    first.end()
    assert os.readlink(first.link) == "another"


def test_leftovers_of_killed_processes_are_removed(folder: Path) -> None:
    gone = f"coz-joint.{os.getuid()}.old"
    for name in (f"{gone}.999999999-5", f"{gone}.999999999-5.1", f"{gone}.999999999-5.link"):
        (folder / name).touch()
    (folder / gone).symlink_to(f"{gone}.999999999-5")
    (folder / "coz-joint.unlike").touch()
    leading = join(0)
    assert {path.name for path in folder.iterdir()} == {
        "coz-joint.unlike",
        leading.link.name,
        leading.file.name,
    }


def test_the_end_of_the_leading_rank_clears_the_selection() -> None:
    leading = join(0)
    leading.file.write_bytes(b"\1" * 4096)
    with leading.file.open("rb") as mapped:  # as the others have it
        leading.end()
        assert mapped.read()[12:24] == b"\1" * 4 + b"\0" * 4 + b"\1" * 4


def test_the_profile_of_a_rank_that_follows_is_private_and_removed() -> None:
    join(0)
    other = join(2)
    assert other.profile is not None
    assert other.profile.stat().st_mode & 0o777 == 0o600
    other.end()
    assert not other.profile.exists()


@pytest.mark.parametrize(
    "changed", [{"tree": True}, {"granularity": "callpath"}, {"until": 0.02}, {"waits": "sites"}]
)
def test_what_ranks_cannot_share_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(CozError, match="exclude each other"):
        joint.join(options(**changed), Job(0, 2, "job", "host"), {})
    with pytest.raises(CozError, match="--joint and load amplification"):
        joint.join(options(), Job(0, 2, "job", "host"), {}, amplifies=True)


def test_a_folder_that_cannot_be_written_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "FOLDER", Path("/nonexistent"))
    with pytest.raises(CozError, match="cannot share /nonexistent"):
        join(0)
