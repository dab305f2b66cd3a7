"""The analysis as CSV, for spreadsheets and scripts, and as a Markdown table, for reviews and notes."""

from __future__ import annotations

from cozcli.analysis.estimate.shape import Effect, effect_at, outline
from cozcli.analysis.rank.rest import divide
from cozcli.analysis.result import Analysis, LineResult
from cozcli.reports.base import (
    SHOWN,
    SIGNIFICANT,
    common_directory,
    describe_runs,
    experiments,
    short_point,
    signed,
)
from cozcli.reports.cells import Cell, markdown_text, to_csv, to_markdown
from cozcli.reports.extension import extensions_of, point_naming
from cozcli.reports.intervals import with_interval
from cozcli.reports.legend import explain_table
from cozcli.reports.marks import describe_marks
from cozcli.reports.pairs import describe_pairs
from cozcli.reports.summary import describe_rest, summarize
from cozcli.reports.tails import describe_tails
from cozcli.reports.targets import function_cell, has_functions, heading, naming

#: The columns of CSV are part of the interface: new ones are added at the end.
COLUMNS = (
    *("location", "function", "point", "kind", "target"),
    *("slope", "slope_low", "slope_high", "slope_adjusted_low", "slope_adjusted_high"),
    *("significant", "contention", "notes", "experiments"),
    *(f"effect_{100 * s:.0f}{part}" for s in SHOWN for part in ("", "_low", "_high")),
    *("largest_at", "largest_effect", "largest_low", "largest_high", "shape", "arrival_speedup"),
)


class CsvReport:
    """One row for each line and progress point; fractions, as in JSON, with the column names of `COLUMNS`."""

    def render(self, analysis: Analysis) -> str:
        """The header and the rows, in order of rank."""
        return to_csv(COLUMNS, (_row(result) for result in analysis.results))


class MarkdownReport:
    """The summary, then the table of the text report with all that a wide terminal shows."""

    def render(self, analysis: Analysis) -> str:
        """Paragraphs and a table."""
        prefix = common_directory([result.location for result in analysis.results])
        name = naming(analysis.results, prefix)
        point_of = point_naming(analysis, prefix)
        latency = any(result.kind != "throughput" for result in analysis.results)

        def point(result: LineResult) -> str:
            name = point_of(result)
            return f"{name} (latency)" if latency and result.kind != "throughput" else name

        functions = has_functions(analysis.results)
        summary = summarize(analysis, lambda r: name(r.location), point_of)
        names = (
            heading(analysis.results),
            *(["Function"] if functions else []),
            "Point",
            *(f"at {s:.0%}" for s in SHOWN),
            "Slope (95 %)",
            "Exp.",
            "Marks",
        )
        shown, rest = divide(analysis.results)
        rows = [
            (
                name(result.location),
                *([function_cell(result)] if functions else []),
                point(result),
                *(_effect(effect_at(result, speedup)) for speedup in SHOWN),
                f"{signed(result.slope)}{SIGNIFICANT if result.significant else ''} "
                f"({signed(result.slope_low)} to {signed(result.slope_high)})",
                experiments(result),
                ", ".join(describe_marks(result)),
            )
            for result in shown
        ]
        right = (False, *([False] if functions else []), False, *(True for _ in SHOWN), True, True, False)
        head = "".join(f"{markdown_text(line)}\n\n" for line in (*summary, *describe_runs(analysis)))
        head += _of_extensions(analysis, prefix)
        tail = f"\n{markdown_text(describe_rest(rest))}\n" if rest else ""
        pairs = describe_pairs(
            analysis,
            name,
            lambda point: short_point(analysis, point, prefix),
        )
        tails = [line.strip() for line in describe_tails(analysis, name, point)]
        tail += "".join(f"\n{markdown_text(line)}\n" for line in (*pairs, *tails))
        if not rows:
            return head + tail
        legend = "".join(f"\n{markdown_text(line)}\n" for line in explain_table(analysis, intervals=True))
        return head + to_markdown(names, rows, right) + tail + legend


def _of_extensions(analysis: Analysis, prefix: str) -> str:
    """What extensions add to a report: tables, paragraphs, and the text report's footnotes."""
    from rich.table import Table  # in which extensions give their tables

    found = []
    for extension in extensions_of(analysis):
        for shown in extension.tables(prefix):
            if isinstance(shown, Table):
                names = [str(column.header) for column in shown.columns]
                rows = zip(*([str(cell) for cell in column.cells] for column in shown.columns), strict=True)
                found.append(to_markdown(names, rows, [True] * len(names)))
            elif str(shown):
                found.append(f"{markdown_text(str(shown))}\n")
        footnotes = extension.footnotes(prefix) if analysis.results else ()
        found += [f"{markdown_text(line)}\n" for line in footnotes if line]
    return "".join(f"{each}\n" for each in found)


def _row(result: LineResult) -> list[Cell]:
    row: list[Cell] = [result.location, result.function, result.point, result.kind, result.target]
    row += [result.slope, result.slope_low, result.slope_high, result.adjusted_low, result.adjusted_high]
    row += [result.significant, result.contention]
    row += [", ".join(mark.value for mark in result.marks), result.experiments]
    for speedup in SHOWN:
        found = effect_at(result, speedup)
        row += [found.effect, found.low, found.high] if found else [None, None, None]
    shape = outline(result)
    row += [shape.top.speedup, shape.top.effect, shape.top.low, shape.top.high, shape.shape.value]
    row += [result.arrival_speedup]
    return row


def _effect(found: Effect | None) -> str:
    if found is None:
        return "-"
    return f"{'' if found.measured else '~'}{with_interval(found.effect, found.low, found.high)}"
