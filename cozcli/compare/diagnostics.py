"""Do the runs meet what parametric tests assume? The verdict does not rest on any of this.

The paper (STABILIZER, sections 5.1 and 6) tests runs for normality by Shapiro and Wilk's test, for equal
variances by Brown and Forsythe's, and compares sides by Student's two-sample t-test. Here all three see the
logarithms of what the runs took, so that a ratio is a difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

#: Shapiro and Wilk's test needs three different values.
_LEAST = 3


class Diagnostics(NamedTuple):
    """p-values; 1 where all values are the same. shapiro_a, shapiro_b: of the sides' runs; shapiro_pairs: of
    the pairs' ratios. t, t_p: the paper's t-test of B against A.
    """

    shapiro_a: float
    shapiro_b: float
    shapiro_pairs: float
    brown_forsythe: float
    t: float
    t_p: float


def diagnose(pairs: Sequence[tuple[float, float]]) -> Diagnostics:
    """All tests of `pairs` of (a, b), values above 0."""
    from scipy import stats

    a, b = (np.log(np.array(values)) for values in zip(*pairs, strict=True))

    def shapiro(values: np.ndarray) -> float:
        if len(values) < _LEAST or not np.ptp(values):
            return 1.0
        return float(stats.shapiro(values).pvalue)

    constant = not np.ptp(a) and not np.ptp(b)
    levene = 1.0 if constant else float(stats.levene(a, b, center="median").pvalue)
    test = stats.ttest_ind(b, a)
    t, p = float(test.statistic), float(test.pvalue)
    if not math.isfinite(p):
        t, p = 0.0, 1.0
    return Diagnostics(shapiro(a), shapiro(b), shapiro(b - a), levene, t, p)


def as_json(found: Diagnostics) -> dict[str, float | None]:
    """JSON has no infinity: t has it where runs of a side do not differ at all."""
    return {name: value if math.isfinite(value) else None for name, value in found._asdict().items()}


def in_words(found: Diagnostics) -> str:
    """For the text report."""
    return (
        f"Student's t-test of the two sides' runs: t = {found.t:.2f}, p = {found.t_p:.2g}. It takes runs to "
        f"be normal (Shapiro–Wilk: A p = {found.shapiro_a:.2g}, B p = {found.shapiro_b:.2g}), to vary alike "
        f"(Brown–Forsythe: p = {found.brown_forsythe:.2g}), and the machine to stay as fast as it was."
    )
