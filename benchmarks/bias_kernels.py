#!/usr/bin/env python3
"""Does `coz bias` flag kernels that alias, and leave controls alone?

A kernel is right if its place is within 16 bytes of the collision, the objects are named, and the remedy
leaves it within 2 % of other environment sizes, or of the best of eight offsets. Prints a row
for each kernel and each repeat. Needs a quiet machine; a repeat takes about three minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from cozcli.bias.factors import Place, find_movers, layout
from cozcli.bias.study import with_code
from cozcli.compare.personality import randomisation
from cozcli.compare.trial import environment_of
from cozcli.launch.runtime_library import find_installation

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "benchmarks" / "bias"
BUILD = ROOT / "build" / "benchmarks" / "bias"
#: Source, options, argument, factor that must be flagged (none for controls), and what must be named.
CASES = {
    "stack": ("static_and_stack", (), "3000000", "environment", ("ring of main", "(static)")),
    "stack, together": ("static_and_stack", ("-DTOGETHER",), "3000000", None, ()),
    "blocks": ("convolution", (), "40", "heap", ("main (convolution.c:",)),
    "blocks, padded": ("convolution", ("-DPADDED",), "40", None, ()),
}


def build(source: str, level: str, options: tuple[str, ...]) -> str:
    """The kernel's path."""
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / f"{source}{level}{''.join(options)}"
    path = KERNELS / f"{source}.c"
    subprocess.run(["gcc", level, "-g", *options, "-o", program, path], check=True)
    return str(program)


def study(program: list[str], duration: str, seed: int) -> dict:
    """The command's JSON."""
    command = [sys.executable, "-m", "cozcli", "bias", "--json", "--duration", duration]
    ended = subprocess.run(
        [*command, "--layout-seed", str(seed), *program],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        check=True,
    )
    return json.loads(ended.stdout)


def position(program: str, argument: str, place: Place) -> int:
    """The exit status, which says where its objects are: in units of 16 bytes, modulo 256."""
    heap = find_installation().library.parent / "libcoz-heap.so"
    movers, _ = with_code(find_movers(heap), [program, argument], 1, os.devnull)
    # As many characters as the argument, since they are above the stack.
    side = movers.side([program, "p" * len(argument)], place)
    with randomisation(False):
        status = subprocess.run(side.command, env=environment_of(side, layout(place)), check=False).returncode
    assert status >= 0, f"{program} died of signal {-status}"
    return status


def collides(program: str, argument: str, found: dict) -> bool:
    """Do the objects lie there within 16 bytes of each other, modulo 4096?"""
    if found["residue"] is None:
        return False
    if found["factor"] == "heap":
        return near(position(program, argument, Place()), found["residue"] >> 4)
    array = position(program, argument, Place(found["residue"]))
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    statics = [int(line.split()[0], 16) >> 4 for line in symbols if line.endswith((" b i", " b j", " b k"))]
    return any(near(array, static) for static in statics)


def near(one: int, other: int) -> bool:
    """In units of 16 bytes, modulo 256."""
    return (one - other + 1) % 256 <= 2


def is_right(program: str, argument: str, factor: str | None, objects: tuple[str, ...], data: dict) -> bool:
    """Is it flagged as it should be?"""
    aliasing = data["aliasing"]
    if not factor or [each["factor"] for each in aliasing] != [factor]:
        return not factor and not aliasing
    (found,) = aliasing
    named = all(any(name in text for text in found["objects"]) for name in objects)
    return named and found["remedied"] < 0.02 and collides(program, argument, found)


def main() -> None:
    """Print a row for each study, and how many were right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--duration", default="20s")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    right = total = 0
    for repeat in range(options.repeats):
        for name, (source, flags, argument, factor, objects) in CASES.items():
            for level in ("-O2", "-O3"):
                program = build(source, level, flags)
                data = study([program, argument], options.duration, options.seed + repeat)
                good = is_right(program, argument, factor, objects, data)
                right, total = right + good, total + 1
                places = "; ".join(
                    f"{each['factor']} {each['residue']}: {100 * each['slowdown']:+.1f} %, "
                    f"p {each['p']:.4f}, remedied {100 * (each['remedied'] or 0):+.1f} %, "
                    f"{each['objects'][:1]}"
                    for each in data["aliasing"]
                )
                print(
                    f"{options.seed + repeat} | {name} {level} | {'right' if good else 'WRONG'} | {places} |"
                    f" {data['verdict']} {data['randomise']} | {data['runs']} runs",
                    flush=True,
                )
    print(f"{right} of {total} right")


if __name__ == "__main__":
    main()
