"""The analysis as a page: one HTML file that needs no server, no network, and nothing beside it.

The page itself, with its script, is page_template.html, built from `viewer/`. This module puts the data
there: the document of `coz report --json`, in a shorter form, as JSON in an element that browsers do not
run. Names in a profile are hostile input: no character of theirs reaches the file that HTML could read as
markup, and the page's policy runs no script but its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cozcli import __version__
from cozcli.analysis.estimate.shape import outline
from cozcli.analysis.result import Analysis, LineResult
from cozcli.reports.extension import extensions_of, merged
from cozcli.reports.json_report import JsonReport
from cozcli.reports.locks import name_of, waits_of
from cozcli.reports.marks import explanations, marks_of
from cozcli.reports.reading import caveat_of, experiments_in_words, explain, reading_of
from cozcli.reports.summary import ending, is_bounded_only, telling
from cozcli.reports.tails import label_of

FORMAT, VERSION = "coz-page", 5
#: Pages larger than this are slow to load, and to send; messages say what makes them smaller.
LARGE = 1_000_000
#: Of the fitted curve's grid every so many points: it is a parabola, which these draw as well.
FIT_STEP = 4
#: Decimals of effects: a hundredth of a per cent.
DECIMALS = 4
#: Of a result, what JSON has and the page does not show.
NOT_SHOWN = (
    *("notes", "slope_adjusted_low", "slope_adjusted_high"),
    *("experiments", "companion_experiments", "p_own", "share", "bound", "quantiles"),
)
_BAND = ("effect", "low", "high")
_DATA = "@DATA@"

#: Besides what JSON escapes: what could end the element, or begin another.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&'"}


@dataclass(frozen=True)
class PageProfile:
    """What one profile contributes. `left_out`: results that the user did not want."""

    name: str
    analysis: Analysis
    left_out: int = 0


def render_page(profiles: Sequence[PageProfile], sources: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of one profile, or of two that are compared.

    Args:
        sources: by path, as `page_sources.read_sources` returns them.
    """
    document = {
        "format": FORMAT,
        "version": VERSION,
        "coz": __version__,
        "profiles": [_profile(profile) for profile in profiles],
        "marks": explanations(
            mark for profile in profiles for result in profile.analysis.results for mark in marks_of(result)
        ),
        "readings": explain(result for profile in profiles for result in profile.analysis.results),
        "sources": dict(sources),
    }
    template = Path(__file__).with_name("page_template.html").read_text(encoding="utf-8")
    before, _, after = template.partition(_DATA)
    return before + embed(document) + after


def embed(document: object) -> str:
    """JSON that may stand in a script element of HTML, whatever its strings hold."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    # These characters occur in strings only, where JSON reads the escape as the character.
    return text.translate(_ESCAPES)


def _profile(profile: PageProfile) -> dict[str, Any]:
    # The document that other programs get: this page is one of them.
    report = json.loads(JsonReport().render(profile.analysis))
    return {
        "name": profile.name,
        "left_out": profile.left_out,
        **{key: report[key] for key in ("experiments", "runs", "warnings", "overheads")},
        "results": [
            _result(document, result)
            for result, document in zip(profile.analysis.results, report["results"], strict=True)
        ],
        **merged(extension.page() for extension in extensions_of(profile.analysis)),
    }


def _result(document: dict[str, Any], result: LineResult) -> dict[str, Any]:
    fit = document["fit"]
    chosen = range(0, len(fit["speedup"]), FIT_STEP)
    told = telling(result, outline(result)) if result.curve else None
    return {
        **{name: value for name, value in document.items() if name not in NOT_SHOWN},
        "marks": marks_of(result),
        "ending": ending(result, outline(result)),
        "reading": reading_of(result).value,
        "rests_on": experiments_in_words(result),
        "caveat": caveat_of(result),
        **({"quantiles": _quantiles(result)} if result.quantiles else {}),
        **({"locks": _locks(document, result)} if result.locks else {}),
        "bounds_only": told is not None and is_bounded_only(result, told),
        "told": None if told is None else [_short(getattr(told, name)) for name in ("speedup", *_BAND)],
        "curve": {
            "s": [point.speedup for point in result.curve],
            "n": [point.experiments for point in result.curve],
            **{key[0]: [_short(getattr(point, key)) for point in result.curve] for key in _BAND},
        },
        "fit": {
            "to": fit["speedup"][-1],
            **{key[0]: [_short(fit[key][i]) for i in chosen] for key in _BAND},
        },
    }


def _locks(document: dict[str, Any], result: LineResult) -> list[dict[str, Any]]:
    """Which the lock target waits for: name, share, number of waits in words, holders."""
    return [
        {
            "name": name_of(lock),
            "share": shown["share"],
            "waits": waits_of(lock),
            "holders": shown["holders"],
        }
        for lock, shown in zip(result.locks, document["locks"], strict=True)
    ]


def _quantiles(result: LineResult) -> list[dict[str, Any]]:
    """Each with its name, the baseline in ns, and the measured points."""
    return [
        {
            "name": label_of(quantile),
            "baseline": round(quantile.baseline),
            "s": [point.speedup for point in quantile.curve],
            **{key[0]: [_short(getattr(point, key)) for point in quantile.curve] for key in _BAND},
        }
        for quantile in result.quantiles
    ]


def _short(value: float | None) -> float | int | None:
    if value is None or not math.isfinite(value):
        return None
    rounded = round(value, DECIMALS)
    return int(rounded) if rounded == int(rounded) else rounded
