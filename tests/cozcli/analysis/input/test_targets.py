"""Which targets a profile of combined windows has, and what share of the time each runs."""

from __future__ import annotations

import pytest
from combined_profiles import PERIOD, WINDOW, Measurement, Program
from synthetic import to_bytes

from cozcli.analysis.input.targets import (
    companion_rows,
    find_targets,
    is_combined,
    largest_effect,
    shares_of_time,
)
from cozcli.analysis.input.windows import usable_windows
from cozcli.profile.profile import Run, collect_runs
from cozcli.profile.reader import ReadProblems, read_records


def runs_of(*profiles: list[dict[str, object]]) -> list[Run]:
    raw = b"".join(to_bytes(records) for records in profiles)
    return collect_runs(read_records(raw.splitlines(keepends=True), ReadProblems()), "x")


def test_shares_are_samples_for_the_time_of_all_runs() -> None:
    program = Program("serial", 10)
    runs = runs_of(*(Measurement(seed=seed).records(program, 200) for seed in (1, 2)))
    shares = shares_of_time(runs)
    for line, work in enumerate(program.work):
        share, samples = shares[program.location(line)]
        # Under speedups less time passes for as much work.
        assert share == pytest.approx(work, rel=0.25)
        assert samples == pytest.approx(share * 400 * WINDOW / PERIOD)


@pytest.mark.parametrize(("total", "counts"), [(1000, False), (3, True)])
def test_a_run_with_another_scope_tells_nothing_of_shares(total: int, counts: bool) -> None:
    records = Measurement().records(Program("serial", 10), 40)
    outside = [dict(record) for record in records if record["type"] in ("run", "samples")]
    outside[1] |= {"lines": [], "in_scope": 0, "total": total}
    plain = shares_of_time(runs_of(records))
    both = shares_of_time(runs_of(records, outside))
    expected = 0.5 if counts else 1.0
    for location, (share, _) in both.items():
        assert share == pytest.approx(expected * plain[location][0])


def test_waiting_for_a_core_is_part_of_the_share() -> None:
    records = Measurement().records(Program("serial", 10), 40)
    plain = shares_of_time(runs_of(records))
    for record in records:
        if record["type"] == "experiment":
            record["processor_time"], record["core_wait"] = WINDOW, WINDOW // 2
    for location, (share, _) in shares_of_time(runs_of(records)).items():
        assert share == pytest.approx(1.5 * plain[location][0])


def test_the_share_of_a_wait_is_one_of_real_time() -> None:
    records = Measurement().records(Program("serial", 10), 40)
    program = Program("serial", 10)
    last = records[-1]
    assert last["type"] == "samples"
    last["duration"] = 3 * last["run_time"]  # some of it before the first visit
    for record in records:
        if record["type"] == "experiment":
            record["processor_time"], record["core_wait"] = WINDOW, 9 * WINDOW
            record["duration"] = 2 * record["effective_duration"]
    last["lines"].append({"location": "wait /a.c:9", "function": "f", "kind": "wait",
                          "count": 2 * last["run_time"] // PERIOD // 4})  # fmt: skip
    shares = shares_of_time(runs_of(records))
    assert shares["wait /a.c:9"][0] == pytest.approx(0.25, rel=0.01)
    assert shares[program.location(0)][0] > 0


def test_a_late_timer_takes_fewer_samples_of_the_same_share() -> None:
    records = Measurement().records(Program("serial", 10), 40)
    plain = shares_of_time(runs_of(records))
    records[0]["sampling"] = "timer"
    for record in records:
        if record["type"] == "experiment":
            record["processor_time"] = 2 * record["samples"] * PERIOD
    for location, (share, _) in shares_of_time(runs_of(records)).items():
        assert share == pytest.approx(2 * plain[location][0])


def test_a_killed_run_tells_shares_by_its_windows() -> None:
    program = Program("serial", 10)
    records = Measurement().records(program, 400)
    whole, killed = shares_of_time(runs_of(records)), shares_of_time(runs_of(records[:-1]))
    assert killed.keys() == whole.keys()
    for location, (share, samples) in killed.items():
        assert share == pytest.approx(whole[location][0], rel=0.4)
        assert samples > 0


def test_targets_are_main_ones_and_companions_each_once() -> None:
    program = Program("serial", 60)
    runs = runs_of(*(Measurement(seed=seed).records(program, 300) for seed in (1, 2)))
    windows = usable_windows(runs)
    targets = find_targets(runs, windows.by_target)
    assert len({target.location for target in targets}) == len(targets) == 60
    assert {target.kind for target in targets} == {"line"}
    assert {target.function for target in targets} == {"work"}


def test_numbers_mean_something_else_in_each_run() -> None:
    program = Program("serial", 20)
    runs = runs_of(*(Measurement(seed=seed).records(program, 40) for seed in (1, 2)))
    names = [{n: target.location for n, target in run.targets.items()} for run in runs]
    assert any(names[0][n] != names[1][n] for n in names[0].keys() & names[1].keys())
    windows = usable_windows(runs)
    index = {t.location: n for n, t in enumerate(find_targets(runs, windows.by_target))}
    for members in windows.by_target.values():
        rows = companion_rows(members, runs, index)
        for row, window in enumerate(members):
            for companion in window.record.companions:
                column = index[names[window.run][companion.number]]
                assert rows.speedup[row, column] == companion.speedup
                time = companion.target_samples * PERIOD / WINDOW
                assert rows.share[row, column] == pytest.approx(time)


def test_windows_of_companions_alone_are_used_and_those_of_load_alone_are_not() -> None:
    records = Measurement(mains=0.5).records(Program("serial", 10), 80)
    alone = [r for r in records if r.get("kind") == "none"]
    assert alone
    windows = usable_windows(runs_of(records))
    assert len(windows.by_target["none"]) == len(alone)
    del records[0]["companion_dose"]
    assert "none" not in usable_windows(runs_of(records)).by_target


def test_a_profile_is_combined_if_any_window_is() -> None:
    program = Program("serial", 10)
    single, combined = (Measurement(dose=dose).records(program, 16) for dose in (0.0, 0.05))
    assert not is_combined(runs_of(single))
    assert is_combined(runs_of(single, combined))


@pytest.mark.parametrize(
    ("share", "samples", "least", "most"),
    [(0.004, 10_000, 0.01, 0.012), (0.5, 10_000, 0.6, 0.7), (0.9, 10_000, 1.0, 1.0), (0.0, 0, 0.005, 0.005)],
)
def test_the_bound_is_the_share_with_a_slack(share: float, samples: float, least: float, most: float) -> None:
    assert least <= largest_effect(share, samples) <= most
    assert largest_effect(share, samples / 100) >= largest_effect(share, samples)


@pytest.mark.parametrize(
    "other",
    [{"granularity": "function"}, {"scope": ["/other/%"]}, {"job": 1}, {"wait": True}],
    ids=lambda other: next(iter(other)),
)
def test_runs_that_sample_other_things_leave_shares_as_they_are(other: dict[str, object]) -> None:
    first = Measurement().records(Program("serial", 10), 40)
    second = Measurement(seed=2).records(Program("serial", 10), 40)
    last = second[-1]
    if "wait" in other:
        last["lines"].append({"location": "wait /a.c:9", "function": "f", "kind": "wait", "count": 1000})
        runs = runs_of(first, second)
        assert shares_of_time(runs)["wait /a.c:9"] == shares_of_time(runs_of(second))["wait /a.c:9"]
        return
    for line in last["lines"]:
        line["location"] = "/other/b.c:1"
    if "job" in other:
        first.append({"type": "job", "rank": 0, "ranks": 2, "job": "1", "host": "n"})
        second.append({"type": "job", "rank": 1, "ranks": 2, "job": "1", "host": "n"})
    else:
        second[0] |= other
    alone = shares_of_time(runs_of(first))
    both = shares_of_time(runs_of(first, second))
    assert {location: both[location] for location in alone} == alone


@pytest.mark.parametrize("change", [{"program": "/other"}, {"binaries": ["MAIN", "%/libx.so%"]}])
def test_runs_of_another_program_or_other_binaries_tell_nothing_of_shares(change: dict[str, object]) -> None:
    records = Measurement().records(Program("serial", 10), 40)
    other = [dict(record) for record in records if record["type"] in ("run", "samples")]
    other[0] |= change
    other[1] |= {"lines": [{"location": "/o.c:1", "function": "o", "kind": "line", "count": 500}]}
    plain = shares_of_time(runs_of(records))
    both = shares_of_time(runs_of(records, other))
    assert both.pop("/o.c:1")[0] > 0
    for location, (share, _) in both.items():
        assert share == pytest.approx(plain[location][0])
