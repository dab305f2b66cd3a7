#!/usr/bin/env python3
"""Does `coz bias` flag kernels that alias, and leave others alone?

First each kernel is measured where its objects collide, and elsewhere: processors differ in which collisions
cost them time. `coz bias` is right if it flags those that are slower by 2 % or more, at a place within 16
bytes of the collision, with the objects named, and a remedy that halves the effect and whose interval reaches
below 2 % over other environment sizes, or over the best of eight offsets; and if it flags no others. Prints a
row for each kernel and repeat. Needs a quiet machine; a repeat takes about six minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from cozcli.bias.factors import SIZES, Movers, Place, find_movers, layout
from cozcli.bias.measure import Runner
from cozcli.bias.study import with_code
from cozcli.compare.personality import randomisation
from cozcli.compare.trial import environment_of
from cozcli.launch.runtime_library import find_installation

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "benchmarks" / "bias"
BUILD = ROOT / "build" / "benchmarks" / "bias"
#: Slower by so much, a kernel is to be flagged.
SLOW = 1.02
#: Runs that tell how slow it is.
RUNS = 21
#: Of a study. One size of 256 is slow: a slow machine needs longer than 30 s to try them all.
DURATION, ALL_SIZES = "30s", "45s"


class Kernel(NamedTuple):
    """factor: what moves it to where its objects collide; None for controls. objects: what must be named.
    statics: what the object on the stack collides with."""

    name: str
    source: str
    options: tuple[str, ...]
    argument: str
    factor: str | None = None
    objects: tuple[str, ...] = ()
    statics: tuple[str, ...] = ()

    def build(self, level: str) -> str:
        """The path of the program."""
        BUILD.mkdir(parents=True, exist_ok=True)
        program = BUILD / f"{self.source}{level}{''.join(self.options)}"
        path = KERNELS / f"{self.source}.c"
        subprocess.run(["gcc", level, "-g", *self.options, "-o", program, path], check=True)
        return str(program)


CASES = (
    Kernel(
        "ring",
        "static_and_stack",
        (),
        "3000000",
        "environment",
        ("ring of main", "(static)"),
        ("i", "j", "k"),
    ),
    Kernel(
        "table",
        "table_and_counts",
        (),
        "3000000",
        "environment",
        ("table of main", "counts (static)"),
        ("counts",),
    ),
    Kernel("table, together", "table_and_counts", ("-DTOGETHER",), "3000000"),
    Kernel("blocks", "convolution", (), "40", "heap", ("main (convolution.c:",)),
    Kernel("blocks, padded", "convolution", ("-DPADDED",), "40"),
)


class Collision:
    """Where a kernel's objects collide, and what that costs."""

    def __init__(self, kernel: Kernel, program: str) -> None:
        self._kernel, self._program = kernel, program
        self._movers = movers_of(program, kernel.argument)
        symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        addresses = (line.split() for line in symbols.splitlines())
        self._statics = [int(words[0], 16) >> 4 & 255 for words in addresses if words[-1] in kernel.statics]

    def slowdown(self) -> float:
        """Time where they collide, over that elsewhere."""
        runner = Runner([self._program, self._kernel.argument], self._movers)
        generator = random.Random(1)
        here = Place()
        if self._kernel.factor == "environment":
            here = next(Place(size) for size in SIZES if self._position(Place(size)) in self._statics)
        ratios = []
        for _ in range(RUNS):
            there = Place(heap=generator.randrange(1 << 31))
            if self._kernel.factor == "environment":
                there = Place(here.environment + generator.randrange(256, 2048, 16))
            ratios.append(runner.trial(here).cpu / runner.trial(there).cpu)
        return statistics.median(ratios)

    def is_near(self, residue: int | None) -> bool:
        """Do they collide within 16 bytes there?"""
        if residue is None:
            return False
        if self._kernel.factor == "heap":
            return near(self._position(Place()), residue >> 4)
        return any(near(self._position(Place(residue)), static) for static in self._statics)

    def _position(self, place: Place) -> int:
        """The kernel's exit status: in units of 16 bytes, modulo 256."""
        # As many characters as the argument, since they are above the stack.
        side = self._movers.side([self._program, "p" * len(self._kernel.argument)], place)
        with randomisation(False):
            ended = subprocess.run(side.command, env=environment_of(side, layout(place)), check=False)
        assert ended.returncode >= 0, f"{self._program} died of signal {-ended.returncode}"
        return ended.returncode


def movers_of(program: str, argument: str) -> Movers:
    """What `coz bias` moves the program by."""
    movers = find_movers(find_installation().library.parent / "libcoz-heap.so")
    return with_code(movers, [program, argument], 1, os.devnull)[0]


def near(one: int, other: int) -> bool:
    """In units of 16 bytes, modulo 256."""
    return (one - other + 1) % 256 <= 2


def study(command: list[str], duration: str, seed: int) -> dict:
    """The JSON of `coz bias`."""
    words = [sys.executable, "-m", "cozcli", "bias", "--json", "--duration", duration]
    ended = subprocess.run(
        [*words, "--layout-seed", str(seed), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        check=True,
    )
    return json.loads(ended.stdout)


def is_right(kernel: Kernel, collision: Collision | None, data: dict) -> bool:
    """Is it flagged as it should be? collision: if it costs time."""
    aliasing = data["aliasing"]
    if collision is None or len(aliasing) != 1:
        return collision is None and not aliasing
    (found,) = aliasing
    named = all(any(name in text for text in found["objects"]) for name in kernel.objects)
    left = found["remedied"]
    is_remedied = left is not None and found["remedied_low"] < SLOW - 1 and left < found["slowdown"] / 2
    return found["factor"] == kernel.factor and named and is_remedied and collision.is_near(found["residue"])


def row(kernel: Kernel, level: str, collision: Collision | None, data: dict) -> str:
    """What is printed of one study."""
    places = "; ".join(
        f"{each['factor']} {each['residue']}: {100 * each['slowdown']:+.1f} %, p {each['p']:.4f}, "
        f"remedied {100 * (each['remedied'] or 0):+.1f} [{100 * (each['remedied_low'] or 0):+.1f}, "
        f"{100 * (each['remedied_high'] or 0):+.1f}] %, {each['objects'][:1]}"
        for each in data["aliasing"]
    )
    verdict = "right" if is_right(kernel, collision, data) else "WRONG"
    randomise = " ".join(data["randomise"])
    return (
        f"{kernel.name} {level} | {verdict} | {places} | {data['verdict']} {randomise} | {data['runs']} runs"
    )


def main() -> None:
    """Print what collisions cost, a row for each study, and how many were right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cases = []
    for kernel in CASES:
        for level in ("-O2", "-O3"):
            program = kernel.build(level)
            collision = Collision(kernel, program) if kernel.factor else None
            if collision is not None:
                slowdown = collision.slowdown()
                print(
                    f"{kernel.name} {level}: {100 * (slowdown - 1):+.1f} % where objects collide", flush=True
                )
                collision = collision if slowdown > SLOW else None
            cases.append((kernel, level, program, collision))
    right = total = 0
    for seed in range(options.seed, options.seed + options.repeats):
        for kernel, level, program, collision in cases:
            is_slow_size = collision is not None and kernel.factor == "environment"
            duration = ALL_SIZES if is_slow_size else DURATION
            data = study([program, kernel.argument], duration, seed)
            right, total = right + is_right(kernel, collision, data), total + 1
            print(f"{seed} | {row(kernel, level, collision, data)}", flush=True)
    print(f"{right} of {total} right")


if __name__ == "__main__":
    main()
