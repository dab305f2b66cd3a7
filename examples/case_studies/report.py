"""What a case study has found: perf's list, each change's gain beside the prediction, rows for the table."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from study import Change, Study


@dataclass(frozen=True)
class Prediction:
    """What the causal profile expects of a change that makes its target faster by `own`: fractions."""

    own: float
    own_low: float
    own_high: float
    effect: float
    low: float
    high: float


def text(study: Study, coz: str) -> str:
    """Everything that the steps before have left, of which some may be missing."""
    lines: list[str] = []
    found = _read(study.output / "perf.json")
    if found:
        lines += ["", f"perf, {study.title}:"]
        lines += [f"  {share:6.1%}  {name}" for name, share in found["functions"]]
    profile = study.output / "lines.coz"
    if profile.is_file():
        lines += ["", f"All that the causal profile says: coz report {profile}; coz view {profile}"]
    own_speedups = (found or {}).get("own", {}) | (_read(study.output / "samples.json") or {}).get("own", {})
    measured = _read(study.output / "measure.json")
    if measured:
        profiles = (study.output / f"{name}.coz" for name in ("locks", study.predicts_by) if name)
        curves = [curve for profile in profiles for curve in _curves(profile, coz)]
        lines += ["", _HEAD, _RULE]
        lines += [
            _row(study, change, measured, own_speedups, curves)
            for change in study.changes
            if change.name in measured["gains"]
        ]
    return "\n".join(lines)


_HEAD = "| program | change | before | after | time saved (95 %) | p | own speedup | predicted (95 %) |"
_RULE = "|---|---|---|---|---|---|---|---|"


def _row(
    study: Study, change: Change, measured: Any, own_speedups: Mapping[str, Any], curves: list[Any]
) -> str:
    gained = measured["gains"][change.name]
    expected = predict(change, own_speedups, curves)
    own = predicted = "–"
    if expected:
        own = (
            "100 %"
            if change.removed or change.lock
            else _interval(expected.own, expected.own_low, expected.own_high)
        )
        predicted = _interval(expected.effect, expected.low, expected.high)
    cells = (
        study.title,
        change.what,
        f"{_rate(gained['before'])} {study.unit if study.unit.isupper() else study.unit + 's'}/s",
        _rate(gained["after"]),
        _interval(gained["effect"], gained["low"], gained["high"]),
        _probability(gained["p"]),
        own,
        predicted,
    )
    return f"| {' | '.join(cells)} |"


def predict(change: Change, own_speedups: Mapping[str, Any], curves: list[Any]) -> Prediction | None:
    """The curves of the change's target and of its others, at its own speedup.

    They are read between the points measured, and added; their intervals, too, as independent ones. The
    speedup is what perf or the samples have found, where the target is not left out altogether.
    """
    if change.removed or change.lock:
        own = own_low = own_high = 1.0
    elif change.name in own_speedups:
        own, own_low, own_high = own_speedups[change.name]
    else:
        return None
    parts = [_at(curves, name, max(own, 0.0)) for name in (change.target, *change.others)]
    if not all(parts):
        return None
    effects, lows, highs = zip(*parts, strict=True)
    effect = sum(effects)
    below = math.hypot(*(e - low for e, low in zip(effects, lows, strict=True)))
    above = math.hypot(*(high - e for e, high in zip(effects, highs, strict=True)))
    return Prediction(own, own_low, own_high, effect, effect - below, effect + above)


def _at(curves: list[Any], target: str, speedup: float) -> tuple[float, ...]:
    """Effect of the target's curve there, and both ends of its interval; nothing without a curve."""
    wanted = target.split("::")[-1]
    for curve in curves:
        if wanted in (curve["function"] or "").split("::") or wanted in curve["location"]:
            fit = curve["fit"]
            return tuple(
                float(np.interp(speedup, fit["speedup"], fit[key])) for key in ("effect", "low", "high")
            )
    return ()


def _curves(profile: Path, coz: str) -> list[Any]:
    if not profile.is_file():
        return []
    done = subprocess.run([coz, "report", "--json", str(profile)], capture_output=True, text=True, check=True)
    results: list[Any] = json.loads(done.stdout)["results"]
    return results


def _read(path: Path) -> Any:
    return json.loads(path.read_text()) if path.is_file() else None


def _interval(value: float, low: float, high: float) -> str:
    return f"{100 * value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _rate(value: float) -> str:
    """Three digits at least."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
