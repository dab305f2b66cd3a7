"""The certain lines as notes in the form of a compiler's, which editors and CI systems show in the source."""

from __future__ import annotations

from collections.abc import Iterator

from cozcli.analysis.input.locations import place_of
from cozcli.analysis.result import Analysis, LineResult
from cozcli.messages import printable
from cozcli.reports.base import CALLED_FROM, REGION, common_directory, waits_of
from cozcli.reports.extension import point_naming
from cozcli.reports.summary import sentence


class AnnotateReport:
    """`FILE:LINE: note: …`, a row for each line and progress point whose effect is certain, in order of rank.

    Functions, regions and classes of waits have no line, and are left out.
    """

    def render(self, analysis: Analysis) -> str:
        """The rows; empty if nothing is certain."""
        rows = (f"{path}:{line}: note: {text}" for _, (path, line), text in notes(analysis))
        return "".join(f"{printable(row)}\n" for row in rows)


def notes(analysis: Analysis) -> Iterator[tuple[LineResult, tuple[str, int], str]]:
    """Each line and progress point whose effect is certain, in order of rank: path, number and a sentence."""
    prefix = common_directory([result.location for result in analysis.results])
    point = point_naming(analysis, prefix)
    for result in analysis.results:
        place = _place(result)
        if place and result.significant and result.is_trusted:
            yield result, place, _note(result, point(result))


def _place(result: LineResult) -> tuple[str, int] | None:
    """Of a result on a line (under a caller, or one that waits, too)."""
    line = waits_of(result.location.partition(CALLED_FROM)[0])[1]
    return None if line.startswith(REGION) else place_of(line)


def _note(result: LineResult, point: str) -> str:
    if result.target in ("wait", "lock"):
        return sentence(result, f"{result.target} here", point)
    called = result.location.partition(CALLED_FROM)[2]
    return sentence(result, f"this line, called from {called}," if called else "this line", point)
