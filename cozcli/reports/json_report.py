"""The analysis as JSON: for scripts, and the one form in which other programs get it.

The names of a result's fields are part of the interface; see `render`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cozcli import __version__
from cozcli.analysis.estimate.shape import Shape, outline, with_usual_speedups
from cozcli.analysis.result import (
    LATENCY,
    Analysis,
    CurvePoint,
    LineResult,
    Pair,
    Quantile,
    RunSummary,
    WaitedLock,
)
from cozcli.reports.base import rounded
from cozcli.reports.extension import extensions_of, merged, point_naming
from cozcli.reports.summary import summarize

FORMAT, VERSION = "coz-report", 1


class JsonReport:
    """`{"format", "version", "coz", "summary", "runs", "warnings", "overheads", "results": […]}`."""

    def render(self, analysis: Analysis) -> str:
        """All times in nanoseconds, all speedups, effects and slopes as fractions."""
        extensions = extensions_of(analysis)
        document = {
            "format": FORMAT,
            "version": VERSION,
            "coz": __version__,
            "summary": summarize(analysis, lambda result: result.location, point_naming(analysis, None)),
            "experiments": analysis.experiments,
            "runs": [_run(run) for run in analysis.runs],
            "warnings": [{"text": w.text, "hint": w.hint} for w in analysis.warnings],
            "overheads": [
                {
                    "point": point,
                    "kind": kind,
                    "slowdown": rounded(cost.slowdown),
                    "factor": rounded(cost.factor),
                }
                for (point, kind), cost in analysis.overheads.items()
            ],
            **merged(extension.document() for extension in extensions),
            "pairs": [_pair(pair) for pair in analysis.pairs],
            "results": [
                merged(extension.fields(result) for extension in extensions) | _result(result)
                for result in analysis.results
            ],
        }
        return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "locations": list(pair.locations),
        "functions": list(pair.functions),
        "point": pair.point,
        "kind": pair.kind,
        "speedup": rounded(pair.speedup),
        "effect": rounded(pair.effect),
        "low": rounded(pair.low),
        "high": rounded(pair.high),
        "alone": [rounded(effect) for effect in pair.alone],
        "experiments": pair.windows,
    }


def _run(run: RunSummary) -> dict[str, Any]:
    return {
        "program": run.program,
        "arguments": list(run.arguments),
        "time": run.time,
        "duration": run.real_time,
        "experiments": run.experiments,
        **({"processes": run.processes} if run.processes > 1 else {}),
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


def _result(result: LineResult) -> dict[str, Any]:
    return {
        "target": result.target,
        "location": result.location,
        "function": result.function,
        "callers": [
            {"location": caller.location, "function": caller.function, "share": rounded(caller.share)}
            for caller in result.surroundings.callers
        ],
        "instances": [
            {"function": instance.function, "share": rounded(instance.share)}
            for instance in result.surroundings.instances
        ],
        **({"locks": [_lock(lock) for lock in result.locks]} if result.target == "lock" else {}),
        "point": result.point,
        "kind": result.kind,
        "slope": rounded(result.slope),
        "slope_low": rounded(result.slope_low),
        "slope_high": rounded(result.slope_high),
        "slope_adjusted_low": rounded(result.adjusted_low),
        "slope_adjusted_high": rounded(result.adjusted_high),
        "significant": result.significant,
        "phase_factor": rounded(result.phase.factor),
        "contention": result.contention,
        "notes": [mark.value for mark in result.marks],
        "experiments": result.experiments,
        "companion_experiments": result.companion_windows,
        "p_own": None if result.p_own is None else rounded(result.p_own),
        "share": None if result.share is None else rounded(result.share),
        "bound": None if result.bound is None else rounded(result.bound),
        "curve": _curve(with_usual_speedups(result)),
        **({"quantiles": [_quantile(each) for each in result.quantiles]} if result.kind == LATENCY else {}),
        "shape": _shape(result),
        "fit": {
            "degree": result.fit.degree,
            **{
                name: [rounded(value) for value in getattr(result.fit, name)]
                for name in ("speedup", "effect", "low", "high")
            },
        },
    }


def _lock(lock: WaitedLock) -> dict[str, Any]:
    return {
        "name": lock.name,
        "share": rounded(lock.share),
        "waits": lock.waits,
        "mean_wait": rounded(lock.mean),
        "number": lock.number,
        "has_others": lock.has_others,
        "largest": rounded(lock.largest),
        "holders": [
            {"location": holder.location, "function": holder.function, "share": rounded(holder.share)}
            for holder in lock.holders
        ],
    }


def _curve(curve: Sequence[CurvePoint]) -> list[dict[str, Any]]:
    return [
        {
            "speedup": point.speedup,
            "effect": rounded(point.effect),
            "low": rounded(point.low),
            "high": rounded(point.high),
            "experiments": point.experiments,
        }
        for point in curve
    ]


def _quantile(quantile: Quantile) -> dict[str, Any]:
    return {
        "q": quantile.q,
        "baseline": round(quantile.baseline),
        "slope": rounded(quantile.slope),
        "slope_low": rounded(quantile.slope_low),
        "slope_high": rounded(quantile.slope_high),
        "significant": quantile.significant,
        "blurred": quantile.blurred,
        "curve": _curve(quantile.curve),
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
            **{name: rounded(getattr(largest, name)) for name in ("effect", "low", "high")},
        },
    }
