"""The certain lines as results of an analyser (SARIF 2.1.0, OASIS), which code hosts and editors show."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cozcli import __version__
from cozcli.analysis.result import Analysis, LineResult
from cozcli.messages import printable
from cozcli.reports.annotate import notes

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#: What a result is an instance of, by the sign of its slope.
RULES = {
    "faster-line-pays": "The program gains if this line becomes faster.",
    "faster-line-costs": "The program loses if this line becomes faster: contention.",
}


class SarifReport:
    """A result for each line and progress point whose effect is certain, in order of rank.

    Paths are relative where a file is below the current folder, as code hosts want them.
    """

    def render(self, analysis: Analysis) -> str:
        """One JSON document."""
        rules = [{"id": name, "shortDescription": {"text": text}} for name, text in RULES.items()]
        driver = {"name": "coz", "version": __version__, "rules": rules}
        results = [_result(*note) for note in notes(analysis)]
        run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
        return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(result: LineResult, place: tuple[str, int], text: str) -> dict[str, Any]:
    path, line = place
    physical = {"artifactLocation": _artifact(path), "region": {"startLine": line}}
    return {
        "ruleId": "faster-line-pays" if result.slope > 0 else "faster-line-costs",
        "level": "note",
        "message": {"text": printable(text)},
        "locations": [{"physicalLocation": physical}],
        "properties": {"point": result.point, "slope": round(result.slope, 4)},
    }


def _artifact(path: str) -> dict[str, str]:
    try:
        here = Path.cwd()
    except FileNotFoundError:  # it has been removed
        whole = Path(os.path.normpath(path))
        return {"uri": ("file://" if whole.is_absolute() else "") + _quoted(whole)}
    whole = Path(os.path.normpath(here / path))
    if whole.is_relative_to(here):
        return {"uri": _quoted(whole.relative_to(here)), "uriBaseId": "%SRCROOT%"}
    return {"uri": "file://" + _quoted(whole)}


def _quoted(path: Path) -> str:
    try:
        return quote(os.fsencode(path))
    except UnicodeEncodeError:  # a profile may hold a name that no file can have
        return quote(str(path), errors="replace")
