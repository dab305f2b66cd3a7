"""Is a program's pace its own? Of twenty programs, ten are paced by something outside: these have a mark.

With `-s`, each test prints a row: the marks and slopes of the lines.
"""

import pytest

SECONDS = 25
SELF_LIMITED = {
    "pipeline, queue of 1": ["self_limited.cpp", SECONDS, "pipeline", 1, 600, 1000],
    "pipeline, queue of 8": ["self_limited.cpp", SECONDS, "pipeline", 8, 6000, 10000],
    "pipeline, queue of 64": ["self_limited.cpp", SECONDS, "pipeline", 64, 600, 1000],
    "three stages, the last at its limit": ["self_limited.cpp", SECONDS, "pipeline", 20, 300, 500, 1000],
    "fork and join": ["self_limited.cpp", SECONDS, "forks", 800, 1000, 700],
    "pool": ["benchmarks/programs/thread_pool.cpp", "--seconds", SECONDS],
    "lock": ["benchmarks/programs/mutex_long.cpp", "--seconds", SECONDS],
    "barriers": ["benchmarks/programs/barrier_phases.cpp", "--seconds", SECONDS],
    "serial": ["benchmarks/programs/serial.cpp", "--seconds", SECONDS],
    "two threads, joined": ["benchmarks/programs/two_threads.cpp", "--seconds", SECONDS],
}
# Means, microseconds between requests, and the work of each thread for one.
PACED = {
    "clock, half load": ["timer", 3000, 1500],
    "timer, 80 % in two threads": ["timerfd", 4000, 1800, 1400],
    "client at a pipe, light load": ["pipe", 10000, 1000],
    "client at a pipe, half load in two threads": ["pipe", 3000, 800, 700],
    "client at a pipe, 80 % load": ["pipe", 2500, 2000],
    "client at a socket, light load in two threads": ["socket", 10000, 800, 800],
    "client at a socket, three threads of 42 %": ["socket", 5000, 2100, 2100, 2100],
    "client at a socket, 80 % load": ["socket", 2500, 2000],
    "device, asked and awaited": ["device", 3000, 1500],
    "device with four requests under way": ["device:4", 3000, 1000, 900],
}

pytestmark = [pytest.mark.long, pytest.mark.measured]


def marks_of_load(coz, name, program):
    run = coz.run(program, timeout=2 * SECONDS + 60)
    assert run.status == 0, run.err
    results = coz.results()
    found = {note for result in results for note in result["notes"] if "limited by load" in note}
    lines = (
        f"{result['function'].partition('(')[0]} {result['slope']:+.2f}{'*' if result['significant'] else ''}"
        f"{' (few data)' if 'few data' in result['notes'] else ''}"
        for result in results
    )
    print(f"\n| {name} | {', '.join(found) or '-'} | {'; '.join(lines)} |")
    return found


@pytest.mark.parametrize("name", SELF_LIMITED)
def test_a_program_that_limits_itself_has_no_mark(coz, build, name):
    source, *arguments = SELF_LIMITED[name]
    assert marks_of_load(coz, name, [build(source), *arguments]) == set()


@pytest.mark.parametrize("name", PACED)
def test_a_program_at_a_pace_from_outside_is_marked(coz, build, name):
    means, *times = PACED[name]
    assert len(marks_of_load(coz, name, [build("paced.cpp"), SECONDS, means, *times])) == 1
