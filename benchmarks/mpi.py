"""Ranks of an MPI job: predicted against true effects, with joint experiments and with each rank's own.

    mpi.py [--seconds 40] [--truth-seconds 4] [KIND...]

benchmarks/mpi/ranks.c says what the kinds do. Needs mpicc and mpirun, and two idle processors.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "benchmarks/mpi/ranks.c"
BUILD = ROOT / "build/bench/mpi"
COZ = ROOT / "build/bin/coz"
#: Microseconds of work in `first` and `second`.
KINDS = {"halo": (700, 1000), "master": (900, 700), "allreduce": (1000, 400)}
SPEEDUPS = (0.25, 0.5, 0.75)
ROUNDS = 3
MPIRUN = ("mpirun", "-n", "2")


def main() -> None:
    """Measure all kinds, and print a row for each line and speedup."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="default: all")
    parser.add_argument("--seconds", type=float, default=40, help="of each profile (%(default)s)")
    parser.add_argument(
        "--truth-seconds", type=float, default=4, help="of each run for the truth (%(default)s)"
    )
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / "ranks"
    sources = [SOURCE, ROOT / "include/coz_mpi.c"]
    subprocess.run(
        ["mpicc", "-O2", "-g", "-Wall", f"-I{ROOT}/include", "-o", program, *sources, "-ldl"], check=True
    )
    errors: dict[str, list[float]] = {"joint": [], "apart": []}
    print("Kind       Line    At    True   Joint            Each rank by itself")
    for kind in options.kinds or KINDS:
        truths = measure_truth(program, kind, options.truth_seconds)
        joint = profile(program, kind, options.seconds, ["--joint", "-o", "%s.joint"])
        apart = profile(program, kind, options.seconds, ["-o", "%s.%%r"])
        for (line, speedup), true in truths.items():
            row = f"{kind:10} {line:7} {speedup:4.0%} {true:+6.1f}"
            for name, found in (("joint", joint), ("apart", apart)):
                effect = found.get((line, speedup))
                errors[name].append(abs((effect[0] if effect else 0.0) - true))
                row += f"   {effect[0]:+6.1f} ± {effect[1]:4.1f}" if effect else "        –      "
            print(row, flush=True)
    for name, values in errors.items():
        print(f"{name}: mean error {statistics.mean(values):.2f}, worst {max(values):.1f}")


def run(program: Path, kind: str, seconds: float, work: tuple[float, float]) -> float:
    """Seconds for each round."""
    command = [*MPIRUN, program, kind, str(seconds), *map(str, work)]
    output = subprocess.run(command, capture_output=True, text=True, check=True, env=environment()).stdout
    found = re.search(r"rounds (\d+) seconds ([\d.]+)", output)
    assert found, output
    return float(found[2]) / int(found[1])


def environment() -> dict[str, str]:
    """Root may run jobs, in containers."""
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def measure_truth(program: Path, kind: str, seconds: float) -> dict[tuple[str, float], float]:
    """Effects in per cent, by line and speedup: medians over rounds, each with a plain run of its own."""
    found: dict[tuple[str, float], list[float]] = {}
    first, second = KINDS[kind]
    for _ in range(ROUNDS):
        plain = run(program, kind, seconds, (first, second))
        for speedup in SPEEDUPS:
            faster = {"first": (first * (1 - speedup), second), "second": (first, second * (1 - speedup))}
            for line, work in faster.items():
                found.setdefault((line, speedup), []).append(
                    100 * (1 - run(program, kind, seconds, work) / plain)
                )
    return {key: statistics.median(values) for key, values in sorted(found.items())}


def profile(
    program: Path, kind: str, seconds: float, options: list[str]
) -> dict[tuple[str, float], tuple[float, float]]:
    """Effects and half intervals in per cent, by line and speedup; of rank 0's profile."""
    stem = BUILD / kind
    joint = "--joint" in options
    for name in [".joint"] if joint else [".0", ".1"]:
        stem.with_suffix(name).unlink(missing_ok=True)
    own = [option % stem if "%s" in option else option for option in options]
    work = map(str, KINDS[kind])
    command = [*MPIRUN, COZ, "run", "--quiet", *own, "---", program, kind, str(seconds), *work]
    subprocess.run(command, check=True, env=environment(), stdout=subprocess.DEVNULL)
    written = stem.with_suffix(".joint" if joint else ".0")
    report = subprocess.run([COZ, "report", "--json", written], capture_output=True, text=True, check=False)
    lines = {
        f"{SOURCE}:{number}": text.partition("LINE ")[2].split()[0]
        for number, text in enumerate(SOURCE.read_text().splitlines(), 1)
        if "LINE " in text
    }
    return {
        (lines[result["location"]], point["speedup"]): (
            100 * point["effect"],
            50 * (point["high"] - point["low"]),
        )
        for result in json.loads(report.stdout or '{"results": []}')["results"]
        if result["location"] in lines
        for point in result["curve"]
        if point["speedup"] in SPEEDUPS
    }


if __name__ == "__main__":
    main()
