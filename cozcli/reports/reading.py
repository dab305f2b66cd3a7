"""How a result's curve is to be read: what it rests on, what its points are. For pictures and the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from cozcli.analysis.result import LineResult
from cozcli.messages import count

#: Below a picture's heading, where there are combined windows.
OF_A_PICTURE = (
    "Curve and 95 % band: from all experiments. Points: it was the main target. Dotted: it never was."
)
#: Of a result whose own experiments prove nothing.
NOT_PROVEN = (
    "That rests on how long it runs, and on what other lines show; its own experiments do not tell yet."
)


#: Likewise, where threads waited for cores.
MODELLED = "Open diamonds: estimated from shares of processor time, not measured."


class Reading(Enum):
    """What a curve rests on. The value is its name in the page's data."""

    MEASURED = "measured"
    COMBINED = "combined"
    COMPANION = "companion"
    MODELLED = "modelled"


EXPLANATIONS: Mapping[Reading, str] = {
    Reading.MEASURED: "Points are what was measured, bars and the band around the fitted curve 95 % "
    "intervals.",
    Reading.COMBINED: "The curve and its band, a 95 % interval, come from all experiments together, whatever "
    "they speed up; points mark the speedups at which this was the main target.",
    Reading.COMPANION: "This was never the main target, so there are no points: the curve (dotted) and its "
    "band, a 95 % interval, come from all experiments together, and a bend in it would not show.",
    Reading.MODELLED: "Threads waited for cores, so the curve and its points (open diamonds), if there "
    "are any, were estimated from shares of processor time, not measured; bars and band are 95 % intervals.",
}


def reading_of(result: LineResult) -> Reading:
    """What this result's curve rests on."""
    if result.is_modelled:
        return Reading.MODELLED
    if result.is_combined and not any(point.speedup > 0 and point.experiments for point in result.curve):
        return Reading.COMPANION
    return Reading.COMBINED if result.is_combined else Reading.MEASURED


def experiments_in_words(result: LineResult) -> str:
    """`16 experiments`; of combined ones also in how many it was a companion."""
    if not result.is_combined:
        return count(result.experiments, "experiment")
    baselines = sum(point.experiments for point in result.curve if point.speedup == 0)
    of_these = f" ({count(baselines, 'baseline')} among them)" if baselines else ""
    main = f"{count(result.experiments, 'experiment')} as the main target{of_these}"
    return f"{main}, {result.companion_windows:,} as a companion"


def caveat_of(result: LineResult) -> str:
    """What a sentence about an effect must not leave out; empty if there is nothing."""
    return "" if result.is_proven else NOT_PROVEN


def explain(results: Iterable[LineResult]) -> dict[str, str]:
    """Of the readings of these results, each once, by name."""
    found = {reading_of(result) for result in results}
    return {reading.value: text for reading, text in EXPLANATIONS.items() if reading in found}
