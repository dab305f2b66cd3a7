"""The estimate of one series: its effects, slope and curve, with intervals from one matrix of replicates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cozcli.analysis.estimate import curve
from cozcli.analysis.estimate.block_table import BlockTable
from cozcli.analysis.estimate.percentiles import percentile_interval
from cozcli.analysis.estimate.period_ratio import effects, log_ratios, ratio_sums
from cozcli.analysis.estimate.replicates import draw_factors, draw_replicates
from cozcli.analysis.estimate.variance import Variance
from cozcli.analysis.result import CurvePoint, Fit
from cozcli.analysis.statistics.arrays import Floats


@dataclass(frozen=True)
class TargetEstimate:
    """The slope and the S effects of one target on one point, each with a 95 % interval.

    value, low, high: (S + 1,), the slope first. freedom: degrees of freedom behind each of them, (S + 1,).
    """

    table: BlockTable
    value: Floats
    low: Floats
    high: Floats
    freedom: Floats
    fit: Fit

    @property
    def points(self) -> tuple[CurvePoint, ...]:
        """The curve, from speedup 0 on."""
        baseline, *windows = (int(number) for number in self.table.windows)
        rows = zip(self.table.speedups, self.value[1:], self.low[1:], self.high[1:], windows, strict=True)
        return (
            CurvePoint(0.0, 0.0, 0.0, 0.0, baseline),
            *(CurvePoint(float(s), float(e), float(low), float(high), n) for s, e, low, high, n in rows),
        )


def estimate_target(table: BlockTable, variance: Variance) -> TargetEstimate:
    """Estimate one series.

    Args:
        variance: of its log periods. The factors of corrections are those of `table.series`.
    """
    log_replicates, freedom = draw_replicates(table, variance)
    factor = table.series.factor
    effect = np.minimum(effects(log_ratios(table)) * factor, 1.0)
    drawn = draw_factors(table.series.factors, len(log_replicates))
    replicates = np.minimum(effects(log_replicates) * (factor * drawn), 1.0)
    weights = ratio_sums(table)[1]
    slope_of = curve.slope_operator(table.speedups, weights)
    low, high = percentile_interval(np.column_stack([replicates @ slope_of, replicates]))
    return TargetEstimate(
        table=table,
        value=np.concatenate([[slope_of @ effect], effect]),
        low=low,
        high=high,
        freedom=np.concatenate([[freedom.min()], freedom]),
        fit=curve.fit_curve(table.speedups, weights, effect, replicates),
    )
