"""Short profiles of programs with known answers. The bounds are wide: accuracy is for benchmarks/."""

import os
import resource
import signal
import statistics
import subprocess
import time
from collections import Counter

import pytest


def line_of(results, name, point):
    """The result for the line of a file that ends like this."""
    found = [r for r in results if r["location"].endswith(name) and r["point"] == point]
    assert found, [(r["location"], r["point"]) for r in results]
    return found[0]


def assert_compatible(result, truth):
    """The 95 % intervals, made a little wider, hold truth(speedup). A busy machine widens them by itself."""
    assert result["curve"]
    for point in result["curve"]:
        speedup = point["speedup"]
        if 0 < speedup <= 0.75:
            assert point["low"] - 0.1 <= truth(speedup) <= point["high"] + 0.1, point


def line_number(path, text):
    return next(i for i, line in enumerate(path.read_text().splitlines(), 1) if text in line)


@pytest.fixture
def examples(request):
    return request.config.rootpath / "examples"


def processors_had(command):
    """How many processors a run of the command had on average."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) / (time.monotonic() - start)


def speed_beside_another(spin):
    """Share of its speed that a processor keeps while another is busy: 1 unless they share a core."""

    def turns(processes):
        started = [subprocess.Popen([spin], stdout=subprocess.PIPE, text=True) for _ in range(processes)]
        return min(int(process.communicate()[0]) for process in started)

    alone = max(turns(1) for _ in range(3))
    return min(turns(2) for _ in range(3)) / alone


@pytest.mark.measured
def test_serial(coz, build, examples):
    program = str(build("examples/serial/serial.cpp"))
    before = processors_had([program, "2"])
    run = coz.run([program, 9], "--seed", 7, "--speedups", "25,50,75")
    assert run.status == 0, run.err
    if min(before, processors_had([program, "2"])) < 0.95:
        pytest.skip("needs an idle processor: waiting for one is in the period, and takes no samples")
    assert run.records("run")[0]["seed"] == 7
    source = examples / "serial/serial.cpp"
    results = coz.results()
    for text, share in (("size_t x = 0", 0.3), ("size_t y = 0", 0.7)):
        result = line_of(results, f"serial.cpp:{line_number(source, text)}", "iteration")
        assert_compatible(result, lambda speedup, share=share: share * speedup)


def test_time_in_which_the_program_is_stopped_is_no_part_of_the_run(coz, build, pid_of):
    program = build("loop.c")
    process = coz.start([program, coz.enough])
    coz.wait_for_experiments(2)
    stopped = 2.5
    pid = pid_of(process, program)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(stopped)
    os.kill(pid, signal.SIGCONT)
    coz.wait_for_experiments(4)
    (coz.folder / "enough").touch()
    run = coz.finished(process)
    assert run.status == 0, run.err
    last = run.records("samples")[-1]
    assert last["duration"] - last["run_time"] > (stopped - 0.1) * 1e9
    for window in run.records("experiment"):
        assert window["duration"] < stopped * 1e9


def test_a_thread_that_sleeps_in_libc_does_not_leave_windows_unsettled(coz, build):
    process = coz.start([build("reads_input.cpp")], stdin=subprocess.PIPE)

    def delayed(windows):
        return [window for window in windows if window["delay"] > 10e6]

    coz.wait_for_experiments(lambda windows: len(delayed(windows)) >= 4)
    run = coz.finished(process)  # which ends its input
    assert run.status == 0, run.err
    windows = delayed(run.records("experiment"))
    assert sum("unsettled" in window["flags"] for window in windows) < len(windows) / 2


@pytest.mark.measured
def test_two_threads(coz, build, examples):
    """In shorter rounds than the example's, so that 10 s are enough."""
    program = str(build("examples/two_threads/two_threads.cpp"))
    if processors_had([program, "2", "5000000"]) < 1.8:
        pytest.skip("needs two idle processors: on one, both threads are on the critical path")
    spin = build("spin.c")
    before = speed_beside_another(spin)
    run = coz.run([program, 10, 5_000_000], "--speedups", "50")
    assert run.status == 0, run.err
    if min(before, speed_beside_another(spin)) < 0.9:
        pytest.skip("needs two whole cores: a thread on half of one really gains while the other pauses")
    source = examples / "two_threads/two_threads.cpp"
    results = coz.results()
    for text in ("size_t x = 0", "size_t y = 0"):
        result = line_of(results, f"two_threads.cpp:{line_number(source, text)}", "round")
        assert_compatible(result, lambda speedup: 0)


def test_latency_in_c(coz, build):
    coz.stopped_at(6, [build("examples/c_program/queue.c"), 100], "--speedups", "50")
    assert {r["kind"] for r in coz.results()} == {"latency"}


@pytest.mark.parametrize("position", ["-pie", "-no-pie"])
def test_position_independent_or_not(coz, build, position):
    flags = ("-fPIE", "-pie") if position == "-pie" else ("-fno-pie", "-no-pie")
    run = coz.run_until(1, [build("loop.c", *flags), coz.enough])
    assert any("loop.c:" in r["location"] for r in run.records("experiment"))


def test_classic_header(coz, build):
    """A program that counts by itself, in counters that it asks the runtime for."""
    run = coz.run_until(4, [build("loop.c", "-DCLASSIC"), coz.enough], "--speedups", "50")
    assert run.status == 0, run.err
    points = {(p["name"], p["kind"]) for e in run.records("experiment") for p in e["points"]}
    assert points == {("loop", "throughput"), ("request", "latency")}
    assert coz.results()


def test_end_to_end_is_one_experiment(coz, build):
    run = coz.run([build("loop.c"), 1.5], "--end-to-end", "--fixed-speedup", 40)
    (experiment,) = run.records("experiment")
    assert experiment["speedup"] == pytest.approx(0.4)
    assert experiment["duration"] > 1e9
    assert run.records("run")[0]["end_to_end"] is True


def test_fixed_speedup_0_delays_nothing(coz, build):
    run = coz.run_until(2, [build("loop.c"), coz.enough], "--fixed-speedup", 0)
    experiments = run.records("experiment")
    assert experiments
    assert {e["speedup"] for e in experiments} == {0}
    assert {e["delay"] for e in experiments} == {0}


@pytest.mark.first
def test_fixed_line_and_scope(coz, build, request):
    loop = request.config.rootpath / "tests/programs/loop.c"
    line = line_number(loop, "volatile int i")
    options = ("--fixed-line", f"loop.c:{line}", "-s", "%/loop.c")
    run = coz.run_until(2, [build("loop.c"), coz.enough], *options)
    assert {e["location"] for e in run.records("experiment")} == {f"{loop}:{line}"}
    assert run.records("run")[0]["scope"] == ["%/loop.c"]


@pytest.mark.parametrize("program", ["late_join.c", "pending_signal.c"])
def test_a_call_that_does_not_wait_forgets_no_delays(coz, build, request, program):
    """The only thread at work runs the selected line: it owes nothing, so it must never pause."""
    line = line_number(request.config.rootpath / "tests/programs" / program, "volatile int i")
    run = coz.run([build(program)], "--fixed-line", f"{program}:{line}", "--fixed-speedup", 100)
    assert sum(e["hits"] for e in run.records("experiment") if e["speedup"] == 1) > 50
    assert int(run.out) < 6


def other_calls(*names):
    """Calls that do the same as another in the list: `make test-long` tries them."""
    return [pytest.param(name, marks=pytest.mark.long) for name in names]


HANDED_OVER_BY = [
    "mutex", "rwlock", "condition", "semaphore", "barrier", "atomic-wait", "spin-lock", "signal",
    "sigsuspend", "ppoll-interrupted", "signalfd", "join", "eventfd", "eventfd-epoll",
    "pipe-select", "socketpair", "tcp-epoll", "unix-accept",
    *other_calls("timedlock", "clocklock", "c11-mutex", "rwlock-writers", "rwlock-timed",
                 "c11-condition", "semaphore-timed", "yield", "eventfd-functions", "eventfd-poll",
                 "pipe", "pipe-epoll", "tcp", "tcp-accept", "unix", "unix-named"),
]  # fmt: skip


@pytest.mark.measured
@pytest.mark.parametrize("means", HANDED_OVER_BY)
def test_who_is_woken_has_waited_through_the_delays(coz, build, request, means):
    """Of two that take turns, none is ever held up; without credit it was 0.2 to 0.4 times a round.

    A turn taken away between waking and waiting holds one up now and then.
    """
    line = line_number(request.config.rootpath / "tests/programs/hand_over.cpp", "asm volatile")
    program = [build("hand_over.cpp"), means]
    run = coz.run(program, "--fixed-line", f"hand_over.cpp:{line}", "--fixed-speedup", 100)
    assert sum(e["hits"] for e in run.records("experiment") if e["speedup"] == 1) > 50
    assert float(run.out) < 0.1


@pytest.mark.measured
@pytest.mark.parametrize(
    "means",
    ["pipe poll", "socketpair epoll", "tcp epoll", "unix epoll", "pipe write", "end read", "end sigsuspend",
     *other_calls("pipe read", "pipe epoll", "socketpair read", "socketpair poll", "tcp read", "tcp poll",
                  "unix read", "end poll")],
)  # fmt: skip
def test_a_process_that_another_wakes_has_waited_through_the_delays(coz, build, request, means):
    program = "hand_over_processes.cpp"
    line = line_number(request.config.rootpath / "tests/programs" / program, "asm volatile")
    options = ("--tree", "--fixed-line", f"{program}:{line}", "--fixed-speedup", 100)
    run = coz.run([build(program), *means.split()], *options)
    assert sum(e["hits"] for e in run.records("experiment") if e["speedup"] == 1) > 50
    assert float(run.out) < 0.1


@pytest.mark.measured
@pytest.mark.parametrize("means", ["nanosleep", "poll", "read", *other_calls("usleep", "select", "epoll")])
def test_who_is_woken_from_outside_owes_the_delays(coz, build, request, means):
    """A thread that waits for 4 ms gains nothing by the speed of another; with credit, all 50 %."""
    line = line_number(request.config.rootpath / "tests/programs/outside.cpp", "asm volatile")
    program = [build("outside.cpp"), means, 4]
    run = coz.run(program, "--fixed-line", f"outside.cpp:{line}", "--fixed-speedup", 50)
    assert run.status == 0, run.err
    (result,) = coz.results()
    (point,) = [p for p in result["curve"] if p["speedup"] == 0.5]
    assert abs(point["effect"]) < 0.2


@pytest.mark.measured
@pytest.mark.parametrize("means", ["condition", "poll", *other_calls("semaphore", "select", "epoll")])
def test_waits_with_time_outs_last_as_long_in_effective_time(coz, build, request, means):
    """Delays that were paid late, or twice, made turns 1.3 to 3 times as long: contention."""
    line = line_number(request.config.rootpath / "tests/programs/timed_waits.cpp", "asm volatile")
    program = [build("timed_waits.cpp"), means, 6]
    run = coz.run(program, "--fixed-line", f"timed_waits.cpp:{line}", "--speedups", 75)
    assert run.status == 0, run.err
    periods = {0: [], 0.75: []}
    for window in run.records("experiment"):
        for point in window["points"]:
            periods[window["speedup"]].append(point["elapsed"] / point["visits"])
    assert 0.8 < statistics.median(periods[0.75]) / statistics.median(periods[0]) < 1.2


@pytest.mark.measured
@pytest.mark.parametrize("way", ["call", *other_calls("unlock", "clock")])
def test_a_crowd_that_is_woken_at_once_does_not_pay_one_after_the_other(coz, build, request, way):
    """Each would pay what its predecessor had paid with the mutex held, while the line runs on: for ever."""
    line = line_number(request.config.rootpath / "tests/programs/crowd_woken.cpp", "asm volatile")
    program = [build("crowd_woken.cpp"), 3, way]
    alone = subprocess.run(list(map(str, program)), capture_output=True, text=True, check=True)
    run = coz.run(program, "--fixed-line", f"crowd_woken.cpp:{line}", "--fixed-speedup", 50, timeout=120)
    assert run.status == 0, run.err
    assert sum(e["hits"] for e in run.records("experiment") if e["speedup"] == 0.5) > 50
    # A half to two thirds of it, by the delays.
    assert int(run.out) > int(alone.stdout) / 5


def test_a_line_that_runs_all_the_time_stops_the_others_at_100_percent(coz, build, request):
    """Nothing can be measured then, which is said, and windows don't grow in vain."""
    line = line_number(request.config.rootpath / "tests/programs/outside.cpp", "asm volatile")
    program = [build("outside.cpp"), "poll", 4]
    run = coz.run(program, "--fixed-line", f"outside.cpp:{line}", "--fixed-speedup", 100)
    discarded = run.records("samples")[-1]["discarded"]
    visited = sum(e["speedup"] == 1 for e in run.records("experiment"))
    if visited > 0 or discarded["all_delay"] + discarded["few_visits"] < 3:
        pytest.skip("needs an idle processor: while the line waits for one, the others run")
    assert discarded["all_delay"] > discarded["few_visits"]
    assert len(run.records("experiment")) > 5
    report = coz("report", coz.profile)
    assert report.status == 2
    assert "stopped all other threads" in report.err


def test_a_file_takes_several_runs(coz, build):
    for count in (2, 6):
        run = coz.run_until(count, [build("loop.c"), coz.enough], "--speedups", "50")
    assert len(run.records("run")) == 2
    assert coz("report", coz.profile).status == 0


@pytest.mark.measured
@pytest.mark.parametrize("sampling", ["perf-trap", "perf-signal", "timer"])
def test_every_way_of_sampling(coz, build, sampling):
    run = coz.run([build("loop.c"), 1.2], "--sampling", sampling)
    assert run.status == 0, run.err
    if run.records("run")[0]["sampling"] != sampling:
        pytest.skip(f"{sampling} is refused on this machine")
    samples = run.records("samples")[-1]
    assert samples["total"] > 300  # a thousand for each second of processor time, of which it may get little
    assert samples["in_scope"] > 0.9 * samples["total"]


def test_sampling_can_be_left_out(coz, build):
    run = coz.run([build("loop.c"), 1], "--sampling", "off")
    assert run.status == 0, run.err
    assert "sampling was off" in run.err
    assert run.records("run")[0]["sampling"] == "off"
    assert run.records("samples")[-1]["total"] == 0
    assert not run.records("experiment")


def test_plot(coz, build):
    coz.run_until(4, [build("loop.c"), coz.enough], "--speedups", "50")
    picture = coz.folder / "plot.png"
    run = coz("plot", coz.profile, "--output", picture)
    assert run.status == 0, run.err
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.measured
@pytest.mark.parametrize("sampling", ["perf-trap", *other_calls("perf-signal")])
def test_samples_do_not_keep_step_with_a_loop(coz, build, sampling):
    """At a fixed period of 1 ms 0.73 of them were in the long part, and half were missing."""
    program = [build("in_step.cpp", "-fopenmp"), 5]
    run = coz.run(program, "--sampling", sampling, "--fixed-speedup", 0)
    parts = Counter()
    for line in run.records("samples")[-1]["lines"]:
        parts[line["function"]] += line["count"]
    assert parts["long_part"] / (parts["long_part"] + parts["short_part"]) == pytest.approx(0.6, abs=0.04)
