#!/usr/bin/env python3
"""Does `coz bias` flag kernels that alias, with the objects that collide, and leave controls alone?

Prints a row for each kernel and each repeat. Wants a quiet machine; a repeat takes about three minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

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


def study(program: str, argument: str, duration: str, seed: int) -> dict:
    """The command's JSON."""
    command = [sys.executable, "-m", "cozcli", "bias", "--json", "--duration", duration]
    ended = subprocess.run(
        [*command, "--layout-seed", str(seed), program, argument],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        check=True,
    )
    return json.loads(ended.stdout)


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
                data = study(program, argument, options.duration, options.seed + repeat)
                found = data["aliasing"]
                flagged = [each["factor"] for each in found]
                named = [text for each in found for text in each["objects"]]
                good = flagged == [factor] and all(any(o in text for text in named) for o in objects)
                good = good if factor else not flagged
                right, total = right + good, total + 1
                places = "; ".join(
                    f"{each['factor']} {each['residue']}: {100 * each['slowdown']:+.1f} %, "
                    f"p {each['p']:.4f}, remedied {100 * (each['remedied'] or 0):+.1f} %, "
                    f"{each['objects'][:1]}"
                    for each in found
                )
                print(
                    f"{options.seed + repeat} | {name} {level} | {'right' if good else 'WRONG'} | {places} |"
                    f" {data['verdict']} {data['randomise']} | {data['runs']} runs",
                    flush=True,
                )
    print(f"{right} of {total} right")


if __name__ == "__main__":
    main()
