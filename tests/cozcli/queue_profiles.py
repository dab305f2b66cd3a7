"""Profiles of simulated pipelines with a queue, whose lasting pace is known."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records

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
