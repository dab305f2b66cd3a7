"""What a suite says: a ratio for each cell, adjusted for their number, and one for each treatment.

- Holm's adjustment (1979) bounds the probability of any false *faster* or *slower* in the suite by 5 %.
- Analysis of variance within subjects (STABILIZER, section 6.1): do programs as a whole get faster? Subjects
  are programs, the factor has two levels, baseline and treatment, and the error is how differently programs
  respond. So F(1, n − 1) is of the programs' log ratios, n·mean² / variance. These lines stand here because
  two levels need no more; a package for repeated measures would bring pandas.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from cozcli.compare.collect import Collected
from cozcli.compare.estimate import estimate
from cozcli.compare.metrics import Metric
from cozcli.compare.result import MIN_PAIRS, Estimate

SIGNIFICANT = 0.05


class CellResult(NamedTuple):
    """A program under a treatment against the baseline; p_holm: adjusted over the suite, and so is the
    verdict of the estimate.
    """

    program: str
    treatment: str
    metric: Metric
    estimate: Estimate
    p_holm: float


class TreatmentResult(NamedTuple):
    """All programs together: geometric mean of their ratios with its 95 % interval, and the analysis of
    variance. p is NaN for one program.
    """

    treatment: str
    ratio: float
    low: float
    high: float
    f: float
    degrees: int
    p: float


class SuiteResult(NamedTuple):
    """controls: the baseline against itself."""

    cells: Sequence[CellResult]
    controls: Sequence[CellResult]
    treatments: Sequence[TreatmentResult]


def evaluate(
    results: Mapping[str, Collected], treatments: Sequence[str], metrics: Sequence[Metric], margin: float
) -> SuiteResult:
    """`treatments`: names in the order of sides, the baseline first. Programs of too few pairs are
    left out.
    """
    known = {name: found for name, found in results.items() if len(found.blocks) >= MIN_PAIRS}

    def estimated(found: Collected, metric: Metric, side: int) -> Estimate:
        return estimate(found.pairs(metric, side), margin, metric.more_is_better)

    def cells_of(sides: Sequence[tuple[int, str]]) -> list[CellResult]:
        return [
            CellResult(program, name, metric, estimated(found, metric, side), 1.0)
            for metric in metrics
            for program, found in known.items()
            for side, name in sides
        ]

    cells = _adjusted(cells_of(list(enumerate(treatments))[1:]))
    controls = _adjusted(cells_of([(len(treatments), treatments[0])]))
    first = [cell for cell in cells if cell.metric == metrics[0]]
    return SuiteResult(cells, controls, [within_subjects(name, first) for name in treatments[1:]])


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given."""
    adjusted, highest = [0.0] * len(p), 0.0
    for rank, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        highest = max(highest, min(1.0, (len(p) - rank) * p[index]))
        adjusted[index] = highest
    return adjusted


def _adjusted(cells: Sequence[CellResult]) -> list[CellResult]:
    found = []
    for cell, p in zip(cells, holm([cell.estimate.p for cell in cells]), strict=True):
        verdict = cell.estimate.verdict
        if verdict in ("faster", "slower") and p >= SIGNIFICANT:
            verdict = "inconclusive"
        found.append(cell._replace(p_holm=p, estimate=cell.estimate._replace(verdict=verdict)))
    return found


def within_subjects(treatment: str, cells: Sequence[CellResult]) -> TreatmentResult:
    """The effect of a treatment on all programs, by one number for each: the log of its ratio."""
    d = np.log([cell.estimate.ratio for cell in cells if cell.treatment == treatment])
    mean = float(np.mean(d)) if len(d) else math.nan
    if len(d) < 2:
        return TreatmentResult(treatment, math.exp(mean), math.nan, math.nan, math.nan, 0, math.nan)
    degrees = len(d) - 1
    error = float(np.std(d, ddof=1)) / math.sqrt(len(d))
    half = float(stats.t.ppf(0.975, degrees)) * error
    f = (mean / error) ** 2 if error > 0 else math.inf if mean else 0.0
    p = float(stats.f.sf(f, 1, degrees))
    return TreatmentResult(
        treatment, math.exp(mean), math.exp(mean - half), math.exp(mean + half), f, degrees, p
    )
