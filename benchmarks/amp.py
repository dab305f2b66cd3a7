"""Real scalability beside what load amplification predicts (figures 6.2 and 6.3 of the dissertation).

The example producer_consumer makes tasks faster by its knob `load`; Coz predicts the same without it. Tasks
wait, so that a machine of two cores does for four consumers; a second part computes, with one consumer. Both
are measured in turns, so that the machine's moods meet both.

    amp.py [--seconds N] [--rounds N] [--levels N,N,...]
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COZ = ROOT / "build/bin/coz"
PROGRAM = ROOT / "build/examples/producer_consumer"
PRODUCE_US = 4000


class Variant(NamedTuple):
    """A form of the program."""

    name: str
    arguments: tuple[str, ...]


VARIANTS = (
    *(Variant(f"{n} consumers, waiting", (f"consumers={n}",)) for n in (2, 3, 4)),
    Variant("1 consumer, computing", ("producers=1", "consumers=1", "consumer=compute", "task_us=2800")),
)


def main() -> None:
    """Measure and print a table for each variant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=5, help="of each run, effective (default: 5)")
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    parser.add_argument("--levels", default="0,20,40,60,80", help="per cent (default: 0,20,40,60,80)")
    options = parser.parse_args()
    levels = sorted({0, *map(int, options.levels.split(","))})
    errors = [error for variant in VARIANTS for error in compare(variant, levels, options)]
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
        done = subprocess.run([COZ, "report", "--json", profile], check=True, capture_output=True, text=True)
    (result,) = json.loads(done.stdout)["scalability"]
    predicted = {round(p["arrival_speedup"] / PRODUCE_US / 10): p for p in result["levels"]}
    print(f"{variant.name}\n  load    true  predicted (95 %)        error")
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
    print(f"  saturation predicted: {'none' if saturation is None else f'{saturation:.0%}'}\n", flush=True)
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
    amplified = ["--fixed-speedup", "0", "--arrival-speedup", f"{level * PRODUCE_US * 10}ns"]
    subprocess.run(
        [COZ, "run", "-o", profile, *amplified, "---", PROGRAM, *arguments], check=True, capture_output=True
    )


if __name__ == "__main__":
    main()
