"""Queues that outlast windows: simulated pipelines, whose lasting pace is known."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from cozcli.analysis.analyse import analyse
from cozcli.analysis.correct.queue_flow import MIN_STEADY, QueueFlow, lasting_rates
from cozcli.analysis.input.flows import UNKNOWN, Half, RunFlows, find_stages, flows_by_run
from cozcli.analysis.input.windows import usable_windows
from cozcli.analysis.result import Mark
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records
from cozcli.profile.records import Flow, QueueWait, ThreadFlow

if TYPE_CHECKING:
    from cozcli.analysis.input.windows import Window

STEP = 0.25  # ms
WINDOW, SETTLING = 150.0, 40.0
SPEEDUPS = (0.0, 0.25, 0.5, 0.75, 0.0, 1.0)
NOT_FULL, NOT_EMPTY = 16, 32


@dataclass
class Pipeline:
    """A producer (thread 1) and a consumer (thread 2), which passes the point, with a queue between them.

    produce, consume: ms an item. capacity: of the queue. is_bounded: does the producer wait when it is full?
    beside: is there a third thread that computes, and has nothing to do with them?
    """

    produce: float
    consume: float
    capacity: int
    is_bounded: bool = True
    beside: bool = False
    seed: int = 0
    queued: int = 0
    left: dict[int, float] = field(default_factory=lambda: {1: 0.0, 2: 0.0})
    blocked: dict[int, bool] = field(default_factory=lambda: {1: False, 2: False})

    def lasting_effect(self, speedup: float) -> float:
        """What the consumer's speedup saves in the end."""
        before = max(self.produce, self.consume)
        return 1 - max(self.produce, self.consume * (1 - speedup)) / before

    def run(self, time: float, speedup: float, rng: np.random.Generator) -> Iterator[tuple[str, int]]:
        """Run for so many ms of real time; yields what happens in steps of effective time."""
        real = 0.0
        while real < time:
            yield "passes", 0
            real += STEP
            for thread, cost in ((1, self.produce), (2, self.consume * (1 - speedup))):
                if self.blocked[thread]:
                    yield "waits", thread
                    self._unblock(thread)
                    continue
                yield "runs", thread
                self.left[thread] -= STEP
                while self.left[thread] <= 0 and not self.blocked[thread]:
                    yield "passes", thread
                    real += speedup * self.consume if thread == 2 else 0.0
                    self._finish(thread)
                    self.left[thread] += cost * rng.uniform(0.8, 1.2)
            if self.beside:
                yield "runs", 3

    def _finish(self, thread: int) -> None:
        if thread == 1:
            self.queued += 1
            self.blocked[1] = self.is_bounded and self.queued >= self.capacity
        elif self.queued == 0:
            self.blocked[2] = True
        else:
            self.queued -= 1

    def _unblock(self, thread: int) -> None:
        if thread == 1:
            self.blocked[1] = self.queued >= self.capacity
        elif self.queued > 0:
            self.queued -= 1
            self.blocked[2] = False


def settle(
    program: Pipeline, speedup: float, limit: float, rng: np.random.Generator
) -> tuple[bool, list[dict[str, Any]]]:
    """Run on until a stage waits, as the runtime does; False if none has within `limit` ms. And the flows."""
    laps = []
    for _ in range(int(limit / SETTLING)):
        laps.append(part_of(program, SETTLING, speedup, rng)["flow"])
        if any(thread["waits"] for thread in laps[-1]["threads"]):
            return True, laps
    return False, laps


def records_of(program: Pipeline, blocks: int = 24, limit: float | None = None) -> list[dict[str, Any]]:
    """A profile of the program. limit: ms for which the runtime waits for steady state; None: it does not."""
    rng = np.random.default_rng(program.seed)
    records: list[dict[str, Any]] = [{"type": "run", "format": "coz-profile", "version": 1, "period": 10**6}]
    before = [part_of(program, 5 * program.capacity * program.consume, 0.0, rng)["flow"]]
    start = 0.0
    for block in range(blocks):
        for speedup in map(float, rng.permutation(SPEEDUPS)):
            before.append(part_of(program, SETTLING, speedup, rng)["flow"])
            is_steady, laps = settle(program, speedup, limit or 0.0, rng)
            before += laps
            told = {} if limit is None else {"settling": 1, "flags": [] if is_steady else ["transient"]}
            halves = [part_of(program, WINDOW / 2, speedup, rng) for _ in range(2)]
            visits = [half["visits"] for half in halves]
            elapsed = [half["effective"] for half in halves]
            flows = [half["flow"] for half in halves]
            if min(visits) == 0:
                before += flows
                continue
            duration = sum(flow["duration"] for flow in flows)
            point = {"name": "item", "kind": "throughput", "visits": sum(visits), "elapsed": sum(elapsed)}
            point |= {"half_visits": visits[0], "half_elapsed": elapsed[0]}
            records.append(
                {
                    "type": "experiment", "block": block, "location": "/a.c:2", "speedup": speedup,
                    "start": int(start * 1e6), "duration": duration, "effective_duration": sum(elapsed),
                    "delay": duration - sum(elapsed), "hits": 0, "samples": 100, "flags": [],
                    "points": [point], "flows": flows, "flow_before": together(before),
                } | told
            )  # fmt: skip
            before = []
            start += duration / 1e6
    return records


def together(flows: list[dict[str, Any]]) -> dict[str, Any]:
    """One flow for several that follow each other."""
    threads = []
    for same in zip(*(flow["threads"] for flow in flows), strict=True):
        waits: defaultdict[tuple[int, int], int] = defaultdict(int)
        for thread in same:
            for waited_at, waker, waited in thread["waits"]:
                waits[waited_at, waker] += waited
        threads.append(
            {
                "thread": same[0]["thread"],
                "ran": sum(thread["ran"] for thread in same),
                "releases": sum(thread["releases"] for thread in same),
                "waits": [[*pair, waited] for pair, waited in waits.items()],
            }
        )
    return {
        "duration": sum(flow["duration"] for flow in flows),
        "delay": sum(flow["delay"] for flow in flows),
        "visits": {"item": sum(flow["visits"]["item"] for flow in flows)},
        "threads": threads,
    }


def part_of(program: Pipeline, time: float, speedup: float, rng: np.random.Generator) -> dict[str, Any]:
    seen: defaultdict[tuple[str, int], int] = defaultdict(int)
    for event in program.run(time, speedup, rng):
        seen[event] += 1
    effective = seen["passes", 0] * STEP
    ms = 1_000_000
    # The consumer's real time is longer than its effective time; at 100 % it takes none of the latter.
    real = {1: seen["runs", 1] * STEP, 2: seen["passes", 2] * program.consume, 3: seen["runs", 3] * STEP}
    waits = {1: [NOT_FULL, 2], 2: [NOT_EMPTY, 1]}
    threads = [
        {
            "thread": thread, "ran": int(real[thread] * ms), "releases": 2 * seen["passes", thread],
            "waits": [[*waits[thread], int(seen["waits", thread] * STEP * ms)]]
            if seen["waits", thread] else [],
        }
        for thread in ((1, 2, 3) if program.beside else (1, 2))
    ]  # fmt: skip
    duration = effective + speedup * seen["passes", 2] * program.consume
    flow = {"duration": int(duration * ms), "delay": int((duration - effective) * ms),
            "visits": {"item": seen["passes", 2]}, "threads": threads}  # fmt: skip
    return {"visits": seen["passes", 2], "effective": int(effective * ms), "flow": flow}


def profile_of(records: list[dict[str, Any]]) -> Profile:
    lines = [(json.dumps(record) + "\n").encode() for record in records]
    return Profile(collect_runs(read_records(lines, ReadProblems()), "x"), ["x"])


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
