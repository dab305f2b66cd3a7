"""What `coz report` says of the model's profiles, beside the true effects.

    build/tests/oracle --queues --profiles FOLDER [--only "10 ms, 64"]
    build/tests/oracle --crowds --profiles FOLDER [--only "pool, 8 threads"] [--draw 1]
    PYTHONPATH=. build/venv/bin/python tests/oracle/profiles.py FOLDER

Prints, for each program, each shape and all, the mean and the worst error in percentage points, how many
95 % intervals hold the truth, within half a point for the truth's own error, and at how many speedups only
bounds are known ("not settled", from no effect to the one measured). There the interval counts, but not the
error.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cozcli.analysis.analyse import analyse
from cozcli.analysis.result import Mark
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records

#: Of the truth, in points.
TRUTH_ERROR = 0.5


@dataclass(frozen=True)
class Compared:
    """One line at one speedup, in points. bounded: only bounds are known of its effect."""

    truth: float
    effect: float
    low: float
    high: float
    bounded: bool

    @property
    def error(self) -> float:
        """How far the effect is from the truth."""
        return abs(self.effect - self.truth)

    @property
    def holds(self) -> bool:
        """Does the interval hold the truth?"""
        return self.low - TRUTH_ERROR <= self.truth <= self.high + TRUTH_ERROR


def compare(path: Path, truths: Mapping[tuple[str, float], float]) -> list[Compared]:
    """All lines and speedups of a profile that have an effect."""
    with path.open("rb") as lines:
        profile = Profile(collect_runs(read_records(lines, ReadProblems()), str(path)), [str(path)])
    found = []
    for result in analyse(profile).results:
        for point in result.curve:
            truth = truths.get((result.location, point.speedup))
            if truth is None:
                continue
            only_bounds = Mark.NOT_STEADY in result.marks and point.low <= 0 <= point.high
            found.append(
                Compared(100 * truth, 100 * point.effect, 100 * point.low, 100 * point.high, only_bounds)
            )
    return found


def row(name: str, compared: Sequence[Compared]) -> str:
    """A row of the table."""
    errors = [one.error for one in compared if not one.bounded] or [float("nan")]
    held = sum(one.holds for one in compared)
    bounds = sum(one.bounded for one in compared)
    mean = sum(errors) / len(errors)
    return f"{name:30} {mean:6.2f} {max(errors):6.1f} {held:5}/{len(compared)} {bounds:7}"


def enough_cores(name: str) -> str:
    """What the name of a crowd says of its cores; empty for other programs."""
    match = re.search(r"(\d+) threads, (\d+) cores", name)
    if match is None:
        return ""
    return ", enough cores" if int(match[1]) <= int(match[2]) else ", too few cores"


def main(folder: Path) -> None:
    """Print the table."""
    truths: defaultdict[str, dict[tuple[str, float], float]] = defaultdict(dict)
    for line in (folder / "truth.jsonl").read_text().splitlines():
        truth = json.loads(line)
        truths[truth["profile"]][truth["location"], truth["speedup"]] = truth["effect"]
    print(f"{'program':30} {'mean':>6} {'worst':>6} {'hold':>8} {'bounds':>7}")
    every = []
    of_shape: defaultdict[str, list[Compared]] = defaultdict(list)
    for name, of_profile in truths.items():
        if not (folder / f"{name}.coz").exists():
            continue
        compared = compare(folder / f"{name}.coz", of_profile)
        every += compared
        of_shape[name.partition(",")[0] + enough_cores(name)] += compared
        print(row(name, compared), flush=True)
    for shape, of_all in sorted(of_shape.items()):
        print(row(shape, of_all))
    print(row("all", every))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
