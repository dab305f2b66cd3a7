"""What windows tell of the stages between queues."""

from collections import Counter


def halves_of(run):
    experiments = run.records("experiment")
    assert experiments, run.err
    return [half for record in experiments for half in record.get("flows", [])]


def test_each_stage_releases_a_lock_for_each_item(coz, build):
    run = coz.stopped_at(3, [build("self_limited.cpp"), 100, "pipeline", 8, 300, 500])
    halves = halves_of(run)
    assert len(halves) >= 2
    releases, waited, visits = Counter(), Counter(), Counter()
    for half in halves:
        visits.update(half["visits"])
        for thread in half["threads"]:
            releases[thread["thread"]] += thread["releases"]
            waited[thread["thread"]] += sum(nanoseconds for _, _, nanoseconds in thread["waits"])
    (items,) = visits.values()
    stages = [count for count in releases.values() if count > items / 10]
    assert len(stages) == 2
    assert all(0.8 * items <= count <= 1.25 * items + 16 for count in stages)
    # The first stage is the faster one, and waits for the second.
    assert max(waited.values()) > 0


def test_flows_and_what_lies_between_them_make_up_the_run(coz, build):
    run = coz.stopped_at(3, [build("self_limited.cpp"), 100, "pipeline", 8, 300, 500])
    records = [record for record in run.records("experiment") if record.get("flows")]
    lengths = [flow["duration"] for record in records for flow in (record["flow_before"], *record["flows"])]
    end = records[-1]["start"] + records[-1]["duration"]
    assert 0.9 * end < sum(lengths) < 1.1 * end


def test_a_program_without_queues_writes_no_flows(coz, build):
    run = coz.stopped_at(2, [build("benchmarks/programs/mutex_long.cpp"), "--seconds", 100])
    assert halves_of(run) == []


def test_the_thread_of_an_event_loop_waits_for_the_worker_that_wakes_it(coz, build):
    """It sleeps at an epoll file, as for input from outside. Here the worker takes longer than the loop."""
    slower_worker = ["--speedup", "answer=50", "--seconds", 100]
    run = coz.stopped_at(3, [build("benchmarks/programs/event_loop.cpp"), *slower_worker])
    waits, work = Counter(), Counter()
    for half in halves_of(run):
        for thread in half["threads"]:
            work[thread["thread"]] += thread["ran"]
            for _, waker, nanoseconds in thread["waits"]:
                waits[thread["thread"], waker] += nanoseconds
    (worker, _), (loop, _) = work.most_common(2)
    assert waits[loop, worker] > waits[worker, loop]
