"""Scalability as text: a table for each point, where it flattens, and which lines change under load."""

from __future__ import annotations

import math

from rich import box
from rich.table import Table
from rich.text import Text

from cozcli.analysis.grouping import LATENCY
from cozcli.analysis.result import Analysis
from cozcli.analysis.scalability import COMPLETED, LoadPoint, Scalability
from cozcli.analysis.shifts import find_shifts
from cozcli.launch.load_messages import duration
from cozcli.messages import printable
from cozcli.reports.base import percent, short_function, short_point, shorten

#: Lines whose importance changes, at most.
MOST_SHIFTS = 8
EXPLAINED = (
    "Load: the part of the time between two requests that is taken away (at 50 % twice as many "
    "come). Arrivals: of "
    "requests, as the program then sees them. Speedup: how much less time a unit of work takes than "
    "at base load, "
    "with a 95 % interval."
)


def scalability_tables(analysis: Analysis, prefix: str) -> list[Table | Text]:
    """What a report shows of load, above its lines; nothing where load was not amplified."""
    shown: list[Table | Text] = []
    for result in analysis.scalability:
        shown += [Text(printable(_heading(analysis, result, prefix)), style="bold"), _table(result)]
        shown.append(Text(describe_saturation(result)))
        shown.append(Text(""))
    return [*shown, Text(EXPLAINED), Text("")] if shown else []


def describe_saturation(result: Scalability) -> str:
    """In words, where more load no longer helps."""
    if not result.has_base:
        return "There is no run at base load to compare with: add one with --arrival-speedup 0."
    if result.limit is not None and result.saturation is None:
        return (
            f"Rows with a star are above {result.limit:.0%}, the part of the time in which the thread that "
            "requests arrive in waits for them. If it serves them, the program can take no more than that, "
            "and these rows are false."
        )
    highest = max(point.load for point in result.points)
    if result.kind == LATENCY:
        return "Above the load that can be served, latency grows for as long as it is measured."
    if len(result.points) < 3:
        return "Where it flattens would take more levels to tell: coz amp measures them."
    if result.saturation is None:
        return f"It does not flatten up to a load of {highest:.0%}: the program can take more."
    if result.saturation == 0:
        return "More load gains nothing: the program is saturated at base load."
    return (
        f"It flattens at a load of {result.saturation:.0%} [{result.saturation_low:.0%}, "
        f"{result.saturation_high:.0%}], {1 / (1 - min(result.saturation, 0.999)):.2f} times as many "
        "requests: "
        "beyond, the program is saturated."
    )


def shift_lines(analysis: Analysis, prefix: str) -> list[str]:
    """The lines whose importance changes most between the lowest and the highest load."""
    shifts = [shift for shift in find_shifts(analysis.results) if shift.is_certain]
    if len({result.arrival_speedup for result in analysis.results}) < 2:
        return []
    loads = analysis.loads
    if not shifts:
        return ["No line surely matters more or less under load; longer runs may tell.", ""]
    first = shifts[0]
    found = [
        f"Slopes from load {_load(loads.get(first.base.arrival_speedup, 0.0))} to "
        f"{_load(loads.get(first.loaded.arrival_speedup, 0.0))}:"
    ]
    for shift in shifts[:MOST_SHIFTS]:
        name = shorten(shift.base.location, prefix)
        function = short_function(shift.base.function)
        found.append(
            f"  {name}{f' ({function})' if function else ''}, "
            f"{short_point(analysis, shift.base.point, prefix)}: "
            f"{shift.base.slope:+.2f} to {shift.loaded.slope:+.2f}, a change of {shift.change:+.2f} "
            f"[{shift.low:+.2f}, {shift.high:+.2f}]"
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
    name = _load(load)
    alone = sum(_load(other) == name for other in loads.values()) == 1
    return name if alone else f"{name}, {duration(arrival_speedup)}"


def _load(load: float) -> str:
    return f"{load:.0%}" if load == 0 or load >= 0.1 else f"{load:.1%}"


def _heading(analysis: Analysis, result: Scalability, prefix: str) -> str:
    kinds = {LATENCY: ", latency", COMPLETED: ", completed"}
    return f"Under load: {short_point(analysis, result.point, prefix)}{kinds.get(result.kind, '')}"


def _table(result: Scalability) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), collapse_padding=True)
    value = "Latency" if result.kind == LATENCY else "Per second"
    for name in ("Load", "Each earlier by", "Arrivals/s", value, "Speedup (95 %)", "Exp."):
        table.add_column(name, justify="right", no_wrap=True)
    for point in result.points:
        table.add_row(*_row(result.kind, point))
    return table


def _row(kind: str, point: LoadPoint) -> list[str]:
    half = (point.high - point.low) / 2
    if kind == LATENCY:
        value = f"{duration(point.period)} ±{half / point.period:.0%}"
    else:
        value = f"{1e9 / point.period:,.4g} ±{half / point.period:.1%}"
    speedup = "-"
    if not math.isnan(point.speedup):
        interval = f" [{percent(point.speedup_low)}, {percent(point.speedup_high)}]"
        speedup = percent(point.speedup) + ("" if point.arrival_speedup == 0 else interval)
    earlier = duration(point.arrival_speedup) if point.arrival_speedup else "-"
    rate = f"{point.arrival_rate:,.4g}"
    load = f"{'*' if point.is_limited else ''}{_load(point.load)}"
    return [load, earlier, rate, value, speedup, str(point.windows)]
