"""Where windows should go: main targets drawn by samples against those that decide something, in simulation.

    allocation.py [--lines 60,300] [--shapes serial,join,pipeline,lock] [--seeds 6] [--seconds 100]

`build/tests/allocation` (`make build/tests/allocation`) runs the runtime's own choices on simulated programs
whose truth is known, and writes profiles. They are analysed as they were after some seconds. Shown for each
policy: the median over seeds of the seconds after which every line that saves 5 % or more at s = 50 % stays
within ±2 points of the truth, by estimate and by interval; and over all times the root mean square error, the
half interval and the coverage of the five lines that save most, how often these are in their order, and the
root mean square error of all lines, in points.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from cozcli.analysis.analyse import analyse  # noqa: E402
from cozcli.analysis.estimate.shape import effect_at  # noqa: E402
from cozcli.analysis.result import Analysis  # noqa: E402
from cozcli.profile.profile import Profile, collect_runs  # noqa: E402
from cozcli.profile.reader import ReadProblems, read_records  # noqa: E402

PROGRAM = ROOT / "build" / "tests" / "allocation"
FOLDER = ROOT / "build" / "bench" / "allocation"
SHAPES = ("serial", "join", "pipeline", "lock")
POLICIES = ("samples", "open")
AT, NEAR, MATTERS, LEADERS = 0.5, 0.02, 0.05, 5
TIMES = (6, 9, 13, 18, 25, 35, 50, 70, 100)


@dataclass
class Score:
    """Of one policy. known: seconds by seed, None for never; the rest at all times."""

    known: list[float | None] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    halves: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    ordered: list[bool] = field(default_factory=list)
    all_errors: list[float] = field(default_factory=list)

    def add(self, truths: list[float], analyses: dict[int, Analysis]) -> None:
        """What came out of one program."""
        known: float | None = None
        for seconds, analysis in analyses.items():
            knows = self._add(truths, analysis)
            known = (known or seconds) if knows else None
        self.known.append(known)

    def _add(self, truths: list[float], analysis: Analysis) -> bool:
        found = {}
        for result in analysis.results:
            effect = effect_at(result, AT)
            if effect is not None:
                found[int(result.location.rsplit(":", 1)[1]) - 1] = effect
        first = sorted(range(len(truths)), key=lambda line: -truths[line])[:LEADERS]
        knows = True
        for line, truth in enumerate(truths):
            effect = found.get(line)
            error = (effect.effect if effect else 0.0) - truth
            half = effect.half if effect else 1.0
            self.all_errors.append(error)
            if line in first:
                self.errors.append(error)
                self.halves.append(min(half, 0.1))
                if effect is not None:
                    self.held.append(effect.low <= truth <= effect.high)
            if truth >= MATTERS:
                knows &= max(abs(error), half) <= NEAR
        effects = [found[line].effect if line in found else 0.0 for line in first]
        self.ordered.append(effects == sorted(effects, reverse=True))
        return knows

    def row(self) -> str:
        """As it is printed."""
        inf = float("inf")
        known = sorted(inf if seconds is None else seconds for seconds in self.known)
        error, whole = (
            100 * statistics.fmean(e * e for e in e_all) ** 0.5 for e_all in (self.errors, self.all_errors)
        )
        return (
            f"{statistics.median_low(known):4.0f} s [{' '.join(f'{s:.0f}' for s in known)}]  "
            f"error {error:.2f}  half {100 * statistics.fmean(self.halves):.2f}  "
            f"held {statistics.fmean(self.held):.0%}  "
            f"ordered {statistics.fmean(self.ordered):.0%}  all {whole:.3f}"
        )


def cut(lines: list[bytes], seconds: float) -> list[bytes]:
    """A profile as it was then."""
    records = [json.loads(line) for line in lines]
    counts = [i for i, r in enumerate(records) if r["type"] == "samples" and r["duration"] <= seconds * 1e9]
    end = counts[-1]
    return [line for i, line in enumerate(lines[: end + 1]) if records[i]["type"] != "samples" or i == end]


def run(
    shape: str, lines: int, seed: int, seconds: int, policy: str
) -> tuple[list[float], dict[int, Analysis]]:
    """The truths of a program, and the analyses after some times."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{shape}_{lines}_{seed}_{policy}.coz"
    path.unlink(missing_ok=True)
    command = [PROGRAM, shape, lines, seed, seconds + 4, policy, path]
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    raw = path.read_bytes().splitlines(keepends=True)
    analyses = {}
    for time in TIMES:
        if time > seconds:
            break
        runs = collect_runs(read_records(cut(raw, time), ReadProblems()), "x")
        analyses[time] = analyse(Profile(runs, ["x"]))
    return [float(line) for line in done.stdout.split()], analyses


def main(arguments: Sequence[str] | None = None) -> int:
    """Everything that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", default="60,300", help="default: %(default)s")
    parser.add_argument("--shapes", default=",".join(SHAPES), help="default: %(default)s")
    parser.add_argument("--policies", default=",".join(POLICIES), help="default: %(default)s")
    parser.add_argument("--seeds", type=int, default=6, help="default: %(default)s")
    parser.add_argument("--seconds", type=int, default=100, help="simulated (default: %(default)s)")
    options = parser.parse_args(arguments)
    for lines in map(int, options.lines.split(",")):
        for shape in options.shapes.split(","):
            for policy in options.policies.split(","):
                score = Score()
                for seed in range(1, options.seeds + 1):
                    score.add(*run(shape, lines, seed, options.seconds, policy))
                print(f"{shape:8} {lines:3} lines  {policy:8} {score.row()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
