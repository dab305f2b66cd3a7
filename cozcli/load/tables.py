"""Scalability as text: a table for each point, and where it flattens."""

from __future__ import annotations

import math

from rich import box
from rich.table import Table
from rich.text import Text

from cozcli.analysis.result import COMPLETED, LATENCY, Analysis, LoadPoint, Scalability
from cozcli.load.words import describe_saturation, percentage
from cozcli.messages import duration, printable, significant
from cozcli.reports.base import percent, short_point
from cozcli.reports.intervals import interval

EXPLAINED = (
    "Load: the part of the time between two requests that is taken away (at 50 % twice as many come). "
    "Arrivals: of requests, as the program then sees them. Speedup: how much less time a unit of work "
    "takes than at base load, with a 95 % interval."
)


def scalability_tables(analysis: Analysis, prefix: str) -> list[Table | Text]:
    """What a report shows of load, above its lines; nothing where load was not amplified."""
    shown: list[Table | Text] = []
    for result in analysis.shown_scalability:
        shown += [Text(printable(_heading(analysis, result, prefix)), style="bold"), _table(result)]
        shown.append(Text(describe_saturation(result)))
        shown.append(Text(""))
    return [*shown, Text(EXPLAINED), Text("")] if shown else []


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


def _relative_interval(kind: str, point: LoadPoint) -> str:
    """`±1.2%` of the latency or rate, or what its ends are off by, `[-1.2, +3.4]%`."""
    low, high = (end / point.period - 1 for end in (point.low, point.high))
    if kind != LATENCY:
        low, high = 1 / (1 + high) - 1, (1 / (1 + low) - 1 if low > -1 else math.inf)
    return f"{interval(0.0, low, high)}%"


def _row(kind: str, point: LoadPoint) -> list[str]:
    value = duration(point.period) if kind == LATENCY else significant(1e9 / point.period, 4)
    value += f" {_relative_interval(kind, point)}"
    speedup = "-"
    if not math.isnan(point.speedup):
        interval = f" [{percent(point.speedup_low)}, {percent(point.speedup_high)}]"
        speedup = percent(point.speedup) + ("" if point.arrival_speedup == 0 else interval)
    earlier = duration(point.arrival_speedup) if point.arrival_speedup else "-"
    rate = significant(point.arrival_rate, 4)
    load = f"{'*' if point.is_limited else ''}{percentage(point.load)}"
    return [load, earlier, rate, value, speedup, str(point.windows)]
