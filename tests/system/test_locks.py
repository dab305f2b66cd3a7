"""Waits for locks as targets: coz run --waits and --fixed-lock."""

import json

import pytest


@pytest.fixture
def locks(build):
    return build("locks.c")


def marked_line(request, mark):
    source = request.config.rootpath / "tests/programs/locks.c"
    lines = source.read_text().splitlines()
    return f"{source}:{1 + next(i for i, line in enumerate(lines) if f'/* {mark} */' in line)}"


@pytest.fixture
def lock_line(request):
    return marked_line(request, "LOCK")


def test_a_lock_that_threads_wait_for_is_a_target_beside_the_lines(coz, locks, lock_line):
    def has_lock(experiments):
        return any(e["kind"] == "lock" for e in experiments)

    run = coz.run_until(has_lock, [locks, coz.enough], "--waits")
    assert run.status == 0, run.err
    found = [e for e in run.records("experiment") if e["kind"] == "lock"]
    assert {(e["location"], e["function"]) for e in found} == {(f"lock {lock_line}", "run")}


def test_the_others_pay_for_the_time_waited(coz, locks, lock_line):
    def has_both(experiments):
        return {e["speedup"] for e in experiments if e["hits"] > 50} == {0, 1}

    # At less than 100 %, a holder that owes delays lets the global delay grow by more, which all pay.
    options = ("--fixed-lock", lock_line, "--speedups", "100", "--period", "500us")
    run = coz.run_until(has_both, [locks, coz.enough], *options)
    paid = {speedup: [e for e in run.records("experiment") if e["speedup"] == speedup] for speedup in (0, 1)}
    assert sum(e["delay"] for e in paid[0]) == 0
    waited = 500_000 * sum(e["hits"] for e in paid[1])
    assert sum(e["delay"] for e in paid[1]) == pytest.approx(waited, rel=0.2)


def test_locks_of_readers_and_writers_are_targets_for_both(coz, locks, request):
    share, write = marked_line(request, "SHARE"), marked_line(request, "WRITE")

    def has_both(experiments):
        return {e["location"] for e in experiments if e["hits"] > 20} >= {f"lock {share}", f"lock {write}"}

    options = ("--fixed-lock", share, "--fixed-lock", write, "--speedups", "100")
    run = coz.run_until(has_both, [locks, coz.enough, "rwlock"], *options)
    assert run.status == 0, run.err
    holders = {(e["location"], e.get("holder")) for e in run.records("samples")[-1]["locks"]}
    assert {(f"lock {share}", write), (f"lock {write}", share)} <= holders


def test_without_the_option_no_lock_is_a_target(coz, locks):
    run = coz.run_until(2, [locks, coz.enough])
    assert "lock" not in {e["kind"] for e in run.records("experiment")}


def test_reports_say_what_it_is_and_what_it_is_for(coz, locks, lock_line):
    run = coz.run_until(6, [locks, coz.enough], "--fixed-lock", lock_line)
    assert run.status == 0, run.err
    done = coz("report", "--json", run.profile)
    results = json.loads(done.out)["results"]
    assert {r["target"] for r in results} == {"lock"}
    lock = results[0]["locks"][0]
    assert lock["name"] == "mutex"
    assert lock["waits"] > 0
    assert lock["mean_wait"] > 0
    holder = lock["holders"][0]
    assert (holder["location"], holder["function"]) == (lock_line, "run")
    assert holder["share"] > 0.9


def test_locks_on_the_heap_are_counted(coz, locks, request):
    line = marked_line(request, "HEAP")
    run = coz.run_until(4, [locks, coz.enough, "heap"], "--fixed-lock", line)
    assert run.status == 0, run.err
    (lock,) = json.loads(coz("report", "--json", run.profile).out)["results"][0]["locks"]
    assert (lock["name"], lock["number"]) == ("", 2)
    assert 0.5 <= lock["largest"] < 1
    assert "2 locks without a name" in coz("report", run.profile).out


def test_the_holder_is_who_had_the_lock_or_is_not_known(coz, build, request):
    source = request.config.rootpath / "tests/programs/lock_holders.c"
    texts = source.read_text().splitlines()

    def line_of(mark):
        return f"{source}:{1 + next(i for i, text in enumerate(texts) if f'/* {mark} */' in text)}"

    run = coz.run([build("lock_holders.c"), "4"], "--waits")
    assert run.status == 0, run.err
    found = {}
    for entry in run.records("samples")[-1]["locks"]:
        holders = found.setdefault((entry["location"].removeprefix("lock "), entry["lock"]), {})
        holder = entry.get("holder", "")
        holders[holder] = holders.get(holder, 0) + entry["waited"]
    longest = {target: max(holders, key=holders.get) for target, holders in found.items()}
    assert longest[line_of("WAIT FOR PLAIN"), "plain"] == line_of("HOLD")
    assert longest[line_of("WAIT FOR TRIED"), "tried"] == line_of("TRY")
