"""Queues that outlast windows: simulated pipelines, whose lasting pace is known."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from queue_profiles import NOT_EMPTY, Pipeline, profile_of, records_of

from cozcli.analysis.analyse import analyse
from cozcli.analysis.correct.queue_flow import MIN_STEADY, QueueFlow, lasting_rates
from cozcli.analysis.input.flows import UNKNOWN, Half, RunFlows, Stretch, find_stages, flows_by_run
from cozcli.analysis.input.windows import usable_windows
from cozcli.analysis.result import Mark
from cozcli.profile.profile import Profile
from cozcli.profile.records import Flow, QueueWait, ThreadFlow

if TYPE_CHECKING:
    from cozcli.analysis.input.windows import Window


def flows_of(records: list[dict[str, Any]]) -> list[RunFlows]:
    runs = profile_of(records).runs
    return flows_by_run(runs, usable_windows(runs).by_target)


def effects_of(profile: Profile, *, corrected: bool) -> dict[float, float]:
    result = analyse(profile, corrections=[QueueFlow()] if corrected else []).results[0]
    return {point.speedup: point.effect for point in result.curve[1:]}


@pytest.mark.parametrize("capacity", [8, 64, 1000])
@pytest.mark.parametrize(("produce", "consume"), [(6.0, 10.0), (2.0, 5.0)])
def test_effects_are_those_that_last(capacity: int, produce: float, consume: float) -> None:
    program = Pipeline(produce, consume, capacity)
    profile = profile_of(records_of(program))
    plain, corrected = effects_of(profile, corrected=False), effects_of(profile, corrected=True)
    wrong = [abs(effect - program.lasting_effect(s)) for s, effect in plain.items()]
    assert max(wrong) > 0.05
    for speedup, effect in corrected.items():
        assert effect == pytest.approx(program.lasting_effect(speedup), abs=0.04), (speedup, effect)


@pytest.mark.parametrize(("capacity", "limit"), [(8, 2000.0), (64, 8000.0), (64, 1000.0), (1000, 2000.0)])
def test_effects_last_where_the_runtime_waits_for_steady_state(capacity: int, limit: float) -> None:
    """With the limits of the last two many windows, or all at speedups, are transient."""
    program = Pipeline(6.0, 10.0, capacity)
    records = records_of(program, limit=limit)
    for speedup, effect in effects_of(profile_of(records), corrected=True).items():
        assert effect == pytest.approx(program.lasting_effect(speedup), abs=0.03), (speedup, effect)


def test_an_effect_that_never_settled_has_bounds_and_a_mark() -> None:
    program = Pipeline(6.0, 10.0, 1000)
    records = records_of(program, limit=0.0)
    for record in records[1:]:
        del record["flows"]
        if record["speedup"] == 0:
            record["flags"] = []
    result = analyse(profile_of(records)).results[0]
    assert Mark.NOT_STEADY in result.marks
    for point in result.curve[1:]:
        assert point.low <= 0 < program.lasting_effect(point.speedup) < point.high, point
    assert result.slope_low <= 0 < result.slope_high
    assert result.adjusted_low <= 0
    assert not result.significant
    assert max(result.fit.low) <= 0


def test_windows_in_steady_state_stay_as_they_are() -> None:
    profile = profile_of(records_of(Pipeline(10.0, 6.0, 64), limit=2000.0))
    plain = effects_of(profile, corrected=False)
    assert effects_of(profile, corrected=True) == pytest.approx(plain, abs=0.02)


def test_a_profile_that_does_not_say_what_lies_between_windows_is_not_corrected() -> None:
    records = records_of(Pipeline(6.0, 10.0, 8))
    for record in records[1:]:
        del record["flow_before"]
    profile = profile_of(records)
    assert effects_of(profile, corrected=True) == effects_of(profile, corrected=False)


def test_a_queue_of_which_only_the_start_is_known_leaves_bounds() -> None:
    """The consumer waited for the first item, and nobody has since."""
    program = Pipeline(6.0, 10.0, 64)
    records = records_of(program)
    for record in records[1:]:
        for flow in (record["flow_before"], *record["flows"]):
            for each in flow["threads"]:
                each["waits"] = []
    records[1]["flow_before"]["threads"][1]["waits"] = [[NOT_EMPTY, 1, 6_000_000]]
    result = analyse(profile_of(records)).results[0]
    assert Mark.NOT_STEADY in result.marks
    for point in result.curve[1:]:
        assert point.low <= 0 < program.lasting_effect(point.speedup) < point.high + 0.02, point


@pytest.mark.parametrize("steady", [MIN_STEADY - 1, MIN_STEADY])
def test_transient_windows_are_left_out_where_others_stand_for_them(steady: int) -> None:
    records = [record for record in records_of(Pipeline(6.0, 10.0, 8)) if record.get("speedup") != 1.0]
    fast = [record for record in records[1:] if record["speedup"] == 0.75]
    for record in records[1:]:
        del record["flows"], record["flow_before"]
    for record in fast[steady:]:
        record["flags"] = ["transient"]
    left_out = fast[steady:] if steady == MIN_STEADY else []
    kept = [record for record in records if record not in left_out]
    assert effects_of(profile_of(records), corrected=True) == pytest.approx(
        effects_of(profile_of(kept), corrected=True)
    )


def test_a_single_window_at_a_speedup_says_nothing_where_the_others_are_corrected() -> None:
    records = records_of(Pipeline(6.0, 10.0, 64))
    fast = [record for record in records[1:] if record["speedup"] == 1.0]
    few = [record for record in records if record not in fast[1:]]
    effects = effects_of(profile_of(few), corrected=True)
    assert set(effects) == {0.25, 0.5, 0.75}


def test_windows_that_only_seemed_to_open_in_steady_state_are_corrected() -> None:
    program = Pipeline(6.0, 10.0, 64)
    records = records_of(program)
    for record in records[1:]:
        record["settling"] = 1
    for speedup, effect in effects_of(profile_of(records), corrected=True).items():
        assert effect == pytest.approx(program.lasting_effect(speedup), abs=0.04), (speedup, effect)


def test_visits_in_no_effective_time_live_on_the_queue() -> None:
    """At 100 %, while the queue lasts, everybody else pauses for as long as the consumer runs."""
    program = Pipeline(6.0, 10.0, 1000)
    records = records_of(program)
    paused = [record for record in records[1:] if record["speedup"] == 1.0][::4]
    for record in paused:
        record |= {"effective_duration": 1000, "delay": record["duration"] - 1000}
        record["points"][0] |= {"elapsed": 1000, "half_elapsed": 500}
        for flow in record["flows"]:
            flow["delay"] = flow["duration"]
    rates = lasting_rates(flows_of(records), "item")
    assert sum(rate == 0 for rate in rates.values()) == len(paused)
    effects = effects_of(profile_of(records), corrected=True)
    assert effects[1.0] == pytest.approx(program.lasting_effect(1.0), abs=0.04)


def half_of_three_stages(position: int, first: bool) -> Half:
    """Of 7, 10 and 5 ms an item; in odd windows the second is sped up by half, and the last drains its queue.

    So the first is tied to the second in odd windows only, and the second to the last in even ones.
    """
    if position % 2 == 0:
        items, ran = {1: 132.0, 2: 132.0, 3: 100.0}, {1: 924.0, 2: 1320.0, 3: 500.0}
        waits, delay = {(3, 2): 500.0}, 0
    else:
        items, ran = {1: 84.0, 2: 84.0, 3: 116.0}, {1: 588.0, 2: 840.0, 3: 580.0}
        waits, delay = {(2, 1): 160.0}, 420
    record = SimpleNamespace(speedup=0.5 if delay else 0.0, is_transient=False, is_cut=False, settling=1)
    flow = Flow(duration=1000, delay=delay, visits={"item": int(items[3])}, threads=())
    window = cast("Window", SimpleNamespace(record=record))
    stages = {1: 1, 2: 1, 3: 1}
    return Half(flow, ran, items, stages, {}, waits, "middle", position, first, window)


def test_the_work_of_a_stage_is_known_by_way_of_another_one() -> None:
    halves = [half_of_three_stages(position, first) for position in range(40) for first in (True, False)]
    rates = lasting_rates([RunFlows(halves, halves)], "item")
    assert {position for _, position in rates} == set(range(1, 40, 2))
    assert list(rates.values()) == pytest.approx([84 / 580] * 20, rel=0.02)


@pytest.mark.parametrize("counts", ["releases", "processor time"])
def test_items_are_counted_by_releases_or_work_whichever_follows_them(counts: str) -> None:
    """Either the machine is slow in even windows, or all threads look for work in loops."""
    halves = []
    for position in range(40):
        for first in (True, False):
            half = half_of_three_stages(position, first)
            if counts == "releases":
                slow = 1.0 if position % 2 else 1.3
                halves.append(replace(half, ran={stage: slow * ran for stage, ran in half.ran.items()}))
            else:
                halves.append(replace(half, releases=dict.fromkeys(half.ran, 50.0 + position**2)))
    rates = lasting_rates([RunFlows(halves, halves)], "item")
    assert {position for _, position in rates} == set(range(1, 40, 2))
    assert list(rates.values()) == pytest.approx([84 / 580] * 20, rel=0.02)


def test_a_queue_behind_a_stage_that_only_waits_for_a_device_is_corrected() -> None:
    """The second stage waits for the first, and the third for the second, of which no work is known."""
    halves = []
    for position in range(40):
        for first in (True, False):
            half = half_of_three_stages(position, first)
            waits = {(2, 4): 160.0, (4, 1): 900.0} if (2, 1) in half.waits else dict(half.waits)
            ran = {**half.ran, 4: 0.5}
            halves.append(replace(half, ran=ran, waits=waits, threads={**half.threads, 4: 1}))
    rates = lasting_rates([RunFlows(halves, halves)], "item")
    assert {position for _, position in rates} == set(range(1, 40, 2))
    assert list(rates.values()) == pytest.approx([84 / 580] * 20, rel=0.02)


def stretch_of_two_stages(made: int, used: int, speedup: float = -1, position: int = 0) -> Stretch:
    """Of 10 and 6 ms an item, 1 s long; a half of a window unless speedup is below 0.

    The second stage waits for the first one if it has used up all.
    """
    waits = {(2, 1): 400.0} if used <= made else {}
    flow = Flow(duration=1000, delay=0, visits={"item": used}, threads=())
    of_all = (flow, {1: 10.0 * made, 2: 6.0 * used}, {1: made, 2: used}, {1: 1, 2: 1}, {}, waits)
    if speedup < 0:
        return Stretch(*of_all)
    record = SimpleNamespace(speedup=speedup, is_transient=not waits, is_cut=False, settling=1)
    window = cast("Window", SimpleNamespace(record=record))
    return Half(*of_all, "second", position, first=True, window=window)


def test_windows_count_as_the_baselines_of_their_target_do() -> None:
    """Baselines live on the queue. Speedups find it empty: nothing lags there, but chance is in visits."""
    stretches = []
    for position in range(0, 24, 2):
        few = position // 2 % 2
        stretches += [
            stretch_of_two_stages(100, 110, 0.0, position),
            stretch_of_two_stages(110, 100),
            stretch_of_two_stages(100, 99 + few, 0.5, position + 1),
            stretch_of_two_stages(100, 101 - few),
        ]
    halves = [each for each in stretches if isinstance(each, Half)]
    rates = lasting_rates([RunFlows(halves, stretches)], "item")
    assert set(rates) == {("second", position) for position in range(24)}
    assert list(rates.values()) == pytest.approx([0.1] * 24, rel=0.02)


def test_a_wait_that_nobody_is_known_to_have_ended_counts_for_the_usual_waker() -> None:
    records = records_of(Pipeline(6.0, 10.0, 8), limit=2000.0)
    for record in records[1::2]:
        for thread in record["flows"][0]["threads"]:
            thread["waits"] = [[0, 0, waited] for _, _, waited in thread["waits"]]
    halves = flows_of(records)[0].halves
    assert any(wait.waker == 0 for half in halves for thread in half.flow.threads for wait in thread.waits)
    assert all(waker != UNKNOWN for half in halves for _, waker in half.waits)


def test_a_queue_in_steady_state_is_left_alone() -> None:
    """The consumer is the faster one already."""
    profile = profile_of(records_of(Pipeline(10.0, 6.0, 8)))
    assert effects_of(profile, corrected=True) == pytest.approx(
        effects_of(profile, corrected=False), abs=0.02
    )


@pytest.mark.parametrize("blocks", [6, 12])
def test_chance_in_few_items_is_no_queue_that_drains(blocks: int) -> None:
    """Waits tie both stages in all halves, and some visits more or less are no lag."""
    records = records_of(Pipeline(10.0, 6.0, 8), limit=2000.0, blocks=blocks)
    assert lasting_rates(flows_of(records), "item") == {}


def test_a_thread_that_nobody_waits_for_does_not_count() -> None:
    program = Pipeline(6.0, 10.0, 64, beside=True)
    corrected = effects_of(profile_of(records_of(program)), corrected=True)
    for speedup, effect in corrected.items():
        assert effect == pytest.approx(program.lasting_effect(speedup), abs=0.04)


def test_where_nobody_ever_waits_nothing_is_known() -> None:
    """The queue has no bound, and grows for the whole run."""
    profile = profile_of(records_of(Pipeline(2.0, 10.0, 64, is_bounded=False, queued=100_000)))
    assert effects_of(profile, corrected=True) == effects_of(profile, corrected=False)


def test_work_that_moves_to_another_stage_is_no_queue_that_drains() -> None:
    """The consumer always waits for the producer, which does less for each visit under speedups."""
    records = records_of(Pipeline(10.0, 6.0, 8), limit=2000.0)
    for record in records[1:]:
        for flow in (record["flow_before"], *record["flows"]):
            producer = flow["threads"][0]
            part = 1 - record["speedup"] / 2
            producer["ran"] = int(producer["ran"] * part)
            producer["releases"] = int(producer["releases"] * part)
    assert lasting_rates(flows_of(records), "item") == {}


def test_profiles_without_flows_stay_as_they_are() -> None:
    records = records_of(Pipeline(6.0, 10.0, 8))
    for record in records[1:]:
        del record["flows"]
    profile = profile_of(records)
    assert effects_of(profile, corrected=True) == effects_of(profile, corrected=False)


@pytest.mark.parametrize("broken", [[], [1], [{"duration": 1, "delay": 0}], [{"duration": -1}] * 2])
def test_flows_that_cannot_be_true_leave_the_window_good(broken: list[Any]) -> None:
    records = records_of(Pipeline(6.0, 10.0, 8), blocks=1)
    records[1]["flows"] = broken
    runs = profile_of(records).runs
    assert len(runs[0].experiments) == len(records) - 1
    assert runs[0].experiments[0].flows == ()


def thread(number: int, *waits: tuple[int, int, int]) -> ThreadFlow:
    return ThreadFlow(number, 100, 0, tuple(QueueWait(*wait) for wait in waits))


def test_threads_of_a_pool_are_one_stage() -> None:
    """Two workers between a source and a sink, each queue with a condition for each side."""
    flow = Flow(1000, 0, {}, (
        thread(1, (10, 2, 50), (10, 3, 50)),
        thread(2, (11, 1, 40), (20, 4, 10)),
        thread(3, (11, 1, 30), (20, 4, 20)),
        thread(4, (21, 2, 30), (21, 3, 30)),
    ))  # fmt: skip
    stages = find_stages([flow])
    assert stages[2] == stages[3]
    assert len(set(stages.values())) == 3


def test_both_sides_of_a_queue_with_one_condition_are_two_stages() -> None:
    flow = Flow(1000, 0, {}, (thread(1, (10, 2, 50)), thread(2, (10, 1, 40))))
    assert len(set(find_stages([flow]).values())) == 2


def test_stages_are_what_comparing_all_pairs_gives() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        number = int(rng.integers(2, 14))
        waits: dict[int, list[tuple[int, int, int]]] = {}
        for one in range(1, number + 1):
            waits[one] = [
                (int(rng.integers(1, 6)), int(rng.integers(1, number + 1)), int(rng.integers(1, 100)))
                for _ in range(int(rng.integers(0, 3)))
            ]
        found = find_stages([Flow(1000, 0, {}, tuple(thread(k, *of) for k, of in waits.items()))])
        assert found == _by_pairs(waits)


def _by_pairs(waits: dict[int, list[tuple[int, int, int]]]) -> dict[int, int]:
    """Threads with objects in common, unless they wait for each other for a quarter of the time."""
    stage = {one: one for one in waits}
    total = {one: sum(w for _, _, w in of) for one, of in waits.items()}

    def objects(one: int, ended: bool) -> set[int]:
        sums: dict[int, int] = {}
        for waiter, of in waits.items():
            for key, waker, waited in of:
                if one == (waker if ended else waiter):
                    sums[key] = sums.get(key, 0) + waited
        return {key for key, waited in sums.items() if waited > 0.05 * sum(sums.values())}

    def between(a: int, b: int) -> int:
        return sum(waited for _, waker, waited in waits[a] if waker == b)

    for a in waits:
        for b in waits:
            alike = objects(a, False) & objects(b, False) or objects(a, True) & objects(b, True)
            apart = between(a, b) + between(b, a) > 0.25 * (total[a] + total[b])
            if a != b and alike and not apart:
                stage = {k: stage[b] if own == stage[a] else own for k, own in stage.items()}
    order = list(dict.fromkeys(stage[k] for k in sorted(stage)))
    return {k: 1 + order.index(own) for k, own in stage.items()}
