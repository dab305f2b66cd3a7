"""One target at a time against combined windows: the table of docs/decisions/combined_windows.md.

`PYTHONPATH=. python tests/cozcli/combined_evidence.py SEEDS [SHAPE...]` prints for each shape and dose:

* of all lines, the share whose 95 % interval at s = 50 % is within ±2 points, the root mean square error in
  points (a line without an estimate counts as one without effect), and the share of intervals that hold the
  truth;
* the same of lines that matter: those whose true effect at 50 % is 2 % or more;
* false claims: starred lines whose true effect is below a tenth of a point, or of the other sign, of all
  starred.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import numpy as np
from combined_profiles import SHAPES, Measurement, Program
from synthetic import to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.estimate.shape import effect_at
from cozcli.analysis.rank.result_filter import ResultFilter
from cozcli.analysis.result import Analysis
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records

AT = 0.5
NEAR = 0.02
MATTERS = 0.02
NOTHING = 0.001


@dataclass
class Score:
    """What came out, a number for each line and seed."""

    near: list[bool] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)
    matters: list[bool] = field(default_factory=list)
    claims: int = 0
    false_claims: int = 0

    def add(self, program: Program, analysis: Analysis) -> None:
        known = {result.location: result for result in analysis.results}
        for line in range(program.lines):
            truth = program.truth(line, AT)
            result = known.get(program.location(line))
            found = effect_at(result, AT) if result else None
            self.matters.append(truth >= MATTERS)
            self.near.append(found is not None and found.half <= NEAR)
            self.error.append((found.effect if found else 0.0) - truth)
            self.covered.append(found is None or found.low <= truth <= found.high)
            if result is not None and result.significant:
                self.claims += 1
                self.false_claims += truth * np.sign(result.slope) < NOTHING

    def row(self, chosen: np.ndarray | None = None) -> str:
        of = np.ones(len(self.near), dtype=bool) if chosen is None else chosen
        if not of.any():
            return "-"
        error = 100 * float(np.sqrt(np.mean(np.array(self.error)[of] ** 2)))
        near, covered = (100 * np.mean(np.array(values)[of]) for values in (self.near, self.covered))
        return f"{near:.0f} %, {error:.2f}, {covered:.0f} %"


def analyse_records(*runs: list[dict[str, object]], result_filter: ResultFilter | None = None) -> Analysis:
    raw = b"".join(to_bytes(records) for records in runs)
    records = read_records(raw.splitlines(keepends=True), ReadProblems())
    return analyse(Profile(collect_runs(records, "x"), ["x"]), result_filter)


def score(shape: str, lines: int, windows: int, dose: float, seeds: int) -> Score:
    found = Score()
    for seed in range(seeds):
        program = Program(shape, lines, seed)
        records = Measurement(dose=dose, seed=seed).records(program, windows)
        found.add(program, analyse_records(records))
    return found


if __name__ == "__main__":
    number = int(sys.argv[1])
    for shape in sys.argv[2:] or SHAPES:
        for lines, windows in ((10, 300), (60, 300), (300, 900)):
            for dose in (0.0, 0.05, 0.1, 0.2):
                found = score(shape, lines, windows, dose, number)
                name = f"dose {100 * dose:.0f} %" if dose else "one at a time"
                print(
                    f"| {shape}, {lines} lines, {windows} windows | {name} | {found.row()} "
                    f"| {found.row(np.array(found.matters))} | {found.false_claims} of {found.claims} |",
                    flush=True,
                )
