"""Ranks of a parallel job: file names that tell them apart, and which of them are profiled."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from launching import RECORDS, Start, finish

from cozcli.commands.values import ranks
from cozcli.errors import CozError
from cozcli.launch.job import Job, expand, find_job, refuse_shared
from cozcli.launch.launcher import launcher_command

HERE = os.uname().nodename


@pytest.mark.parametrize(
    ("environment", "rank", "size"),
    [
        ({}, None, None),
        ({"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "3"}, 3, 4),
        ({"PMIX_RANK": "2"}, 2, None),
        ({"PMIX_RANK": "0", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4"}, 0, 4),
        ({"PMI_RANK": "0", "PMI_SIZE": "2"}, 0, 2),
        ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8"}, 5, 8),
        # A batch script is one process, whatever its job has.
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, 0, None),
        # mpirun below srun: its processes have their own ranks, srun's is that of a daemon.
        ({"SLURM_PROCID": "0", "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, 1, 2),
        ({"PMI_RANK": "garbage", "SLURM_PROCID": "1"}, 1, None),
    ],
)
def test_launchers_tell_the_rank(environment: dict[str, str], rank: int | None, size: int | None) -> None:
    job = find_job(environment)
    assert (job.rank, job.size, job.host) == (rank, size, HERE)


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"LSB_JOBID": "55", "LSB_JOBINDEX": "2"}, "55.2"),
        ({"LSB_JOBID": "55", "LSB_JOBINDEX": "0"}, "55"),
        ({"JOB_ID": "9", "SGE_TASK_ID": "3"}, "9.3"),
        ({"JOB_ID": "9", "SGE_TASK_ID": "undefined"}, "9"),
    ],
)
def test_elements_of_an_array_of_jobs_have_names_of_their_own(environment: dict[str, str], name: str) -> None:
    assert find_job(environment).name == name


def test_letters_in_names() -> None:
    job = Job(3, 4, "a/17", "node1")
    name = expand("%e{RUN}/p.%j.%h.%r.%p.%%.coz", job, {"RUN": "out"})
    assert name == f"out/p.a_17.node1.3.{os.getpid()}.%.coz"
    assert expand("plain.coz", Job(None, None, "", "n"), {}) == "plain.coz"


@pytest.mark.parametrize("pattern", ["p.%r", "p.%j", "p.%e{NONE}", "p.%x", "p.%"])
def test_what_is_not_known_is_refused_with_a_remedy(pattern: str) -> None:
    with pytest.raises(CozError) as refused:
        expand(pattern, Job(None, None, "", "n"), {})
    assert pattern in refused.value.problem.text
    assert refused.value.problem.hint


@pytest.mark.parametrize(
    ("pattern", "job", "chosen", "refused"),
    [
        ("p.coz", Job(None, None, "", "n"), None, False),
        ("p.coz", Job(0, 1, "", "n"), None, False),
        ("p.coz", Job(0, 2, "", "n"), None, True),
        ("p.coz", Job(1, None, "", "n"), None, True),
        ("p.%h.%j.%%r", Job(0, 2, "j", "n"), None, True),
        ("p.%r", Job(0, 2, "", "n"), None, False),
        ("p.%p", Job(0, 2, "", "n"), None, False),
        ("p.%e{PMI_RANK}", Job(0, 2, "", "n"), None, False),
        ("p.%e{HOME}", Job(0, 2, "", "n"), None, True),
        ("p.coz", Job(0, 2, "", "n"), {0}, False),
        ("p.coz", Job(0, 4, "", "n"), {0, 1}, True),
    ],
)
def test_two_ranks_do_not_write_one_file(
    pattern: str, job: Job, chosen: set[int] | None, refused: bool
) -> None:
    if not refused:
        refuse_shared(pattern, job, chosen)
        return
    with pytest.raises(CozError, match="would write the one profile") as error:
        refuse_shared(pattern, job, chosen)
    assert "%r" in error.value.problem.hint


def test_lists_of_ranks() -> None:
    assert ranks("0-2,7") == {0, 1, 2, 7}
    for text in ("", "a", "3-1", "0,,1", "-1"):
        with pytest.raises(Exception, match="not a list of ranks"):
            ranks(text)


def rank(number: int, size: int = 2) -> dict[str, str]:
    return {"OMPI_COMM_WORLD_RANK": str(number), "OMPI_COMM_WORLD_SIZE": str(size), "SLURM_JOB_ID": "9"}


def test_each_rank_writes_its_own_profile_and_says_in_it_who_it_is(start: Start, tmp_path: Path) -> None:
    for number in range(2):
        started = start("exit", "0", options=("-o", "p.%j.%r"), FAKE_RECORDS=RECORDS, **rank(number))
        assert finish(started)[0] == 0
        lines = (tmp_path / f"p.9.{number}").read_text().splitlines()
        assert json.loads(lines[-1]) == {"type": "exit", "status": 0}
        told = {"type": "job", "rank": number, "ranks": 2, "job": "9", "host": HERE}
        assert json.loads(lines[-2]) == told


def test_ranks_that_would_share_a_file_are_refused(start: Start, tmp_path: Path) -> None:
    status, _, error = finish(start("exit", "0", FAKE_RECORDS=RECORDS, **rank(0)))
    assert status == 2
    assert "2 ranks of this job would write the one profile profile.coz, so nothing was started." in error
    assert "-o profile.%r.coz" in error
    assert not list(tmp_path.iterdir())


def test_ranks_that_are_not_chosen_run_as_without_coz(start: Start, tmp_path: Path) -> None:
    options = ("-o", "p.%r", "--ranks", "1-3")
    unprofiled = start("environment", "LD_PRELOAD", options=options, FAKE_RECORDS=RECORDS, **rank(0))
    assert finish(unprofiled) == (0, os.environ.get("LD_PRELOAD", "(none)") + "\n", "")
    assert finish(start("dispositions", options=options, **rank(0))) == (0, "", "")
    assert not list(tmp_path.iterdir())
    assert finish(start("exit", "4", options=options, FAKE_RECORDS=RECORDS, **rank(1)))[0] == 4
    assert [path.name for path in tmp_path.iterdir()] == ["p.1"]
    status, _, error = finish(start("exit", "4", options=options))
    assert status == 2
    assert "no variable tells the rank" in error
    status, _, error = finish(start("exit", "4", options=options, OMPI_COMM_WORLD_RANK="abc"))
    assert status == 2
    assert "is no number: OMPI_COMM_WORLD_RANK=abc" in error


class TestLauncher:
    def test_coz_stands_before_the_program_named_by_its_path_or_file(self) -> None:
        for name in ("app", "./app"):
            command = launcher_command(["mpirun", "-n", "4", name, "x"], name, ["run", "-l", name])
            assert command is not None
            assert command[:3] == ["mpirun", "-n", "4"]
            assert command[-6:] == ["run", "-l", name, "---", name, "x"]
            assert Path(command[3]).name == "coz" or command[3] == sys.executable

    def test_a_file_counts_if_it_can_be_executed(self, tmp_path: Path) -> None:
        program = tmp_path / "app"
        program.touch(mode=0o755)
        command = launcher_command(["mpirun", "--wdir", "/data/app", str(program)], "app", ["run"])
        assert command is not None
        assert command[-2:] == ["---", str(program)]
        assert command[1:3] == ["--wdir", "/data/app"]

    def test_without_launcher_there_is_nothing_to_do(self) -> None:
        assert launcher_command(["./app", "app"], "app", ["run"]) is None

    def test_a_command_without_the_program_is_refused(self) -> None:
        with pytest.raises(CozError, match=r"no word of the command is b, so nothing was started: nice \./a"):
            launcher_command(["nice", "./a"], "b", ["run"])
