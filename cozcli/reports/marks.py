"""Marks: what a reader should know about one result, and what each mark means.

The explanations stand below the table of `coz report`, and in the data of the page of `coz view`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cozcli.analysis.estimate.shape import Shape, outline
from cozcli.analysis.result import LineResult, Mark
from cozcli.reports.base import percent

CONTENTION = "contention"

EXPLANATIONS: Mapping[str, str] = {
    CONTENTION: "making this line faster makes the program slower, since it gets in the way of something "
    "more important, such as a lock; look for what it contends for.",
    Shape.BENDS.value: "the largest effect is at this speedup; a faster line gains less.",
    Shape.LEVELS.value: "nearly all of what can be gained is gained at this speedup.",
    Mark.FEW_DATA.value: "measured at fewer than 5 speedups, or in fewer than 3 blocks of windows (with "
    "companions: in fewer than 5 experiments as the main target and 10 as a companion); run longer, into the "
    "same profile.",
    Mark.PHASES.value: "the line runs only part of the time; effects are scaled to the whole run.",
    Mark.DELAYS_OWED.value: "in over 5 % of the windows delays were still owed at the end; effects may be "
    "off, and a longer run helps little.",
    Mark.POOLED_BASELINE.value: "some speedups had no baseline measured beside them, and are compared with "
    "those of other times.",
    Mark.OTHER_BASELINE.value: "compared with whole-run experiments at speedup 0 of other lines.",
    Mark.UNSTABLE.value: "arrivals and departures differ, so that the time in between depends on when it is "
    "measured (Little's law does not hold); lower the load, or look at throughput.",
    Mark.LOAD.value: "visits keep their pace whatever is delayed, because something outside sets it; the "
    "effect is not real. Send more load than can be served, or look at latency.",
    Mark.MAYBE_LOAD.value: "visits keep their pace whatever is delayed; the effect is real only if the "
    "program waits for work that it has ordered.",
    Mark.CORES.value: "threads waited for cores, or the effect needs more than there are; where all "
    "cores are busy, effects come from shares of processor time, and intervals reach to what was measured.",
    Mark.NOT_STEADY.value: "queues were still filling or draining under speedups; the lasting effect is "
    "another, mostly between none and the one shown.",
    Mark.BEYOND_SHARE.value: "its experiments show more than its share of the time allows: chance, or "
    "threads that wait for each other; the effect is cut to what the share allows.",
}


def marks_of(result: LineResult) -> list[str]:
    """Contention, and the analysis's marks, by the names that `EXPLANATIONS` has."""
    return [*([CONTENTION] if result.contention else []), *(mark.value for mark in result.marks)]


def describe_marks(result: LineResult) -> list[str]:
    """The same with what the curve does, and with numbers."""
    marks = [CONTENTION] if result.contention else []
    shape = outline(result)
    if shape.shape is Shape.BENDS:
        marks.append(f"{shape.shape.value} at {shape.since.speedup:.0%} ({percent(shape.top.effect)})")
    elif shape.shape is Shape.LEVELS:
        marks.append(f"{shape.shape.value} at {shape.since.speedup:.0%}")
    for mark in result.marks:
        factor = f" ×{result.phase.factor:.2f}" if mark is Mark.PHASES else ""
        marks.append(mark.value + factor)
    return marks


def explanations(marks: Iterable[str]) -> dict[str, str]:
    """Of these marks, each once, in the order of `EXPLANATIONS`."""
    found = set(marks)
    return {mark: text for mark, text in EXPLANATIONS.items() if mark in found}
