"""Profiles of combined windows, of programs whose true effects are known, as the runtime writes them.

A program has lines with heavy-tailed shares and one of four shapes. A window has a main target, companions
with random speedups of their own, or both. Samples are Poisson counts, and a line gains what its samples
delayed, not what it was to gain. `python combined_profiles.py SHAPE LINES WINDOWS > profile.coz` writes one.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]

WINDOW = 200_000_000
PERIOD = 1_000_000
#: The part of a block's windows that are baselines is 2 of 8.
BLOCK = (0.0, 0.0, 0.1, 0.25, 0.4, 0.5, 0.75, 1.0)
LADDER = (0.25, 0.5, 0.75, 1.0)
#: Lines of this share may be partners, of so many.
LARGE, MAX_LEADERS = 0.1, 5
#: Threads that join each round need a little more or less for each: standard deviation, of their time.
JITTER = 0.03
#: No line has more than this part of all work.
LARGEST = 0.25


def serial(work: Floats) -> Floats:
    """One thread runs all lines."""
    return np.asarray(work.sum(axis=-1))


def join(work: Floats) -> Floats:
    """Two threads with half of the lines each wait for each other each round: the mean of the longer one."""
    left, right = work[..., 0::2].sum(axis=-1), work[..., 1::2].sum(axis=-1)
    scatter = JITTER * np.hypot(left, right)
    distance = (left - right) / scatter
    density = np.exp(-(distance**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(left * ndtr(distance) + right * ndtr(-distance) + scatter * density)


def pipeline(work: Floats) -> Floats:
    """Three stages with queues between them: the slowest sets the pace, nearly."""
    stages = np.stack([work[..., k::3].sum(axis=-1) for k in range(3)])
    largest = stages.max(axis=0)
    return np.asarray(largest * ((stages / largest) ** 16).sum(axis=0) ** (1 / 16))


def lock(work: Floats) -> Floats:
    """Two threads run all lines, every fourth one under a lock: waiting grows with the share of these."""
    locked, whole = work[..., 0::4].sum(axis=-1), work.sum(axis=-1)
    return np.asarray((whole + locked**2 / whole) / 2)


SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "serial": serial,
    "join": join,
    "pipeline": pipeline,
    "lock": lock,
}


@dataclass
class Program:
    """`work`: of each line, for one visit, in parts of the period without speedups."""

    shape: str
    lines: int
    seed: int = 1
    work: Floats = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng([self.seed, self.lines])
        work = rng.pareto(1.1, self.lines) + 1
        for _ in range(20):
            work = np.minimum(work, LARGEST * work.sum())
        if self.shape == "join":  # as much in either thread: the hardest case
            for side in (0, 1):
                work[side::2] /= work[side::2].sum()
        self.work = work / SHAPES[self.shape](work)

    def location(self, line: int) -> str:
        return f"/src/program.c:{line + 1}"

    def truth(self, line: int, speedup: float) -> float:
        work = self.work.copy()
        work[line] *= 1 - speedup
        return float(1 - SHAPES[self.shape](work))


@dataclass
class Measurement:
    """How windows are measured. `dose` 0: one target at a time.

    noise: of a window's log period; drift: of a block's. mains: what part of the blocks has a main target.
    pairs: in what part of the blocks a second large target is sped up besides, its partner.
    """

    dose: float = 0.05
    noise: float = 0.034
    drift: float = 0.01
    mains: float = 1.0
    pairs: float = 0.0
    period: float = 2_000_000.0
    seed: int = 1

    def records(self, program: Program, windows: int) -> list[dict[str, Any]]:
        rng = np.random.default_rng([self.seed, windows])
        speedups, mains = self._plan(program, windows, rng)
        drift = np.repeat(np.exp(self.drift * rng.standard_normal(-(-windows // len(BLOCK)))), len(BLOCK))
        noise = np.exp(self.noise * rng.standard_normal(windows)) * drift[:windows]
        visits = WINDOW / (self.period * noise * self._speed(program, speedups))
        # Samples come in proportion to the work done, whatever the machine's speed.
        samples = rng.poisson(visits[:, None] * self.period * program.work / PERIOD)
        gained = speedups * samples * PERIOD / (visits[:, None] * self.period)
        periods = (
            self.period
            * noise
            * SHAPES[program.shape](np.maximum(program.work - gained, 1e-4 * program.work))
        )
        return self._write(program, speedups, mains, samples, periods)

    def _speed(self, program: Program, speedups: Floats) -> Floats:
        return SHAPES[program.shape](program.work * np.maximum(1 - speedups, 1e-4))

    def _plan(self, program: Program, windows: int, rng: np.random.Generator) -> tuple[Floats, list[int]]:
        """The speedup of each line in each window, and the main target of each window (-1: none)."""
        lines, share = program.lines, program.work
        speedups = np.zeros((windows, lines))
        if self.dose > 0:
            allowed = np.array([[s * a <= self.dose / 2 for s in LADDER] for a in share])
            number = allowed.sum(axis=1)
            mean = (allowed * LADDER).sum(axis=1) / np.maximum(number, 1)
            total = float(share @ mean)
            taking = min(0.5, self.dose / total) if total > 0 else 0.0
            drawn = np.array(LADDER)[(rng.random((windows, lines)) * np.maximum(number, 1)).astype(int)]
            speedups = np.where((rng.random((windows, lines)) < taking) & (number > 0), drawn, 0.0)
        wanted = np.maximum(share, 0.01)
        mains: list[int] = []
        for window in range(windows):
            if window % len(BLOCK) == 0:
                main = int(rng.choice(lines, p=wanted / wanted.sum())) if rng.random() < self.mains else -1
                order = rng.permutation(BLOCK)
            if main >= 0:
                speedups[window, main] = order[window % len(BLOCK)]
            mains.append(main)
        self._add_partners(share, speedups, mains, rng)
        return speedups, mains

    def _add_partners(
        self, share: Floats, speedups: Floats, mains: list[int], rng: np.random.Generator
    ) -> None:
        """Of every pair of large lines as many blocks."""
        large = np.flatnonzero(share >= LARGE)[:MAX_LEADERS]
        choices = list(itertools.combinations(large.tolist(), 2)) if self.pairs > 0 else []
        chosen = 0
        for block in range(len(mains) // len(BLOCK) if choices else 0):
            if rng.random() >= self.pairs:
                continue
            main, partner = rng.permutation(choices[chosen % len(choices)])
            chosen += 1
            own = slice(block * len(BLOCK), (block + 1) * len(BLOCK))
            speedups[own, large] = 0
            for half in (0, 4):
                windows = own.start + half + rng.permutation(4)
                speedups[windows, main], speedups[windows, partner] = [0, 0, 0.5, 0.5], [0, 0.5, 0, 0.5]
            mains[own] = [int(main)] * len(BLOCK)

    def _write(
        self, program: Program, speedups: Floats, mains: list[int], samples: Any, periods: Floats
    ) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = [
            {
                "type": "run", "format": "coz-profile", "version": 1, "coz": "0.1.0",
                "time": 1_700_000_000 * 10**9,
                "program": "/src/program", "arguments": [], "build_id": "ab12", "sampling": "perf-trap",
                "period": PERIOD, "seed": 1, "cores": 2, "scope": [], "end_to_end": False,
                **({"companion_dose": self.dose} if self.dose > 0 else {}),
            }
        ]  # fmt: skip
        numbers: dict[int, int] = {}
        now, run_time, counts = 0, 0, np.zeros(program.lines)
        for window, (main, period) in enumerate(zip(mains, periods, strict=True)):
            companions = []
            for line in np.flatnonzero(speedups[window]).tolist():
                if line == main:
                    continue
                if line not in numbers:
                    numbers[line] = len(numbers)
                    records.append(
                        {"type": "target", "number": numbers[line], "kind": "line",
                         "location": program.location(line), "function": "work"}
                    )  # fmt: skip
                companions.append([numbers[line], float(speedups[window, line]), int(samples[window, line])])
            counts += samples[window]
            visits = max(int(WINDOW / period), 1)
            delay = int((samples[window] * speedups[window]).sum() * PERIOD)
            run_time += WINDOW
            records.append(
                {
                    "type": "experiment", "block": window // len(BLOCK),
                    "kind": "line" if main >= 0 else "none",
                    "location": program.location(main) if main >= 0 else "none", "function": "work",
                    "speedup": float(speedups[window, main]) if main >= 0 else 0.0, "start": now,
                    "duration": WINDOW + delay, "effective_duration": WINDOW, "delay": delay,
                    "hits": int(samples[window, main]) if main >= 0 else 0,
                    "samples": int(samples[window].sum()), "run_time": run_time, "flags": [],
                    **({"line_samples": int(counts[main])} if main >= 0 else {}),
                    **({"companions": companions} if self.dose > 0 else {}),
                    "points": [
                        {"name": "request", "kind": "throughput", "visits": visits,
                         "elapsed": max(int(visits * period), 1)}
                    ],
                }
            )  # fmt: skip
            now += WINDOW + delay
        records.append(
            {
                "type": "samples", "run_time": run_time, "duration": now, "total": int(counts.sum()) + 1,
                "in_scope": int(counts.sum()),
                "lines": [
                    {"location": program.location(k), "function": "work", "count": int(counts[k])}
                    for k in range(program.lines)
                ],
                "points": [], "experiments": len(mains), "discarded": {}, "threads": 2, "final": True,
            }
        )  # fmt: skip
        return records


if __name__ == "__main__":
    from synthetic import to_bytes

    shape, lines, windows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sys.stdout.buffer.write(to_bytes(Measurement().records(Program(shape, lines), windows)))
