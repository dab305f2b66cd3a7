"""Quantiles of the latency, beside the results on its mean: which there are, and which of them to believe.

A quantile's slope is *significant* if the procedure of Benjamini and Hochberg chooses it among those of all
targets, as with the slopes of means (multiple_testing.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cozcli.analysis import messages
from cozcli.analysis.check.multiple_testing import MAX_FALSE_SLOPES
from cozcli.analysis.estimate.quantiles import estimate_quantiles
from cozcli.analysis.input.durations import durations_of
from cozcli.analysis.input.series import Factor, Series
from cozcli.analysis.input.windows import Window
from cozcli.analysis.result import LATENCY, LineResult, Quantile
from cozcli.analysis.statistics.false_discovery import discoveries
from cozcli.errors import Problem
from cozcli.profile.profile import Run

#: Delays come in steps of a sampling period: quantiles shorter than so many of them are blurred.
BLURRED_PERIODS = 5


def with_quantiles(
    results: Sequence[LineResult],
    by_target: Mapping[str, Sequence[Window]],
    corrected: Sequence[Series],
    runs: Sequence[Run],
) -> list[LineResult]:
    """The results, those of latency with their quantiles where operations have identities.

    Args:
        corrected: the series of the same windows; their factors are those of quantiles, too.
    """
    factors = {(series.location, *series.key): series.factors for series in corrected}
    found = [_quantiles(result, by_target, factors) for result in results]
    chosen = iter(discoveries([q.p_no_slope for each in found for q in each], MAX_FALSE_SLOPES))
    shortest = BLURRED_PERIODS * max((run.record.period for run in runs), default=0)
    return [
        replace(
            result,
            quantiles=tuple(
                replace(q, significant=next(chosen), blurred=q.baseline < shortest) for q in quantiles
            ),
        )
        for result, quantiles in zip(results, found, strict=True)
    ]


def _quantiles(
    result: LineResult,
    by_target: Mapping[str, Sequence[Window]],
    factors: Mapping[tuple[str, str, str], tuple[Factor, ...]],
) -> tuple[Quantile, ...]:
    if result.kind != LATENCY:
        return ()
    durations = durations_of(by_target.get(result.location, ()), result.point)
    if durations is None:
        return ()
    name = f"{result.location}\0{result.point}"
    return estimate_quantiles(durations, factors.get(result.key, ()), name)


def warn_of_lost_operations(runs: Sequence[Run]) -> list[Problem]:
    """A warning for each point with operations that could not be followed."""
    lost: dict[str, tuple[int, int]] = {}
    for run in runs:
        for point in run.samples.points if run.samples else ():
            if point.lost:
                before = lost.get(point.name, (0, 0))
                lost[point.name] = before[0] + point.lost, before[1] + point.visits
    return [messages.lost_operations(name, *numbers) for name, numbers in lost.items()]
