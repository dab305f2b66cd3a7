"""One run: its memory is its own, its output goes where programs expect output to go."""

import os
import resource
import time
from pathlib import Path

import pytest

from cozcli.compare import trial
from cozcli.compare.design import Layout
from cozcli.compare.trial import Side, run
from cozcli.errors import CozError

MIB = 1 << 20


def shell(*lines):
    return Side("A", ["/bin/sh", "-c", "\n".join(lines)], {"X": "x y"})


def test_peak_memory_below_our_own_is_seen():
    ours = bytearray(b"x" * (64 * MIB))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > len(ours)
    small, large = (
        run(shell(f"head -c {size} /dev/zero | tail -c {size} | wc -c"), None, memory=True).memory
        for size in (1, 24 * MIB)
    )
    assert 0 < small < 12 * MIB
    assert 24 * MIB < large < 48 * MIB


def test_a_run_whose_memory_is_measured_is_like_any_other(tmp_path):
    given, seen = tmp_path / "given", tmp_path / "seen"
    given.write_text("input\n")
    lines = [f'echo "$X $(cat)" > {seen}', f"env >> {seen}", f"ls /proc/$$/fd >> {seen}", "echo printed"]
    found = {}
    for memory in (False, True):
        output = run(shell(*lines), Layout(32), str(given), keep_output=True, memory=memory).output
        found[memory] = (output, sorted(seen.read_text().splitlines()))
    assert found[True] == found[False]
    assert "x y input" in found[True][1]
    open_ones = set(os.listdir("/proc/self/fd"))
    with pytest.raises(CozError, match="ended with status 3; its last words: no such table"):
        run(shell("echo no such table >&2", "exit 3"), None, memory=True)
    with pytest.raises(CozError, match="was killed by SIGKILL"):
        run(shell("kill -9 $$"), None, memory=True)
    with pytest.raises(CozError, match="may not contain ="):
        run(Side("A", ["/bin/a=b"]), None, memory=True)
    assert set(os.listdir("/proc/self/fd")) == open_ones


def test_programs_do_not_see_that_nobody_reads_what_they_print():
    with pytest.raises(CozError):  # so that the next line means something
        run(shell("[ ! /dev/null -ef /dev/null ]"), None)
    run(shell("[ ! /proc/self/fd/1 -ef /dev/null ]"), None)


def test_last_words_are_the_last():
    with pytest.raises(CozError, match="its last words: the end"):
        run(
            shell(
                "i=0; while [ $i -lt 999 ]; do echo line $i >&2; i=$((i+1)); done", "echo the end >&2; exit 1"
            ),
            None,
        )


def test_times_are_those_of_the_processors_that_the_program_may_run_on(monkeypatch):
    ticks = os.sysconf("SC_CLK_TCK")
    lines = [
        f"cpu{name} {1 * ticks} 0 {2 * ticks} {50 * ticks} {9 * ticks} 0 0 {stolen * ticks} 0 0"
        for name, stolen in (("", 97), (0, 90), (1, 1), (2, 6))
    ]
    monkeypatch.setattr(Path, "read_text", lambda _: "\n".join(lines))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 2})
    found = trial._processor_times()
    assert found == (pytest.approx(6.0), pytest.approx(3.5), pytest.approx(2 / ticks))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {7})
    assert trial._processor_times() == (0, 0, 0)


@pytest.mark.parametrize(
    ("others", "stolen", "wall", "lost"),
    [
        *((0.0, 0.0, 2.5, 0.0), (0.1, 0.0, 2.5, 0.08), (5.0, 0.0, 2.5, 0.5), (0.0, 0.25, 2.5, 0.25)),
        *((0.0, 0.0, 4.5, 0.02), (0.1, 0.0, 4.5, 0.12)),
    ],
    ids=[
        "its own threads",
        "others for a while",
        "others all the time",
        "stolen",
        "one thread",
        "and others",
    ],
)
def test_waiting_behind_its_own_threads_is_no_disturbance(others, stolen, wall, lost):
    """Of 4 s of processor time; its first thread waited for 0.5 s. Processors are counted to 0.02 s."""
    before = trial._ProcessorTimes(100.0, 3.0, 0.02)
    after = trial._ProcessorTimes(104.0 + others, 3.0 + stolen, 0.02)
    assert trial._lost(0.5, 4.0, wall, before, after) == pytest.approx(lost)
    unknown = trial._ProcessorTimes(0.0, 0.0, 0.0)
    assert trial._lost(0.5, 4.0, wall, unknown, unknown) == 0.5


def test_a_program_that_ignores_sigterm_is_killed(monkeypatch):
    monkeypatch.setattr(trial, "_PATIENCE", 0.1)
    words = ["sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"]
    process = os.posix_spawn("/bin/sh", words, os.environ)
    time.sleep(0.2)
    trial._end(process)
    with pytest.raises(ChildProcessError):
        os.waitpid(process, 0)
