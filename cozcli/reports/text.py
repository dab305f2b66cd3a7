"""The analysis as a table for a terminal, or for a file or pipe: then without colour and never cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cozcli.analysis.estimate.shape import Effect, effect_at
from cozcli.analysis.rank.rest import divide
from cozcli.analysis.result import Analysis, LineResult
from cozcli.messages import printable
from cozcli.reports.base import (
    SHOWN,
    SIGNIFICANT,
    common_directory,
    describe_overheads,
    describe_points,
    describe_runs,
    experiments,
    percent,
    short_point,
    shorten,
    signed,
    with_share,
)
from cozcli.reports.console import UNLIMITED, console_for, printed
from cozcli.reports.extension import ReportExtension, extensions_of, point_naming
from cozcli.reports.intervals import UNKNOWN, with_interval
from cozcli.reports.legend import explain_table
from cozcli.reports.locks import HEADING as LOCKS
from cozcli.reports.locks import describe_locks
from cozcli.reports.marks import CONTENTION, describe_marks
from cozcli.reports.pairs import describe_pairs
from cozcli.reports.source import Excerpt, excerpts
from cozcli.reports.summary import describe_rest, summarize
from cozcli.reports.tails import describe_tails
from cozcli.reports.targets import function_cell, has_functions, heading, naming, target_name

#: Columns of a terminal from which on details are shown: of effects, the function, of the slope.
WITH_INTERVALS, WITH_FUNCTION, WITH_SLOPE_INTERVAL = 105, 122, 145
#: Characters of an effect with its interval for which these are meant.
USUAL_EFFECT = len("+12.3 ±12.3")
#: Of how many lines callers are listed, of each how many, and with which share of its samples at least.
MAX_LISTED, MAX_SHOWN, MIN_SHARE = 10, 4, 0.03


class TextReport:
    """A ranked table. `width` is the terminal's, or None for a pipe or file.

    `instances`: list also the functions, as of a template, that lines are part of. `source`: show the
    leading lines with those around them, where their files can be read.
    """

    def __init__(self, width: int | None = None, instances: bool = False, source: bool = True) -> None:
        self._width = width
        self._instances = instances
        self._source = source

    def render(self, analysis: Analysis) -> str:
        """Header, table, and what its columns and marks mean."""
        terminal = self._width is not None
        console = console_for(self._width)
        for line in describe_runs(analysis):
            console.print(Text(printable(line)), soft_wrap=True)
        prefix = common_directory([result.location for result in analysis.results])
        name = naming(analysis.results, prefix)
        if prefix:
            what = heading(analysis.results)
            console.print(Text(printable(f"{what}s are below {prefix}")), soft_wrap=True)
        for line in describe_points(analysis, prefix) + describe_overheads(analysis, prefix):
            console.print(Text(printable(line)), soft_wrap=True)
        extensions = extensions_of(analysis)
        for shown in [shown for extension in extensions for shown in extension.tables(prefix)]:
            console.print(shown, soft_wrap=isinstance(shown, Text) and not terminal)
        if not analysis.results:
            return printed(console)
        console.print()
        point = point_naming(analysis, prefix)
        for line in summarize(analysis, lambda result: name(result.location), point):
            console.print(Text(printable(line), style="bold"), soft_wrap=not terminal)
        leading, rest = divide(analysis.results)
        everything, analysis = analysis, replace(analysis, results=leading)
        room = _room(leading, self._width)
        console.print(_table(analysis, extensions, prefix, terminal, room))
        if rest:
            console.print(Text(describe_rest(rest)), soft_wrap=not terminal)
            console.print()
        for line in describe_pairs(
            analysis,
            name,
            lambda point: short_point(analysis, point, prefix),
        ):
            console.print(Text(printable(line)), soft_wrap=not terminal)
        if analysis.pairs:
            console.print()
        tails = describe_tails(everything, name, point)
        for line in [*tails, ""] if tails else []:
            console.print(Text(printable(line)), soft_wrap=not terminal)
        for excerpt in excerpts(analysis) if self._source else []:
            _print_source(console, excerpt, prefix)
        for line in [line for extension in extensions for line in extension.footnotes(prefix)]:
            console.print(Text(line), soft_wrap=not terminal)
        surroundings = _callers(analysis, prefix) + _locks(analysis, prefix)
        for line in surroundings + (_instances(analysis, prefix) if self._instances else []):
            console.print(Text(line), soft_wrap=not terminal)
        for line in explain_table(analysis, room >= WITH_INTERVALS):
            console.print(Text(line), soft_wrap=not terminal)
        return printed(console)


def _room(results: Sequence[LineResult], width: int | None) -> int:
    """Columns of the terminal without those that effects need beyond `USUAL_EFFECT`."""
    if width is None:
        return UNLIMITED
    longest = (max(len(_effect(result, speedup, True)) for result in results) for speedup in SHOWN)
    return width - sum(max(length - USUAL_EFFECT, 0) for length in longest)


def _table(
    analysis: Analysis, extensions: Sequence[ReportExtension], prefix: str, terminal: bool, room: int
) -> Table:
    """The table; a terminal of few columns gets fewer details, so that marks are never cut off."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), collapse_padding=True)
    latency = any(result.kind != "throughput" for result in analysis.results)
    longest = max(len(target_name(result, prefix)) for result in analysis.results)
    least = 20 if room >= WITH_INTERVALS else 14
    functions = room >= WITH_FUNCTION and has_functions(analysis.results)
    table.add_column(
        heading(analysis.results), overflow="fold", no_wrap=not terminal, min_width=min(longest, least)
    )
    if functions:
        cut = (14 if room < WITH_SLOPE_INTERVAL else 30) if terminal else None
        table.add_column("Function", overflow="ellipsis", no_wrap=True, max_width=cut)
    table.add_column("Point", overflow="fold", no_wrap=not terminal, min_width=7)
    extra = {each: title for each in extensions if (title := each.column())}
    for title in extra.values():
        table.add_column(title, justify="right", no_wrap=True)
    for speedup in SHOWN:
        table.add_column(f"at {speedup:.0%}", justify="right", no_wrap=True)
    slope = "Slope (95 %)" if room >= WITH_SLOPE_INTERVAL else "Slope"
    table.add_column(slope, justify="right", no_wrap=True)
    if room >= WITH_INTERVALS:
        table.add_column("Exp.", justify="right", no_wrap=True)
    table.add_column("Marks", overflow="fold", no_wrap=not terminal, min_width=len(CONTENTION))
    for result in analysis.results:
        point = short_point(analysis, result.point, prefix)
        cells = [extension.cell(result) for extension in extra]
        name, function = target_name(result, prefix), function_cell(result)
        names = [Text(printable(name), style="bold"), *([Text(printable(function))] if functions else [])]
        table.add_row(*names, *_row(result, point, latency, room, cells))
    return table


def _row(result: LineResult, point: str, latency: bool, room: int, cells: Sequence[str]) -> list[Text]:
    if latency and result.kind != "throughput":
        point += " (latency)"
    row = [Text(printable(point))]
    row += [Text(cell) for cell in cells]
    row += [_effect(result, speedup, room >= WITH_INTERVALS) for speedup in SHOWN]
    row.append(_slope(result, room >= WITH_SLOPE_INTERVAL))
    if room >= WITH_INTERVALS:
        row.append(Text(experiments(result)))
    row.append(_marks(result))
    return row


def _effect(result: LineResult, speedup: float, interval: bool) -> Text:
    found = effect_at(result, speedup)
    if found is None:
        return Text("-", style="dim")
    return _shown(found, interval, result.is_proven)


def _shown(found: Effect, interval: bool, is_proven: bool) -> Text:
    style = "" if interval else "dim"
    if is_proven and (found.low > 0 or found.high < 0):
        style = "green" if found.low > 0 else "red"
    prefix = "" if found.measured else "~"
    ends = (found.effect, found.low, found.high)
    return Text(prefix + (with_interval(*ends) if interval else percent(found.effect)), style=style)


def _slope(result: LineResult, interval: bool) -> Text:
    style = "" if not result.significant else "green" if result.slope > 0 else "red"
    sign = SIGNIFICANT if result.significant else " "
    shown = f" [{_bound(result.slope_low)}, {_bound(result.slope_high)}]" if interval else ""
    return Text(f"{signed(result.slope)}{sign}{shown}", style=style)


def _bound(slope: float) -> str:
    most = UNKNOWN // 10
    return (
        signed(slope) if abs(slope) < most else f"{'<' if slope < 0 else '>'}{most if slope > 0 else -most}"
    )


def _marks(result: LineResult) -> Text:
    marks = Text()
    for mark in describe_marks(result):
        marks.append(", " if marks else "")
        marks.append(mark, style="bold red" if mark == CONTENTION else "")
    return marks


def _callers(analysis: Analysis, prefix: str) -> list[str]:
    """For the lines that rank highest, by whom they are called; of each caller its share of the samples."""
    shown = {
        result.location: ", ".join(
            with_share(caller, "out of scope", prefix)
            for caller in result.surroundings.callers[:MAX_SHOWN]
            if caller.share >= MIN_SHARE
        )
        for result in analysis.results
        if result.surroundings.callers
    }
    return _list_by_target("Called from:", shown, naming(analysis.results, prefix))


def _locks(analysis: Analysis, prefix: str) -> list[str]:
    """Likewise for which locks threads wait there."""
    shown = {result.location: describe_locks(result.locks, prefix) for result in analysis.results}
    name = naming(analysis.results, prefix)
    lines = [f"  {name(location)}: {text}" for location, text in shown.items() if text]
    return [LOCKS, *map(printable, lines[:MAX_LISTED]), ""] if lines else []


def _instances(analysis: Analysis, prefix: str) -> list[str]:
    """Likewise as part of which functions they are run, where that is more than one."""
    shown = {
        result.location: ", ".join(
            f"{instance.function or '?'} {instance.share:.0%}"
            for instance in result.surroundings.instances[:MAX_SHOWN]
            if instance.share >= MIN_SHARE
        )
        for result in analysis.results
        if result.surroundings.instances
    }
    return _list_by_target("Run as part of:", shown, naming(analysis.results, prefix))


def _list_by_target(title: str, shown: dict[str, str], name: Callable[[str], str]) -> list[str]:
    lines = [f"  {name(location)} < {names}" for location, names in shown.items() if names]
    return [title, *map(printable, lines[:MAX_LISTED]), ""] if lines else []


def _print_source(console: Console, excerpt: Excerpt, prefix: str) -> None:
    title = shorten(excerpt.location, prefix) + (
        " (changed since the profile was made)" if excerpt.newer else ""
    )
    console.print(Text(printable(title), style="bold"), soft_wrap=True)
    room = min(console.width - 1, excerpt.MAX_WIDTH)
    for number, text in excerpt.lines:
        marked = number == excerpt.number
        line = f"{'>' if marked else ' '} {number:5}  {text}"
        cut = line if len(line) <= room else line[: room - 1] + "…"
        console.print(Text(cut, style="" if marked else "dim"), no_wrap=True, crop=False, overflow="ignore")
    console.print()
