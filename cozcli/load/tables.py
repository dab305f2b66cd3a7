"""Scalability as text: a table for each point, and where it flattens."""

from __future__ import annotations

import math

from rich import box
from rich.table import Table
from rich.text import Text

from cozcli.analysis.load_result import LoadPoint, LoadQuantile, Scalability
from cozcli.analysis.result import COMPLETED, LATENCY, Analysis
from cozcli.load.words import describe_saturation, percentage
from cozcli.messages import duration, printable, significant
from cozcli.reports.base import percent, short_point
from cozcli.reports.intervals import end_of, interval
from cozcli.reports.tails import name_of

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
        if any(point.quantiles for point in result.points):
            shown.append(_quantile_table(result))
        shown.append(Text(describe_saturation(result)))
        shown.append(Text(""))
    return [*shown, Text(EXPLAINED), Text("")] if shown else []


def _heading(analysis: Analysis, result: Scalability, prefix: str) -> str:
    kinds = {LATENCY: ", latency", COMPLETED: ", completed"}
    return f"Under load: {short_point(analysis, result.point, prefix)}{kinds.get(result.kind, '')}"


def _new_table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), collapse_padding=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _table(result: Scalability) -> Table:
    value = "Latency" if result.kind == LATENCY else "Per second"
    table = _new_table("Load", "Each earlier by", "Arrivals/s", value, "Speedup (95 %)", "Exp.")
    for point in result.points:
        table.add_row(*_row(result.kind, point))
    return table


def _quantile_table(result: Scalability) -> Table:
    """Of the latency, by load; `-` where too few operations are beyond one."""
    quantiles = sorted({each.q for point in result.points for each in point.quantiles})
    table = _new_table("Load", *(f"{name_of(q)} (95 %)" for q in quantiles))
    for point in result.points:
        known = {each.q: _quantile(each) for each in point.quantiles}
        table.add_row(_load(point), *(known.get(q, "-") for q in quantiles))
    return table


def _quantile(quantile: LoadQuantile) -> str:
    ends = interval(0.0, quantile.low / quantile.value - 1, quantile.high / quantile.value - 1)
    return f"{duration(quantile.value)} {ends}%"


def _load(point: LoadPoint) -> str:
    return f"{'*' if point.is_limited else ''}{percentage(point.load)}"


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
        interval = f" [{end_of(point.speedup_low, 1)}, {end_of(point.speedup_high, 1)}]"
        speedup = percent(point.speedup) + ("" if point.arrival_speedup == 0 else interval)
    earlier = duration(point.arrival_speedup) if point.arrival_speedup else "-"
    rate = significant(point.arrival_rate, 4)
    return [_load(point), earlier, rate, value, speedup, str(point.windows)]
