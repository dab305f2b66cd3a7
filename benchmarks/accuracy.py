"""Predicted against true effects, on programs whose truth is known by construction.

    accuracy.py [--seconds 120] [PROGRAM...]

Each program is profiled once with the default options. The truth is a function of the speedup
alone: what really making the line so much faster would gain. Needs an otherwise idle machine with
at least two processors: a thread that has to wait for one takes no samples meanwhile.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COZ = ROOT / "build" / "bin" / "coz"


@dataclass(frozen=True)
class Line:
    """A line of a program, found by a text that stands in it, and its true effect of a speedup."""

    name: str
    text: str
    truth: Callable[[float], float]


@dataclass(frozen=True)
class Program:
    """An example program: its executable takes the seconds to run as its first argument."""

    name: str
    source: Path
    point: str
    lines: tuple[Line, ...]


PROGRAMS = (
    Program(
        "two_threads",
        ROOT / "examples/two_threads/two_threads.cpp",
        "round",
        (
            # 6.7 parts of work beside 6.4: past 0.3/6.7 the other thread decides.
            Line("a", "size_t x = 0;", lambda s: min(s, 1 - 6.4 / 6.7)),
            Line("b", "size_t y = 0;", lambda _: 0.0),
        ),
    ),
    Program(
        "serial",
        ROOT / "examples/serial/serial.cpp",
        "iteration",
        (
            Line("minor", "size_t x = 0;", lambda s: 0.3 * s),
            Line("major", "size_t y = 0;", lambda s: 0.7 * s),
        ),
    ),
)


def line_number(source: Path, text: str) -> int:
    """The number of the first line of `source` that contains `text`."""
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if text in line:
            return number
    raise SystemExit(f"{source} has no line with {text!r}")


def profile(program: Program, seconds: float, folder: Path) -> list[dict]:
    """Profiles `program` and returns the results of `coz report --json`."""
    log = folder / f"{program.name}.coz"
    executable = ROOT / "build" / "examples" / program.name
    subprocess.run(
        [COZ, "run", "-o", log, "---", executable, str(seconds)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    report = subprocess.run([COZ, "report", "--json", log], check=True, capture_output=True, text=True)
    return json.loads(report.stdout)["results"]


def compare(program: Program, results: list[dict]) -> list[float]:
    """Prints a row for each speedup of each line; returns the errors, in points."""
    errors = []
    for line in program.lines:
        wanted = f"{program.source.name}:{line_number(program.source, line.text)}"
        curve = next(
            (
                result["curve"]
                for result in results
                if result["location"].endswith("/" + wanted) and result["point"] == program.point
            ),
            None,
        )
        if curve is None:
            print(f"{program.name:12} {line.name:6} no result for {wanted}")
            continue
        for point in curve:
            if point["speedup"] == 0:
                continue
            truth = 100 * line.truth(point["speedup"])
            effect, low, high = (100 * point[key] for key in ("effect", "low", "high"))
            errors.append(effect - truth)
            print(
                f"{program.name:12} {line.name:6} {100 * point['speedup']:7.0f} {truth:7.1f}"
                f" {effect:9.1f}  {low:6.1f} to {high:5.1f} {effect - truth:+7.1f}"
                f" {point['experiments']:8}"
            )
    return errors


def main() -> int:
    """Runs the benchmark; exit status 1 when a program gave no result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    chosen = [p for p in PROGRAMS if not options.programs or p.name in options.programs]
    header = "program      line   speedup   true  predicted  95 % interval    error  windows"
    print(f"Accuracy, {options.seconds:g} s of profiling each; percent of the point's period.\n")
    print(header)
    print("-" * len(header))
    complete = True
    errors: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for program in chosen:
            found = compare(program, profile(program, options.seconds, Path(folder)))
            complete = complete and bool(found)
            errors += found
    if errors:
        sizes = [abs(error) for error in errors]
        print(f"\nmean error {sum(sizes) / len(sizes):.1f} points, largest {max(sizes):.1f}")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
