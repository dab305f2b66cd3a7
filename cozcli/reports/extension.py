"""What an extension adds to reports (cozcli/extensions.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from cozcli.analysis.result import Analysis, LineResult
from cozcli.extensions import extensions
from cozcli.reports.base import short_point

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table
    from rich.text import Text

    from cozcli.reports.theme import Theme


class ReportExtension(Protocol):
    """What it has to say of one analysis: nothing, mostly. `prefix`: what is cut off locations."""

    def tables(self, prefix: str) -> Sequence[Table | Text]:
        """For the text report, above the lines."""

    def footnotes(self, prefix: str) -> Sequence[str]:
        """For the text report, below the lines."""

    def column(self) -> str | None:
        """The heading of a column of its own in the table of lines."""

    def cell(self, result: LineResult) -> str:
        """What stands in that column."""

    def condition(self, result: LineResult) -> str:
        """Under what it was measured, for sentences; empty if all results are alike."""

    def document(self) -> dict[str, Any]:
        """Fields of the JSON report."""

    def fields(self, result: LineResult) -> dict[str, Any]:
        """Fields of one result in the JSON report, before the others."""

    def page(self) -> dict[str, Any]:
        """Fields of a profile in the page of `coz view`."""

    def draw(self, theme: Theme) -> Figure | None:
        """A picture to be drawn instead of the lines' curves."""


def merged(documents: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The fields of all of them."""
    return {name: value for document in documents for name, value in document.items()}


def extensions_of(analysis: Analysis) -> list[ReportExtension]:
    """What all extensions add to reports of this analysis."""
    return [module.make_extension(analysis) for module in extensions("report")]


def point_naming(analysis: Analysis, prefix: str | None) -> Callable[[LineResult], str]:
    """How sentences name a result's progress point, and under what it was measured: `done (load 26%)`.

    prefix: what is cut off locations; None: points have their whole names.
    """
    found = extensions_of(analysis)

    def name(result: LineResult) -> str:
        point = result.point if prefix is None else short_point(analysis, result.point, prefix)
        return " ".join([point, *(f"({text})" for each in found if (text := each.condition(result)))])

    return name
