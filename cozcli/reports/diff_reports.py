"""What changed between two profiles: as a table for people, and as JSON, CSV and Markdown."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cozcli import __version__
from cozcli.analysis.compare import COMPARED, Change, Comparison, Difference, Estimate
from cozcli.analysis.result import Analysis, LineResult
from cozcli.messages import count, printable
from cozcli.reports.base import common_directory, percent, short_function, shorten
from cozcli.reports.cells import Cell, markdown_text, to_csv, to_markdown

FORMAT, VERSION = "coz-diff", 1
#: Follows a change that is more than chance, even when the number of lines is allowed for.
CERTAIN = "*"
MOST_ALONE = 10
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
    "Effects are changes in per cent if the line were 25, 50 or 75 % faster, A → B; ± is half of the 95 % "
    "interval of the difference, from the intervals of both. Certain changes of the slope come first.",
    f"{CERTAIN}: the slope has changed, even when the number of lines compared is allowed for. Without it, a "
    "difference may be chance.",
)
MOVED = "moved: matched by function, since the line's number is another one; order within a function is kept."
PERIODS = (
    "Periods are of baselines under the profiler. Compare them only if both profiles were made on one "
    "machine under the same load; effects are relative to each profile's own period."
)


@dataclass(frozen=True)
class Sides:
    """What a comparison is of. `periods`: of each throughput point, in nanoseconds, A and B."""

    names: tuple[str, str]
    analyses: tuple[Analysis, Analysis]
    periods: Mapping[str, tuple[float, float]]


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
    """A row for each line and point; `status`: both, before or after."""
    rows = [_csv_change(change) for change in comparison.changes]
    empty: list[Cell] = [None] * (len(COLUMNS) - COLUMNS.index("slope_before"))
    for status, alone in (("before", comparison.only_before), ("after", comparison.only_after)):
        for result in alone:
            places: list[Cell] = [result.location, None] if status == "before" else [None, result.location]
            slope = [result.slope, None] if status == "before" else [None, result.slope]
            rows.append(
                [
                    status,
                    *places,
                    result.function,
                    result.point,
                    result.kind,
                    False,
                    False,
                    *slope,
                    *empty[2:],
                ]
            )
    return to_csv(COLUMNS, rows)


def render_markdown(comparison: Comparison, sides: Sides) -> str:
    """Header, table, and what is in one profile only."""
    prefix = _prefix(comparison)
    names = (
        "Line",
        "Function",
        "Point",
        *(f"at {s:.0%}" for s in COMPARED),
        "Slope",
        "Change (95 %)",
        "Marks",
    )
    rows = [
        (
            place(change, prefix),
            short_function(change.after.function) or "-",
            point_name(change.after),
            *(_arrow(change.effects.get(s)) for s in COMPARED),
            f"{change.slope.before.value:+.2f} → {change.slope.after.value:+.2f}",
            _slope_change(change),
            "moved" if change.moved else "",
        )
        for change in comparison.changes
    ]
    right = (False, False, False, *(True for _ in COMPARED), True, True, False)
    head = "".join(f"{markdown_text(line)}\n\n" for line in [*headline(comparison, sides)])
    table = to_markdown(names, rows, right) if rows else ""
    tail = "".join(f"\n{markdown_text(line)}\n" for line in alone(comparison, sides, prefix))
    return head + table + tail


def render_text(comparison: Comparison, sides: Sides, width: int | None) -> str:
    """`width`: of the terminal, or None for a pipe or file, where nothing is coloured or cut."""
    from rich.console import Console
    from rich.text import Text

    from cozcli.reports.diff_table import make_table

    stream = io.StringIO()
    terminal = width is not None
    console = Console(
        file=stream,
        width=width or 100_000,
        force_terminal=terminal,
        color_system="standard" if terminal else None,
        highlight=False,
        legacy_windows=False,
    )

    def say(line: str, style: str = "") -> None:
        console.print(Text(printable(line), style=style), soft_wrap=not terminal)

    prefix = _prefix(comparison)
    first, *others = headline(comparison, sides)
    for line in others:
        say(line)
    if prefix:
        say(f"Lines are below {prefix}")
    console.print()
    say(first, "bold")
    if comparison.changes:
        console.print(make_table(comparison, prefix, width))
    lines = alone(comparison, sides, prefix)
    for line in [*lines, *([""] if lines else [])]:
        say(line)
    for line in LEGEND if comparison.changes else ():
        say(line)
    if any(change.moved for change in comparison.changes):
        say(MOVED)
    if sides.periods:
        say(PERIODS)
    text = stream.getvalue()
    return text if terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def headline(comparison: Comparison, sides: Sides) -> list[str]:
    """What came out in a sentence, then the two profiles and their periods."""
    certain = [change for change in comparison.changes if change.certain]
    if certain:
        change = certain[0]
        name, slope = short_function(change.after.function), change.slope
        where = place(change, _prefix(comparison)) + (f" ({name})" if name else "")
        first = (
            f"{count(len(certain), 'change')} more than chance; the largest: {where} on "
            f"{point_name(change.after)}, slope {slope.before.value:+.2f} → "
            f"{slope.after.value:+.2f}: it {_meaning(slope)}."
        )
    elif comparison.changes:
        first = f"No certain change in {count(len(comparison.changes), 'line')} that both profiles have."
    else:
        first = "The profiles have no line and progress point in common."
    lines = [first]
    for letter, name, analysis in zip("AB", sides.names, sides.analyses, strict=True):
        lines.append(f"{letter}: {name}, {count(analysis.experiments, 'experiment')}")
    for point, (a, b) in sides.periods.items():
        lines.append(f"Period of {point}: {_time(a)} → {_time(b)} ({100 * (b / a - 1):+.1f} %)")
    return lines


def alone(comparison: Comparison, sides: Sides, prefix: str) -> list[str]:
    """What only one of the profiles has."""
    lines = []
    for letter, found in zip("AB", (comparison.only_before, comparison.only_after), strict=True):
        if found:
            lines.append(f"Only in {letter}:")
            lines += [
                f"  {shorten(result.location, prefix)} on {point_name(result)}, slope {result.slope:+.2f}"
                + ("*" if result.significant else "")
                for result in found[:MOST_ALONE]
            ]
            if len(found) > MOST_ALONE:
                lines.append(f"  and {len(found) - MOST_ALONE} more that matter less")
    return lines


def _meaning(slope: Difference) -> str:
    a, b = slope.before.value, slope.after.value
    if a < 0 and b < 0:
        return "does more harm when it is faster" if b < a else "does less harm when it is faster"
    return "matters more" if b > a else "matters less"


def place(change: Change, prefix: str) -> str:
    """Where the line is now, and, if it moved, which number it had."""
    after = shorten(change.after.location, prefix)
    if not change.moved:
        return after
    return f"{after} (was {change.before.location.rpartition(':')[2]})"


def point_name(result: LineResult) -> str:
    """The progress point, and whether its latency is meant."""
    return result.point if result.kind == "throughput" else f"{result.point} (latency)"


def _prefix(comparison: Comparison) -> str:
    results: Sequence[LineResult] = [change.after for change in comparison.changes]
    return common_directory([r.location for r in (*results, *comparison.only_before, *comparison.only_after)])


def _arrow(found: Difference | None) -> str:
    if found is None:
        return "-"
    half = 50 * (found.change.high - found.change.low)
    return f"{percent(found.before.value)} → {percent(found.after.value)} (±{half:.1f})"


def _slope_change(change: Change) -> str:
    found = change.slope.change
    mark = CERTAIN if change.certain else ""
    return f"{found.value:+.2f}{mark} [{found.low:+.2f}, {found.high:+.2f}]"


def _time(nanoseconds: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def _json_change(change: Change) -> dict[str, Any]:
    return {
        "location": {"before": change.before.location, "after": change.after.location},
        "function": change.after.function,
        "target": change.after.target,
        "point": change.after.point,
        "kind": change.after.kind,
        "moved": change.moved,
        "certain": change.certain,
        "slope": _json_difference(change.slope),
        "effects": [{"speedup": s, **_json_difference(found)} for s, found in change.effects.items()],
        "notes": sorted({note.value for note in (*change.before.notes, *change.after.notes)}),
    }


def _json_difference(found: Difference) -> dict[str, Any]:
    parts = {"before": found.before, "after": found.after, "change": found.change}
    return {name: _json_estimate(part) for name, part in parts.items()}


def _json_estimate(found: Estimate) -> dict[str, float]:
    return {name: float(f"{value:.6g}") for name, value in vars(found).items()}


def _json_lone(result: LineResult) -> dict[str, Any]:
    estimate = Estimate(result.slope, result.slope_low, result.slope_high)
    names = ("location", "function", "target", "point", "kind", "significant")
    return {**{name: getattr(result, name) for name in names}, "slope": _json_estimate(estimate)}


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
