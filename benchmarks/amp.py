"""What load does in truth, beside what load amplification predicts (dissertation, chapter 6).

Scalability (figures 6.2 and 6.3): the example producer_consumer makes tasks faster by its knob `load`; Coz
predicts the same without it. Tasks wait, so that a machine of two cores does for four consumers; a further
variant computes, with one consumer. Where the curve flattens is known: at 1 - rate of tasks made / rate of
tasks that the consumers can do.

The consumer's line at two loads (figures 6.4 and 6.5): one producer that waits, one consumer that computes;
tasks are really run faster by the knob `speedup`, and Coz predicts that by experiments on the line, under
--arrival-speedup, with each run one experiment.

Truth and prediction are measured in turns, so that the machine's moods meet both.

    amp.py [--seconds N] [--rounds N] [--levels N,N,...] [--only 2|3|4|computing|line]...
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COZ = ROOT / "build/bin/coz"
PROGRAM = ROOT / "build/examples/producer_consumer"
SOURCE = ROOT / "examples/producer_consumer/producer_consumer.cpp"
PRODUCE_US = 4000


class Variant(NamedTuple):
    """A form of the program. `saturation`: the load, in per cent, that its consumers can just bear."""

    name: str
    title: str
    arguments: tuple[str, ...]
    saturation: float


def computing(task_us: int) -> tuple[str, ...]:
    """One producer that waits, one consumer that computes."""
    return ("producers=1", "consumers=1", "consumer=compute", f"task_us={task_us}")


VARIANTS = (
    *(Variant(f"{n}", f"{n} consumers, waiting", (f"consumers={n}",), 100 * (1 - 2 / n)) for n in (2, 3, 4)),
    Variant("computing", "1 consumer, computing", computing(2800), 30),
)
#: The consumer nearly does at base load, and limits what is done under more.
LINE = Variant("line", "the consumer's line", computing(3800), 5)
LINE_LOADS, LINE_SPEEDUPS = (0, 25), (10, 25, 50)


def main() -> None:
    """Measure and print a table for each variant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=5, help="of each run, effective (default: 5)")
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    parser.add_argument("--levels", default="0,20,40,60,80", help="per cent (default: 0,20,40,60,80)")
    names = [variant.name for variant in (*VARIANTS, LINE)]
    parser.add_argument("--only", action="append", choices=names, help="a part of it; repeatable")
    options = parser.parse_args()
    wanted = options.only or names
    levels = sorted({0, *map(int, options.levels.split(","))})
    errors = [
        error for variant in VARIANTS if variant.name in wanted for error in compare(variant, levels, options)
    ]
    if LINE.name in wanted:
        errors += compare_line(options)
    print(f"All: mean error {statistics.mean(errors):.1f} points, largest {max(errors):.1f}")


def compare(variant: Variant, levels: list[int], options: argparse.Namespace) -> list[float]:
    """Print truth and prediction of one variant; the absolute errors at loads above 0, in points."""
    arguments = (*variant.arguments, f"produce_us={PRODUCE_US}", f"seconds={options.seconds}")
    real: dict[int, list[float]] = {level: [] for level in levels}
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "amp.coz"
        for _ in range(options.rounds):
            for level in levels:
                real[level].append(measure((*arguments, f"load={level}")))
                predict(profile, arguments, level)
        (result,) = report(profile)["scalability"]
    predicted = {round(p["arrival_speedup"] / PRODUCE_US / 10): p for p in result["levels"]}
    print(f"{variant.title}\n  load    true  predicted (95 %)        error")
    base = statistics.median(real[0])
    errors = []
    for level in levels[1:]:
        truth = 100 * (1 - base / statistics.median(real[level]))
        if level not in predicted:
            print(f"  {level:3} %  {truth:6.1f}  not reached")
            continue
        shown = [100 * predicted[level][name] for name in ("speedup", "speedup_low", "speedup_high")]
        errors.append(abs(shown[0] - truth))
        print(
            f"  {level:3} %  {truth:6.1f}  {shown[0]:6.1f} [{shown[1]:5.1f}, {shown[2]:5.1f}]  "
            f"{shown[0] - truth:+6.1f}"
        )
    saturation = result["saturation"]
    shown = "none" if saturation is None else f"{saturation:.0%}"
    print(f"  saturation predicted: {shown}, true: {variant.saturation:.0f}%\n", flush=True)
    return errors


def compare_line(options: argparse.Namespace) -> list[float]:
    """Print the effects of a faster consumer at each load; the absolute errors, in points."""
    arguments = (*LINE.arguments, f"produce_us={PRODUCE_US}", f"seconds={options.seconds}")
    real: dict[tuple[int, int], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "line.coz"
        for _ in range(options.rounds):
            for load in LINE_LOADS:
                for speedup in (0, *LINE_SPEEDUPS):
                    knobs = (f"load={load}", f"speedup={speedup}")
                    real.setdefault((load, speedup), []).append(measure((*arguments, *knobs)))
                    experiment(profile, arguments, load, speedup)
        results = report(profile)["results"]
    print(f"{LINE.title}\n  load  speedup   true effect  predicted (95 %)        error")
    errors = []
    for load in LINE_LOADS:
        (result,) = (
            r
            for r in results
            if round(r["arrival_speedup"] / PRODUCE_US / 10) == load and r["point"] == "done"
        )
        predicted = {round(100 * point["speedup"]): point for point in result["curve"]}
        base = statistics.median(real[load, 0])
        for speedup in LINE_SPEEDUPS:
            truth = 100 * (1 - base / statistics.median(real[load, speedup]))
            effect, low, high = (100 * predicted[speedup][name] for name in ("effect", "low", "high"))
            errors.append(abs(effect - truth))
            print(
                f"  {load:3} %  {speedup:5} %  {truth:11.1f}  {effect:6.1f} [{low:5.1f}, {high:5.1f}]  "
                f"{effect - truth:+6.1f}"
            )
    print(flush=True)
    return errors


def measure(arguments: tuple[str, ...]) -> float:
    """Tasks a second."""
    done = subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True)
    found = re.match(r"([0-9.]+) tasks a second", done.stdout)
    if found is None:
        raise SystemExit(f"{PROGRAM} printed no rate: {done.stdout!r}")
    return float(found[1])


def predict(profile: Path, arguments: tuple[str, ...], level: int) -> None:
    """Add a run at one level to the profile."""
    run(profile, level, ("--fixed-speedup", "0"), arguments)


def experiment(profile: Path, arguments: tuple[str, ...], level: int, speedup: int) -> None:
    """Add a run at one level and one speedup of the consumer's line to the profile.

    The whole run is one experiment: beyond saturation the queue grows, and a window with a speedup would do
    what a window without one has left.
    """
    line = ("--fixed-line", f"{SOURCE.name}:{consumer_line()}", "--fixed-speedup", str(speedup))
    run(profile, level, ("--end-to-end", *line), arguments)


def consumer_line() -> int:
    """Where all the work of a consumer that computes is done."""
    lines = SOURCE.read_text().splitlines()
    head = next(number for number, text in enumerate(lines, 1) if "void run_steps(" in text)
    return head + 1


def run(profile: Path, level: int, options: tuple[str, ...], arguments: tuple[str, ...]) -> None:
    """Profile the program at a load, in per cent."""
    amplified = ("--arrival-speedup", f"{level * PRODUCE_US * 10}ns")
    command = [COZ, "run", "-o", profile, *options, *amplified, "---", PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"coz run failed:\n{done.stderr}")


def report(profile: Path) -> dict[str, Any]:
    """The profile's analysis."""
    done = subprocess.run([COZ, "report", "--json", profile], check=True, capture_output=True, text=True)
    analysis: dict[str, Any] = json.loads(done.stdout)
    return analysis


if __name__ == "__main__":
    main()
