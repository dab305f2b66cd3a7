"""Load in words: where a program saturates, how a load is called, and which lines change under load."""

from __future__ import annotations

from cozcli.analysis.load_result import Scalability
from cozcli.analysis.result import LATENCY, Analysis
from cozcli.load.shifts import selected_shifts
from cozcli.messages import duration, printable
from cozcli.reports.base import short_point, signed
from cozcli.reports.targets import function_cell, target_name

#: Lines whose importance changes, at most.
MAX_SHIFTS = 8
NO_CERTAIN_SHIFT = "No line surely matters more or less under load; longer runs may tell."


def describe_saturation(result: Scalability) -> str:
    """In words, where more load no longer helps, and which rows are doubtful."""
    if not result.has_base:
        return "There is no run at base load to compare with: add one with --arrival-speedup 0."
    if result.limit is None or not any(point.is_limited for point in result.points):
        return _saturation(result)
    limited = (
        f"Rows with a star are above {result.limit:.0%}, the part of the time in which the thread that "
        "requests arrive in waits for them. If it serves them, the program can take no more than "
        "that, and these rows are false."
    )
    return limited if result.saturation is None else f"{_saturation(result)} {limited}"


def _saturation(result: Scalability) -> str:
    highest = max(point.load for point in result.points)
    if result.kind == LATENCY:
        return "Above the load that can be served, latency grows for as long as it is measured."
    if len(result.points) < 3:
        return "Where it flattens would take more levels to tell: coz amp measures them."
    if highest == 0:
        return "No thread received two requests: how much load these are is not known."
    if not result.is_clear:
        unclear = f"Whether it flattens up to a load of {highest:.0%} is not clear: intervals are too wide."
        return f"{unclear} More runs tell (--budget)."
    if result.saturation is None:
        return f"It does not flatten up to a load of {highest:.0%}: the program can take more."
    if result.saturation == 0:
        return "More load gains nothing: the program is saturated at base load."
    return (
        f"It flattens at a load of {result.saturation:.0%} [{result.saturation_low:.0%}, "
        f"{result.saturation_high:.0%}], {1 / (1 - min(result.saturation, 0.999)):.2f} times as many "
        "requests: beyond, the program is saturated."
    )


def shift_lines(analysis: Analysis, prefix: str) -> list[str]:
    """The lines whose importance changes most between the lowest and the highest load."""
    shifts = [shift for shift in selected_shifts(analysis) if shift.is_certain]
    if len({result.arrival_speedup for result in analysis.results}) < 2:
        return []
    loads = analysis.loads
    if not shifts:
        return [NO_CERTAIN_SHIFT, ""]
    first = shifts[0]
    found = [
        f"Slopes from load {percentage(loads.get(first.base.arrival_speedup, 0.0))} to "
        f"{percentage(loads.get(first.loaded.arrival_speedup, 0.0))}:"
    ]
    for shift in shifts[:MAX_SHIFTS]:
        name = target_name(shift.base, prefix)
        function = function_cell(shift.base).strip("-")
        found.append(
            f"  {name}{f' ({function})' if function else ''}, "
            f"{short_point(analysis, shift.base.point, prefix)}: {signed(shift.base.slope)} to "
            f"{signed(shift.loaded.slope)}, a change of {signed(shift.change)} [{signed(shift.low)}, "
            f"{signed(shift.high)}]"
        )
    return [*map(printable, found), ""]


def load_name(analysis: Analysis, arrival_speedup: int) -> str:
    """The load of a result in a table: per cent, or the arrival speedup where that is not known.

    Levels that would have the same name are told apart by how much earlier each request comes.
    """
    loads = analysis.loads
    load = loads.get(arrival_speedup)
    if load is None:
        return duration(arrival_speedup)
    name = percentage(load)
    alone = sum(percentage(other) == name for other in loads.values()) == 1
    return name if alone else f"{name}, {duration(arrival_speedup)}"


def percentage(load: float) -> str:
    """A load; small ones with a decimal."""
    return f"{load:.0%}" if load == 0 or load >= 0.1 else f"{load:.1%}"
