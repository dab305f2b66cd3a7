"""What changed between two profiles: as a table for people, and as JSON, CSV and Markdown."""

from __future__ import annotations

import json
from typing import Any

from cozcli import __version__
from cozcli.analysis.compare import COMPARED, Change, Comparison, Difference, Estimate
from cozcli.analysis.result import LineResult
from cozcli.messages import printable
from cozcli.reports.base import percent, signed
from cozcli.reports.cells import Cell, markdown_text, to_csv, to_markdown
from cozcli.reports.diff_words import (
    CERTAIN,
    Sides,
    alone,
    common_prefix,
    headline,
    interval_of_change,
    location_name,
    point_name,
    split,
)
from cozcli.reports.targets import function_cell, has_functions, heading

FORMAT, VERSION = "coz-diff", 1
COLUMNS = (
    *("status", "location_before", "location_after", "function", "point", "kind", "moved", "certain"),
    *(f"slope_{part}" for part in ("before", "after", "change", "change_low", "change_high")),
    *(
        f"effect_{100 * s:.0f}_{part}"
        for s in COMPARED
        for part in ("before", "after", "change", "change_low", "change_high")
    ),
)
LEGEND = (
    "Effects are changes in per cent if the line were 25, 50 or 75 % faster, A → B, with the 95 % "
    "interval of the difference, from the intervals of both: ± half of it, or Δ [its ends] where it is "
    "skewed. Certain changes of the slope come first.",
    f"{CERTAIN}: the slope has changed, even when corrected for the number of lines. Without it, a "
    "difference may be chance.",
)
MOVED = "moved: matched by function, since the line's number is another one; order within a function is kept."
PERIODS = (
    "Periods are of baselines under the profiler. Compare them only if both profiles were made on one "
    "machine under the same load; effects are relative to each profile's own period."
)


def render_json(comparison: Comparison, sides: Sides) -> str:
    """Fractions; times in nanoseconds."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "coz": __version__,
        "before": {"source": sides.names[0], "experiments": sides.analyses[0].experiments},
        "after": {"source": sides.names[1], "experiments": sides.analyses[1].experiments},
        "periods": [
            {"point": name, "before": round(a, 1), "after": round(b, 1)}
            for name, (a, b) in sides.periods.items()
        ],
        "changes": [_json_change(change) for change in comparison.changes],
        "only_before": [_json_lone(result) for result in comparison.only_before],
        "only_after": [_json_lone(result) for result in comparison.only_after],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def render_csv(comparison: Comparison) -> str:
    """A row for each line and point; `status`: both, before or after. With loads, these come last."""
    rows = [_csv_change(change) for change in comparison.changes]
    empty: list[Cell] = [None] * (len(COLUMNS) - COLUMNS.index("slope_before"))
    for status, found in (("before", comparison.only_before), ("after", comparison.only_after)):
        for result in found:
            sides_of: list[Cell] = [result.location, None] if status == "before" else [None, result.location]
            slope = [result.slope, None] if status == "before" else [None, result.slope]
            rows.append(
                [
                    status,
                    *sides_of,
                    result.function,
                    result.point,
                    result.kind,
                    False,
                    False,
                    *slope,
                    *empty[2:],
                ]
            )
    of_rows = [change.after for change in comparison.changes]
    loads = [r.arrival_speedup for r in (*of_rows, *comparison.only_before, *comparison.only_after)]
    if not any(loads):
        return to_csv(COLUMNS, rows)
    with_loads = [[*row, load] for row, load in zip(rows, loads, strict=True)]
    return to_csv((*COLUMNS, "arrival_speedup"), with_loads)


def render_markdown(comparison: Comparison, sides: Sides) -> str:
    """Header, table, and what is in one profile only."""
    prefix = common_prefix(comparison)
    functions = has_functions(change.after for change in comparison.changes)
    names = (
        heading(change.after for change in comparison.changes),
        *(["Function"] if functions else []),
        "Point",
        *(f"at {s:.0%}" for s in COMPARED),
        "Slope",
        "Change (95 %)",
        "Marks",
    )
    shown, rest = split(comparison)
    rows = [
        (
            location_name(change, prefix),
            *([function_cell(change.after)] if functions else []),
            point_name(change.after),
            *(_arrow(change.effects.get(s)) for s in COMPARED),
            f"{signed(change.slope.before.value)} → {signed(change.slope.after.value)}",
            _slope_change(change),
            "moved" if change.moved else "",
        )
        for change in shown.changes
    ]
    right = (False, *([False] if functions else []), False, *(True for _ in COMPARED), True, True, False)
    head = "".join(f"{markdown_text(line)}\n\n" for line in [*headline(comparison, sides)])
    table = to_markdown(names, rows, right) if rows else ""
    others = [*([rest] if rest else []), *alone(comparison, sides, prefix)]
    tail = "".join(f"\n{markdown_text(line)}\n" for line in others)
    return head + table + tail


def render_text(comparison: Comparison, sides: Sides, width: int | None) -> str:
    """`width`: of the terminal, or None for a pipe or file, where nothing is coloured or cut."""
    from rich.text import Text

    from cozcli.reports.console import console_for, printed
    from cozcli.reports.diff_table import make_table  # which needs rich

    terminal = width is not None
    console = console_for(width)

    def say(line: str, style: str = "") -> None:
        console.print(Text(printable(line), style=style), soft_wrap=not terminal)

    prefix = common_prefix(comparison)
    first, *others = headline(comparison, sides)
    for line in others:
        say(line)
    if prefix:
        results = [change.after for change in comparison.changes]
        say(f"{heading(results or [*comparison.only_before, *comparison.only_after])}s are below {prefix}")
    console.print()
    say(first, "bold")
    shown, rest = split(comparison)
    if shown.changes:
        console.print(make_table(shown, prefix, width))
    if rest:
        say(rest)
        say("")
    lines = alone(comparison, sides, prefix)
    for line in [*lines, *([""] if lines else [])]:
        say(line)
    for line in LEGEND if shown.changes else ():
        say(line)
    if any(change.moved for change in shown.changes):
        say(MOVED)
    if sides.periods:
        say(PERIODS)
    return printed(console)


def _arrow(found: Difference | None) -> str:
    if found is None:
        return "-"
    return f"{percent(found.before.value)} → {percent(found.after.value)} {interval_of_change(found)}"


def _slope_change(change: Change) -> str:
    found = change.slope.change
    sign = CERTAIN if change.certain else ""
    return f"{signed(found.value)}{sign} [{signed(found.low)}, {signed(found.high)}]"


def _json_change(change: Change) -> dict[str, Any]:
    return {
        "location": {"before": change.before.location, "after": change.after.location},
        "function": change.after.function,
        "target": change.after.target,
        **_json_load(change.after),
        "point": change.after.point,
        "kind": change.after.kind,
        "moved": change.moved,
        "certain": change.certain,
        "slope": _json_difference(change.slope),
        "effects": [{"speedup": s, **_json_difference(found)} for s, found in change.effects.items()],
        "notes": sorted({mark.value for mark in (*change.before.marks, *change.after.marks)}),
    }


def _json_difference(found: Difference) -> dict[str, Any]:
    parts = {"before": found.before, "after": found.after, "change": found.change}
    return {name: _json_estimate(part) for name, part in parts.items()}


def _json_estimate(found: Estimate) -> dict[str, float]:
    return {name: float(f"{value:.6g}") for name, value in vars(found).items()}


def _json_lone(result: LineResult) -> dict[str, Any]:
    estimate = Estimate(result.slope, result.slope_low, result.slope_high)
    names = ("location", "function", "target", "point", "kind", "significant")
    named = {name: getattr(result, name) for name in names}
    return {**named, **_json_load(result), "slope": _json_estimate(estimate)}


def _json_load(result: LineResult) -> dict[str, int]:
    return {"arrival_speedup": result.arrival_speedup} if result.arrival_speedup else {}


def _csv_change(change: Change) -> list[Cell]:
    after = change.after
    row: list[Cell] = [
        "both",
        change.before.location,
        after.location,
        after.function,
        after.point,
        after.kind,
    ]
    row += [change.moved, change.certain]
    for found in (change.slope, *(change.effects.get(s) for s in COMPARED)):
        if found is None:
            row += [None] * 5
        else:
            row += [found.before.value, found.after.value]
            row += [found.change.value, found.change.low, found.change.high]
    return row
