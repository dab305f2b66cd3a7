"""The analysis as JSON: for scripts, and the one form in which other programs get it.

The names of a result's fields are part of the interface; see `render`.
"""

from __future__ import annotations

import json
import math
from typing import Any

from cozcli import __version__
from cozcli.analysis.result import Analysis, LineResult, RunSummary
from cozcli.analysis.scalability import Scalability
from cozcli.analysis.shape import Shape, outline
from cozcli.analysis.shifts import Shift, find_shifts
from cozcli.reports.load_text import load_name
from cozcli.reports.summary import summarize

FORMAT, VERSION = "coz-report", 1


class JsonReport:
    """`{"format", "version", "coz", "summary", "runs", "warnings", "overheads", "results": […]}`."""

    def render(self, analysis: Analysis) -> str:
        """All times in nanoseconds, all speedups, effects and slopes as fractions."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "coz": __version__,
            "summary": summarize(analysis, lambda result: result.location, lambda result: result.point),
            "experiments": analysis.experiments,
            "runs": [_run(run) for run in analysis.runs],
            "warnings": [{"text": w.text, "hint": w.hint} for w in analysis.warnings],
            "overheads": [
                {
                    "point": point,
                    "kind": kind,
                    "slowdown": _number(cost.slowdown),
                    "factor": _number(cost.factor),
                }
                for (point, kind), cost in analysis.overheads.items()
            ],
            **(
                {
                    "scalability": [_scalability(result) for result in analysis.scalability],
                    "shifts": [_shift(analysis, shift) for shift in find_shifts(analysis.results)],
                }
                if analysis.scalability
                else {}
            ),
            "results": [
                # Where load was not amplified, nothing is said of it.
                (_load(analysis, result) if analysis.scalability else {}) | _result(result)
                for result in analysis.results
            ],
        }
        return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _load(analysis: Analysis, result: LineResult) -> dict[str, Any]:
    """`arrival_speedup` in nanoseconds, and `load` for people, as tables name it."""
    return {
        "arrival_speedup": result.arrival_speedup,
        "load": load_name(analysis, result.arrival_speedup),
    }


def _run(run: RunSummary) -> dict[str, Any]:
    return {
        "program": run.program,
        "arguments": list(run.arguments),
        "time": run.time,
        "duration": run.real_time,
        "experiments": run.experiments,
        "sampling": run.sampling,
        "period": run.period,
        "classic": run.classic,
        "source": run.source,
        **(
            {"points": [{"name": name, "by": by} for name, by in dict(run.points).items()]}
            if run.points
            else {}
        ),
    }


def _scalability(result: Scalability) -> dict[str, Any]:
    saturation = result.saturation
    return {
        "point": result.point,
        "kind": result.kind,
        "saturation": None if saturation is None else _number(saturation),
        "saturation_low": None if saturation is None else _number(result.saturation_low),
        "saturation_high": None if saturation is None else _number(result.saturation_high),
        "limit": None if result.limit is None else _number(result.limit),
        "levels": [
            {
                "arrival_speedup": point.arrival_speedup,
                "load": _number(point.load),
                "arrival_rate": _number(point.arrival_rate),
                "rate": _number(point.rate),
                "period": _number(point.period),
                "low": _number(point.low),
                "high": _number(point.high),
                "speedup": _number(point.speedup),
                "speedup_low": _number(point.speedup_low),
                "speedup_high": _number(point.speedup_high),
                "experiments": point.windows,
                "is_limited": point.is_limited,
            }
            for point in result.points
        ],
    }


def _shift(analysis: Analysis, shift: Shift) -> dict[str, Any]:
    """How much a line's slope changes from the lowest load to the highest; the surest come first."""
    return {
        "target": shift.base.target,
        "location": shift.base.location,
        "function": shift.base.function,
        "point": shift.base.point,
        "kind": shift.base.kind,
        "from": {**_load(analysis, shift.base), "slope": _number(shift.base.slope)},
        "to": {**_load(analysis, shift.loaded), "slope": _number(shift.loaded.slope)},
        "change": _number(shift.change),
        "low": _number(shift.low),
        "high": _number(shift.high),
        "certain": shift.is_certain,
    }


def _result(result: LineResult) -> dict[str, Any]:
    return {
        "target": result.target,
        "location": result.location,
        "function": result.function,
        "callers": [
            {"location": caller.location, "function": caller.function, "share": _number(caller.share)}
            for caller in result.surroundings.callers
        ],
        "instances": [
            {"function": instance.function, "share": _number(instance.share)}
            for instance in result.surroundings.instances
        ],
        "point": result.point,
        "kind": result.kind,
        "slope": _number(result.slope),
        "slope_low": _number(result.slope_low),
        "slope_high": _number(result.slope_high),
        "slope_adjusted_low": _number(result.adjusted_low),
        "slope_adjusted_high": _number(result.adjusted_high),
        "significant": result.significant,
        "phase_factor": _number(result.phase.factor),
        "contention": result.contention,
        "notes": [note.value for note in result.notes],
        "experiments": result.experiments,
        "curve": [
            {
                "speedup": point.speedup,
                "effect": _number(point.effect),
                "low": _number(point.low),
                "high": _number(point.high),
                "experiments": point.experiments,
            }
            for point in result.curve
        ],
        "shape": _shape(result),
        "fit": {
            "degree": result.fit.degree,
            **{
                name: [_number(value) for value in getattr(result.fit, name)]
                for name in ("speedup", "effect", "low", "high")
            },
        },
    }


def _shape(result: LineResult) -> dict[str, Any]:
    """The largest effect of those measured, and what the curve does (`shape.Shape`), since which speedup."""
    found = outline(result)
    largest = found.top
    return {
        "kind": found.shape.value,
        "since": None if found.shape is Shape.OPEN else found.since.speedup,
        "largest": {
            "speedup": largest.speedup,
            **{name: _number(getattr(largest, name)) for name in ("effect", "low", "high")},
        },
    }


def _number(value: float) -> float | None:
    """Six significant digits: more is noise, and would differ between machines' libraries."""
    return float(f"{value:.6g}") if math.isfinite(value) else None
