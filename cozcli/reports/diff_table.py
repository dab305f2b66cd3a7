"""The table of `coz diff`. A terminal of few columns gets fewer details, so that marks are never cut off."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from cozcli.analysis.compare import COMPARED, Change, Comparison, Difference
from cozcli.messages import printable
from cozcli.reports.base import percent, signed
from cozcli.reports.console import UNLIMITED
from cozcli.reports.diff_words import CERTAIN, interval_of_change, location_name, point_name
from cozcli.reports.targets import function_cell, has_functions, heading

#: Columns of a terminal from which on effects, their intervals, and the function are shown.
WITH_EFFECTS, WITH_INTERVALS, WITH_FUNCTION = 100, 130, 150
#: Characters of effects with their interval for which these are meant.
USUAL_EFFECTS = len("+12.3 → +14.5 ±12.3")


def make_table(comparison: Comparison, prefix: str, width: int | None) -> Table:
    """`width`: of the terminal; None for a pipe or file, which has room for everything."""
    terminal = width is not None
    room = UNLIMITED if width is None else width - _excess(comparison)
    results = [change.after for change in comparison.changes]
    functions = room >= WITH_FUNCTION and has_functions(results)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), collapse_padding=True)
    table.add_column(heading(results), overflow="fold", no_wrap=not terminal, min_width=14)
    if functions:
        table.add_column("Function", overflow="ellipsis", no_wrap=True, max_width=24 if terminal else None)
    table.add_column("Point", overflow="fold", no_wrap=not terminal, min_width=7)
    for speedup in COMPARED if room >= WITH_EFFECTS else ():
        table.add_column(f"at {speedup:.0%}", justify="right", no_wrap=True)
    table.add_column("Slope", justify="right", no_wrap=True)
    table.add_column("Change (95 %)", justify="right", no_wrap=True)
    for change in comparison.changes:
        row = [Text(printable(location_name(change, prefix)), style="bold")]
        if functions:
            row.append(Text(printable(function_cell(change.after))))
        row.append(Text(printable(point_name(change.after))))
        for speedup in COMPARED if room >= WITH_EFFECTS else ():
            row.append(_effect(change.effects.get(speedup), room >= WITH_INTERVALS))
        row.append(Text(f"{signed(change.slope.before.value)} → {signed(change.slope.after.value)}"))
        table.add_row(*row, _change(change))
    return table


def _excess(comparison: Comparison) -> int:
    """Characters that effects need beyond `USUAL_EFFECTS`."""
    cells = ([_effect(change.effects.get(s), True) for change in comparison.changes] for s in COMPARED)
    return sum(max(0, *(len(cell) - USUAL_EFFECTS for cell in column)) for column in cells)


def _effect(found: Difference | None, with_change: bool) -> Text:
    if found is None:
        return Text("-", style="dim")
    text = f"{percent(found.before.value)} → {percent(found.after.value)}"
    return Text(f"{text} {interval_of_change(found)}" if with_change else text, style=_style(found))


def _change(change: Change) -> Text:
    found = change.slope.change
    sign = CERTAIN if change.certain else " "
    return Text(
        f"{signed(found.value)}{sign} [{signed(found.low)}, {signed(found.high)}]",
        style="bold" if change.certain else "",
    )


def _style(found: Difference) -> str:
    """No colour: a line that matters less may have been improved, or overtaken."""
    return "bold" if found.change.low > 0 or found.change.high < 0 else "dim"
