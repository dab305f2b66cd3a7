"""Profiles of a program whose true effects are known: the model that the estimator is tested on.

A line has a true effect e(s) on the period p0 of a progress point. Every block has a drift of its own,
shared by its windows; every window has noise of its own. Run as a script to write one:
`python synthetic.py LINES SECONDS > profile.coz`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SPEEDUPS = tuple(round(0.05 * k, 2) for k in range(1, 21))
WINDOW = 400_000_000


@dataclass
class Line:
    """`effect(s)` is the truth while the line runs; it runs `share` of the time, `rate` samples a ns."""

    location: str
    effect: Callable[[float], float]
    function: str = "work"
    share: float = 1.0
    rate: float = 0.4e-6
    latency: Callable[[float], float] | None = None


@dataclass
class Model:
    """Noise is relative: `drift` between blocks, `noise` between windows; `period` p0 in ns.

    In a part `disturbed` of all windows the machine is slower by up to half, which its probe shows; the
    program feels it with the exponent `sensitivity`, and by something more, of relative size `rough` at the
    largest slowness. Without disturbances windows have no probes. In a part `robbed` of them, reference
    windows among them, a hypervisor steals up to half of the processor time, which no probe shows and the
    kernel's count does, in ticks of 10 ms; the program feels it as `sensitivity_to_theft` says.

    `busy` processors are in use on average, and threads wait for one for `waiting` of that time. Under a
    speedup s the first half of a window is slower by `settling`·s than the second. Of a latency point's
    arrivals the part `growth`(s) never departs within the window. With `chance`, a window's effect is what
    its target samples make it: in proportion to them.

    With `references`, each block has a window without samples; all others are slower by the factor
    `slowdown`, and lines by what samples of `sample_cost` ns add to their time.
    """

    lines: Sequence[Line]
    period: float = 2_000_000.0
    drift: float = 0.05
    noise: float = 0.02
    speedups: Sequence[float] = SPEEDUPS
    per_block: int = 2
    seed: int = 1
    point: str = "request"
    program: str = "/src/server"
    poisson: bool = False
    disturbed: float = 0.0
    sensitivity: float = 1.0
    rough: float = 0.0
    robbed: float = 0.0
    sensitivity_to_theft: float = 1.0
    busy: float = 1.0
    waiting: float = 0.0
    settling: float = 0.0
    growth: Callable[[float], float] = lambda s: 0.0
    chance: bool = False
    references: bool = False
    slowdown: float = 1.0
    sample_cost: int = 0
    _rng: np.random.Generator = field(init=False)
    #: For what windows say beside visits: the visits do not depend on whether it is asked for.
    _side: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._side = np.random.default_rng(self.seed + 1_000_000)

    def records(self, blocks: int) -> list[dict[str, Any]]:
        """A run with this number of blocks, its lines taken in turn."""
        rng = self._rng
        records: list[dict[str, Any]] = [
            {
                "type": "run", "format": "coz-profile", "version": 1, "coz": "0.1.0",
                "time": 1_700_000_000_000_000_000, "program": self.program, "arguments": ["-n", "5"],
                "build_id": "ab12", "sampling": "perf-trap", "period": 1_000_000,
                "seed": 18446744073709551615, "cores": 2, "scope": [], "end_to_end": False,
            }
        ]  # fmt: skip
        now = run_time = 0.0
        counts = dict.fromkeys((line.location for line in self.lines), 0.0)
        at_0, time_at_0 = dict(counts), 0.0
        for block in range(blocks):
            line = self.lines[block % len(self.lines)]
            drift = float(np.exp(self.drift * rng.standard_normal()))
            chosen = rng.choice(self.speedups, size=min(self.per_block, len(self.speedups)), replace=False)
            if self.references:
                records.append(self._reference(block, drift, now))
                now += WINDOW
            for speedup in [0.0, *map(float, chosen)]:
                window = self._window(line, block, speedup, drift, now)
                now += window["duration"]
                run_time += window["effective_duration"]
                # Work done under a speedup is more than its time tells.
                work = window["effective_duration"] / (1 - line.effect(speedup))
                for other in self.lines:
                    samples = other.rate * work * (1.0 if other is line else other.share)
                    counts[other.location] += samples
                    at_0[other.location] += samples if speedup == 0 else 0.0
                window["line_samples"] = int(counts[line.location])
                window["run_time"] = int(run_time)
                if speedup == 0:
                    time_at_0 += window["effective_duration"]
                    window |= {"line_samples_at_0": int(at_0[line.location]), "run_time_at_0": int(time_at_0)}
                records.append(window)
            # Between blocks the program runs on: there a line in phases takes only its share.
            pause = WINDOW * 3 * (1 / min(line.share, 1.0) - 1)
            now += pause
            run_time += pause
            time_at_0 += pause
            for other in self.lines:
                samples = 0.0 if other is line else other.rate * pause * other.share
                counts[other.location] += samples
                at_0[other.location] += samples
        visits = sum(p["visits"] for r in records for p in r.get("points", []) if "visits" in p)
        records.append(
            {
                "type": "samples", "run_time": int(run_time), "duration": int(now),
                "total": int(sum(counts.values())) + 1, "in_scope": int(sum(counts.values())),
                "lines": [
                    {"location": k.location, "function": k.function, "count": int(counts[k.location])}
                    for k in self.lines
                ],
                "points": [{"name": self.point, "kind": "throughput", "visits": visits}],
                "experiments": len(records) - 1, "discarded": {}, "threads": 2, "final": True,
            }
        )  # fmt: skip
        records.append({"type": "exit", "status": 0})
        return records

    def _window(self, line: Line, block: int, speedup: float, drift: float, now: float) -> dict[str, Any]:
        rng = self._rng
        saved = line.effect(speedup) / (1 - self.sample_cost / 1e6)
        period = self.period * drift * (self.slowdown - saved)
        period *= float(np.exp(self.noise * rng.standard_normal()))
        probe = 300 * float(np.exp(0.01 * rng.standard_normal()))
        if self.disturbed and rng.random() < self.disturbed:
            slowness = float(rng.uniform(1, 2))
            probe *= slowness
            period *= slowness**self.sensitivity
            period *= float(np.exp(self.rough * (slowness - 1) * self._side.standard_normal()))
        theft = self._theft()
        period *= theft**self.sensitivity_to_theft
        effective = WINDOW * (1 - 0.3 * speedup)
        rate = line.rate / (1 - line.effect(speedup))
        if self.chance:
            samples = int(rng.poisson(rate * effective))
            period *= 1 - line.effect(speedup) * samples / (rate * effective)
            period /= 1 - line.effect(speedup)
        visits = effective / period
        n = int(rng.poisson(visits)) if self.poisson else int(visits)
        elapsed = effective if self.poisson else n * period
        if not self.chance:
            samples = int(rng.poisson(rate * effective))
        points: list[dict[str, Any]] = []
        if n >= 1:
            point = {"name": self.point, "kind": "throughput", "visits": n, "elapsed": max(int(elapsed), 1)}
            points.append(point | self._half(point, speedup))
        if line.latency is not None:
            duration = 5 * self.period * (1 - line.latency(speedup)) * np.exp(0.05 * rng.standard_normal())
            points.append(
                {
                    "name": "transaction", "kind": "latency", "arrivals": n,
                    "departures": self._departures(n, speedup),
                    "elapsed": int(effective), "in_progress": float(duration * n / effective),
                }
            )  # fmt: skip
        delay = int(samples * speedup * 1e6)
        return {
            "type": "experiment", "block": block, "location": line.location, "function": line.function,
            "speedup": speedup, "start": int(now), "duration": int(effective) + delay,
            "effective_duration": int(effective), "delay": delay, "hits": samples, "samples": 2 * samples,
            "processor_time": int(self.busy * (effective + delay)),
            "core_wait": int(self.waiting * self.busy * (effective + delay)),
            "flags": [], "points": points, **({"probe_time": probe} if self.disturbed else {}),
            **self._machine_times(theft, effective + delay),
        }  # fmt: skip

    def _theft(self) -> float:
        """How many times as much processor time the machine wanted in a window as it got."""
        if not self.robbed or self._side.random() >= self.robbed:
            return 1.0
        return float(self._side.uniform(1, 2))

    def _machine_times(self, theft: float, duration: float) -> dict[str, int]:
        if not self.robbed:
            return {}
        busy = 2 * duration / theft
        tick = 10_000_000
        return {"machine_busy": int(busy / tick) * tick,
                "machine_stolen": int(busy * (theft - 1) / tick + self._side.random()) * tick}  # fmt: skip

    def _reference(self, block: int, drift: float, now: float) -> dict[str, Any]:
        rng = self._side
        visits = int(WINDOW / self.period)
        elapsed = visits * self.period * drift * float(np.exp(self.noise * rng.standard_normal()))
        if self.disturbed and rng.random() < self.disturbed:
            elapsed *= float(rng.uniform(1, 2)) ** self.sensitivity
        theft = self._theft()
        elapsed *= theft**self.sensitivity_to_theft
        return {
            "type": "reference", "block": block, "start": int(now), "duration": int(elapsed),
            "effective_duration": int(elapsed), "sample_cost": self.sample_cost,
            **self._machine_times(theft, elapsed),
            "points": [
                {"name": self.point, "kind": "throughput", "visits": visits, "elapsed": int(elapsed)}
            ],
        }  # fmt: skip

    def _half(self, point: dict[str, Any], speedup: float) -> dict[str, int]:
        half = point["visits"] // 2
        if half == 0:
            return {}
        slower = self.settling * speedup / 2 + self.noise * self._side.standard_normal()
        return {
            "half_visits": half,
            "half_elapsed": int(point["elapsed"] * half / point["visits"] * (1 + slower)),
        }

    def _departures(self, arrivals: int, speedup: float) -> int:
        """Those under way at both ends are independent of each other in a steady queue."""
        change = int(self._side.poisson(4)) - int(self._side.poisson(4))
        return max(0, arrivals - change - round(self.growth(speedup) * arrivals))


def to_bytes(records: Sequence[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def saturating(ceiling: float, share: float) -> Callable[[float], float]:
    """A line that matters until something else limits the program."""
    return lambda s: min(share * s, ceiling)


def many_lines(number: int) -> list[Line]:
    """Lines of every kind, the steepest first."""
    names = [
        "parse_request",
        "BTree::insert(Key const&, Value&&)",
        "hash",
        "std::__detail::_Map::find",
        "lock",
    ]
    lines = []
    for i in range(number):
        share = 0.6 * (1 - i / max(number - 1, 1)) ** 2
        effect = saturating(0.25 + 0.02 * i, share) if i % 3 == 1 else (lambda s, a=share: a * s)
        if number > 3 and i >= number - max(number // 10, 1):
            effect = lambda s: -0.2 * s  # noqa: E731
        folder = "/home/user/project/src" + ("/storage/engine" if i % 4 == 1 else "")
        file = ["server.cpp", "btree_insertion_with_long_name.cpp", "hash.c", "queue.hpp"][i % 4]
        lines.append(
            Line(
                f"{folder}/{file}:{37 + 91 * i}",
                effect,
                names[i % len(names)],
                latency=(lambda s, a=share: 0.5 * a * s) if i == 0 and number in (4, 30) else None,
            )
        )
    return lines


if __name__ == "__main__":
    count, seconds = int(sys.argv[1]), float(sys.argv[2])
    model = Model(many_lines(count), program="/home/user/project/build/server")
    sys.stdout.buffer.write(to_bytes(model.records(int(seconds / (3 * WINDOW / 1e9)))))
