"""What reports say of load: how the program scales, and which lines change between loads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cozcli.analysis.load_result import LoadPoint, Scalability
from cozcli.analysis.result import Analysis, LineResult
from cozcli.load.shifts import Shift, selected_shifts
from cozcli.load.words import NO_CERTAIN_SHIFT, describe_saturation, load_name, shift_lines
from cozcli.reports.base import rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table
    from rich.text import Text

    from cozcli.reports.theme import Theme


class LoadReportExtension:
    """See `cozcli.reports.extension.ReportExtension`. Without amplification it adds nothing."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def tables(self, prefix: str) -> Sequence[Table | Text]:
        """Scalability, by progress point."""
        if not self._analysis.shown_scalability:
            return ()
        from cozcli.load.tables import scalability_tables  # which needs rich

        return scalability_tables(self._analysis, prefix)

    def footnotes(self, prefix: str) -> Sequence[str]:
        """The lines whose importance changes most."""
        return shift_lines(self._analysis, prefix)

    def column(self) -> str | None:
        """At which load a result was measured."""
        return "Load" if any(result.arrival_speedup for result in self._analysis.results) else None

    def cell(self, result: LineResult) -> str:
        """Its load."""
        return load_name(self._analysis, result.arrival_speedup)

    def condition(self, result: LineResult) -> str:
        """Its load, where there are several."""
        return f"load {self.cell(result)}" if self.column() else ""

    def document(self) -> dict[str, Any]:
        """`scalability` and `shifts`; nothing at all where load was not amplified."""
        if not self._analysis.scalability:
            return {}
        return {
            "scalability": [_scalability(result) for result in self._analysis.shown_scalability],
            "shifts": [self._shift(shift) for shift in selected_shifts(self._analysis)],
        }

    def fields(self, result: LineResult) -> dict[str, Any]:
        """`arrival_speedup` in nanoseconds, and `load` for people, as tables name it."""
        if not self._analysis.scalability:
            return {}
        return self._level(result)

    def page(self) -> dict[str, Any]:
        """Each point's levels, named as in tables, and where it flattens, in words; the lines that change."""
        document = self.document()
        scaling = [
            {
                **described,
                "summary": describe_saturation(result),
                "levels": [
                    {**level, "name": load_name(self._analysis, level["arrival_speedup"])}
                    for level in described["levels"]
                ],
            }
            for result, described in zip(
                self._analysis.shown_scalability, document.get("scalability", []), strict=True
            )
        ]
        shifts = document.get("shifts", [])
        note = NO_CERTAIN_SHIFT if shifts and not any(shift["certain"] for shift in shifts) else ""
        return {"scaling": scaling, "shifts": shifts, "shift_note": note}

    def draw(self, theme: Theme) -> Figure | None:
        """Where there are levels, what load does is the question; the lines' curves are in the report."""
        from cozcli.load.figure import draw_load, has_levels  # which needs matplotlib

        return draw_load(self._analysis, theme) if has_levels(self._analysis) else None

    def _level(self, result: LineResult) -> dict[str, Any]:
        return {"arrival_speedup": result.arrival_speedup, "load": self.cell(result)}

    def _shift(self, shift: Shift) -> dict[str, Any]:
        """How much a line's slope changes from the lowest load to the highest; the surest come first."""
        return {
            "target": shift.base.target,
            "location": shift.base.location,
            "function": shift.base.function,
            "point": shift.base.point,
            "kind": shift.base.kind,
            "from": {**self._level(shift.base), "slope": rounded(shift.base.slope)},
            "to": {**self._level(shift.loaded), "slope": rounded(shift.loaded.slope)},
            "change": rounded(shift.change),
            "low": rounded(shift.low),
            "high": rounded(shift.high),
            "certain": shift.is_certain,
        }


def make_extension(analysis: Analysis) -> LoadReportExtension:
    """The hook of `cozcli.reports`."""
    return LoadReportExtension(analysis)


def _scalability(result: Scalability) -> dict[str, Any]:
    saturation = result.saturation
    return {
        "point": result.point,
        "kind": result.kind,
        "saturation": None if saturation is None else rounded(saturation),
        "saturation_low": None if saturation is None else rounded(result.saturation_low),
        "saturation_high": None if saturation is None else rounded(result.saturation_high),
        "is_clear": result.is_clear,
        "limit": None if result.limit is None else rounded(result.limit),
        "levels": [_level(point) for point in result.points],
    }


def _level(point: LoadPoint) -> dict[str, Any]:
    return {
        "arrival_speedup": point.arrival_speedup,
        "load": rounded(point.load),
        "arrival_rate": rounded(point.arrival_rate),
        "rate": rounded(point.rate),
        "period": rounded(point.period),
        "low": rounded(point.low),
        "high": rounded(point.high),
        "speedup": rounded(point.speedup),
        "speedup_low": rounded(point.speedup_low),
        "speedup_high": rounded(point.speedup_high),
        "experiments": point.windows,
        "is_limited": point.is_limited,
        "quantiles": [
            {"q": each.q, "value": rounded(each.value), "low": rounded(each.low), "high": rounded(each.high)}
            for each in point.quantiles
        ],
    }
