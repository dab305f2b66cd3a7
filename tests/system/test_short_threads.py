"""Threads that live short take samples in proportion to their processor time; so does who creates them.

The program measures how that time divides: two threads that share a core take longer for the same work.
"""

from __future__ import annotations

import subprocess

import pytest
from conftest import PROGRAMS

SOURCE = PROGRAMS / "short_threads.cpp"
#: Microseconds of a thread, and by how much the share of its line's samples may be off, as part of the share.
LENGTHS = {50: 0.08, 500: 0.06, 2000: 0.06}


def line_of(name: str) -> str:
    numbers = [
        n for n, text in enumerate(SOURCE.read_text().splitlines(), 1) if text.endswith(f"LINE {name}")
    ]
    assert len(numbers) == 1
    return f"{SOURCE.name}:{numbers[0]}"


def shares_of_threads(coz, program, *arguments: object, sampling: str) -> tuple[float, float]:
    """The threads' share of both lines' samples, and of the processor time that the program measured."""
    run = coz.run([program, *arguments], "--sampling", sampling, "--fixed-speedup", 0)
    assert run.status == 0, run.err
    counts = {
        name: sum(
            line["count"]
            for line in run.records("samples")[-1]["lines"]
            if line["location"].endswith(line_of(name))
        )
        for name in ("main", "thread")
    }
    assert sum(counts.values()) > 100, counts
    _, in_main, _, in_threads = run.out.split()
    truth = float(in_threads) / (float(in_main) + float(in_threads))
    return counts["thread"] / sum(counts.values()), truth


@pytest.mark.measured
@pytest.mark.parametrize("sampling", ["perf-trap", "perf-signal", "timer"])
@pytest.mark.parametrize("microseconds", LENGTHS)
def test_a_thread_at_a_time(coz, build, sampling, microseconds):
    program = build("short_threads.cpp")
    if sampling == "timer":
        # Main's samples are signals of another thread. Late ones find it in a system call after its loop.
        delay = float(subprocess.run([program, "delay"], capture_output=True, check=True).stdout)
        if delay > microseconds / 10:
            pytest.skip(f"signals take {delay:.0f} µs to reach another processor, the work {microseconds}")
    share, truth = shares_of_threads(coz, program, "joined", microseconds, 8, sampling=sampling)
    assert share == pytest.approx(truth, rel=LENGTHS[microseconds])


@pytest.mark.measured
@pytest.mark.parametrize("kind", ["batches", "detached", "async"])
def test_other_ways_to_run_threads(coz, build, kind):
    share, truth = shares_of_threads(coz, build("short_threads.cpp"), kind, 500, 4, sampling="auto")
    assert share == pytest.approx(truth, rel=LENGTHS[500])
