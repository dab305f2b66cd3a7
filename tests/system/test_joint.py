"""Ranks of a job that are profiled as one program (--joint)."""

from __future__ import annotations

import os
import subprocess
import uuid
from pathlib import Path

import pytest


def rank(number, size=2, job=None):
    """What a launcher tells a rank."""
    return {
        "OMPI_COMM_WORLD_RANK": str(number),
        "OMPI_COMM_WORLD_SIZE": str(size),
        "PMIX_NAMESPACE": job or f"job-{uuid.uuid4()}",
    }


@pytest.fixture
def start(coz):
    """start(RANK, JOB, PROGRAM, OPTION…): a rank of a job below coz run --joint."""
    processes = []

    def run(number, job, program, *options):
        coz.environment |= rank(number, job=job)
        processes.append(coz.start(program, "--joint", *options))
        return processes[-1]

    yield run
    for process in processes:
        process.kill()


def line_of(source, name):
    return next(n for n, text in enumerate(source.read_text().splitlines(), 1) if f"LINE {name}" in text)


@pytest.mark.measured
def test_experiments_are_on_the_lines_of_all_ranks(coz, build, start, request, tmp_path):
    program = build("joint.cpp")
    job = f"job-{uuid.uuid4()}"
    command = [program, tmp_path / "meeting", "12"]
    ranks = [start(number, job, command) for number in (1, 0)]
    ended = [process.communicate(timeout=60) for process in ranks]
    assert [process.returncode for process in ranks] == [0, 0], ended
    assert "experiments" not in ended[0][1]  # rank 0 reports
    source = request.config.rootpath / "tests/programs/joint.cpp"
    results = {result["location"]: result for result in coz.results()}
    large = results[f"{source}:{line_of(source, 'large')}"]
    effects = {point["speedup"]: point["effect"] for point in large["curve"]}
    assert 0.25 < effects[0.5] < 0.62  # true is 0.5; a rank by itself would not see the line
    small = results.get(f"{source}:{line_of(source, 'small')}")
    if small is not None:
        assert {point["speedup"]: point["effect"] for point in small["curve"]}[0.5] == pytest.approx(
            0, abs=0.12
        )
    assert list(Path("/dev/shm").glob(f"coz-joint.*{job}*")) == []


def test_what_is_missing_is_said_before_the_start(coz, build):
    program = [build("joint.cpp"), "meeting", "1"]
    clean = dict.fromkeys(rank(0), "")
    run = coz.run(program, "--joint", env=clean)
    assert (run.status, run.out) == (2, "")
    assert "no variable tells the rank" in run.err
    run = coz.run(program, "--joint", env=rank(0) | {"OMPI_COMM_WORLD_LOCAL_SIZE": "1"})
    assert (run.status, run.out) == (2, "")
    assert "only 1 of the job's 2 ranks run on this machine" in run.err
    for options in (("--tree",), ("--granularity", "callpath"), ("--waits",), ("--repeat", "2")):
        run = coz.run(program, "--joint", *options, env=rank(0))
        assert (run.status, run.out) == (2, ""), run.err
        assert f"--joint and {' '.join(options[:1])}" in run.err
    assert not Path(coz.folder / "meeting").exists()


@pytest.mark.parametrize("options", [("-s", "%"), ("--granularity", "function"), ("--period", "2ms")])
def test_a_rank_with_other_options_runs_unprofiled(coz, build, start, tmp_path, options):
    job = f"job-{uuid.uuid4()}"
    command = [build("joint.cpp"), tmp_path / "meeting", "2"]
    other = start(1, job, command, *options)
    leading = start(0, job, command)
    _, err = other.communicate(timeout=60)
    assert other.returncode == 0, err
    assert "coz run was given other options for it; it runs unprofiled" in err
    _, err = leading.communicate(timeout=60)
    assert leading.returncode == 0
    assert "unprofiled" not in err


def test_a_killed_leader_leaves_nothing_that_misleads(coz, build, start, tmp_path):
    job = f"job-{uuid.uuid4()}"
    process = start(0, job, [build("joint.cpp"), tmp_path / "meeting", "60"])
    for _ in range(200):
        if links := list(Path("/dev/shm").glob(f"coz-joint.*{job}")):
            break
        subprocess.run(["sleep", "0.05"], check=True)
    else:
        pytest.fail("no link")
    os.killpg(process.pid, 9)
    process.communicate(timeout=20)
    assert links[0].is_symlink()
    # Another job of the same name makes a new one in its place.
    again = start(0, job, [build("joint.cpp"), tmp_path / "other", "0.5"])
    other = start(1, job, [build("joint.cpp"), tmp_path / "other", "0.5"])
    for each in (again, other):
        each.communicate(timeout=60)
        assert each.returncode == 0
    for left in Path("/dev/shm").glob(f"coz-joint.*{job}*"):
        left.unlink()
