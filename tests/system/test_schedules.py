"""Threads that wait for times of a schedule, which does not know of delays."""

import pytest


@pytest.mark.measured
@pytest.mark.parametrize("how", ["sleep", "condition"])
def test_a_schedule_is_kept_in_effective_time(coz, build, request, how):
    """In real time, ticks come four times as often in effective time, as if the line mattered to them."""
    source = request.config.rootpath / "tests/programs/schedules.cpp"
    line = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "LINE compute" in text)
    options = ("--fixed-line", f"{source}:{line}", "--fixed-speedup", 75)
    run = coz.run([build("schedules.cpp"), how], *options)
    assert run.status == 0, run.err
    periods = {"tick": {0: [], 0.75: []}, "computed": {0: [], 0.75: []}}
    for record in run.records("experiment"):
        for point in record["points"]:
            if point["visits"] > 0:
                periods[point["name"]][record["speedup"]].append(point["elapsed"] / point["visits"])
    gained = {}
    for name, of_speedup in periods.items():
        base, faster = (sorted(values)[len(values) // 2] for values in of_speedup.values())
        gained[name] = 1 - faster / base
    assert gained["computed"] > 0.5
    assert abs(gained["tick"]) < 0.1


@pytest.mark.measured
@pytest.mark.parametrize("how", ["sleep", "condition"])
def test_after_profiling_a_thread_stays_as_late_as_it_is(coz, build, request, how):
    """It does not catch up with its schedule in one burst: in 5 s there would be 2,500 ticks."""
    source = request.config.rootpath / "tests/programs/schedules.cpp"
    line = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "LINE compute" in text)
    options = ("--fixed-line", f"{source}:{line}", "--fixed-speedup", 75, "--stop-after", "3s")
    run = coz.run([build("schedules.cpp"), how], *options)
    assert run.status == 0, run.err
    delay = sum(record["delay"] for record in run.records("experiment"))
    assert delay > 5e8
    assert int(run.out) < 2500 - 0.8 * delay / 2e6
