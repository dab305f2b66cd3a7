"""What the columns and marks of a report's table mean, for those who see the table alone."""

from __future__ import annotations

from cozcli.analysis.estimate.shape import effect_at, outline
from cozcli.analysis.result import Analysis
from cozcli.reports.base import SHOWN, SIGNIFICANT
from cozcli.reports.marks import explanations, marks_of
from cozcli.reports.summary import is_bounded_only
from cozcli.reports.targets import heading

ORDER = (
    "{}s are ranked by what the slope amounts to at least, gain or loss: the bound nearer to 0 of its "
    "interval, corrected for their number. Those with few data come last."
)
COMBINED = (
    "All experiments tell of all {0}s: 8+30 in Exp. is 8 with the {0} as main target (with baselines), 30 "
    "with it as a companion of another. Intervals use how long a {0} runs, too; a star needs the {0}'s own "
    "experiments."
)


def explain_table(analysis: Analysis, intervals: bool) -> list[str]:
    """A line each. `intervals`: does the table show those of effects?"""
    shown = ", with a 95 % interval: ± half of it, or [its ends] where it is skewed" if intervals else ""
    noun = heading(analysis.results).lower()
    effects = (
        f"Effects are changes in per cent if the {noun} were 25, 50 or 75 % faster{shown}: above 0 is faster "
        "(throughput) or shorter (latency); ~ is read from the fitted curve."
    )
    if not intervals:
        effects += (
            " Dim effects may as well be none: their 95 % interval, for which a wider terminal has room, "
        )
        proven = all(result.is_proven for result in analysis.results)
        effects += "includes 0" + ("." if proven else f", or other {noun}s suggest them.")
    if intervals and any(
        (found := effect_at(r, speedup)) and is_bounded_only(r, found)
        for r in analysis.results
        for speedup in SHOWN
    ):
        effects += (
            " Where threads waited for cores, or queues did not settle, rely on the ends of skewed ones only."
        )
    lines = [effects, ORDER.format(heading(analysis.results))]
    if any(result.significant for result in analysis.results):
        lines.append(
            f"{SIGNIFICANT}: the slope differs from 0 even when corrected for the number of {noun}s."
        )
    if any(result.is_combined for result in analysis.results):
        lines.append(COMBINED.format(noun))
    marks = (mark for r in analysis.results for mark in (*marks_of(r), outline(r).shape.value))
    return lines + [f"{mark}: {text}" for mark, text in explanations(marks).items()]
