"""Thresholds on effects, as users write them for `coz report --fail-if`. Imports no numpy."""

from __future__ import annotations

import re
from typing import NamedTuple

GRAMMAR = "LINE > N% or LINE < N%, then, if wanted: at SPEEDUP%, on POINT"
EXAMPLE = "sqlite3.c:28321 > 10% at 50% on inserts"

_NUMBER = r"[+-]?[0-9]{1,6}(?:\.[0-9]{1,6})?"
# Greedy: a function's name may hold < and >, and the comparison is the last of them.
_THRESHOLD = re.compile(
    rf"\s*(?P<line>.*\S)\s*(?P<sign>[<>])\s*(?P<limit>{_NUMBER})\s*%"
    rf"(?:\s+at\s+(?P<speedup>[0-9]{{1,3}})\s*%)?(?:\s+on\s+(?P<point>\S.*?))?\s*"
)


class Threshold(NamedTuple):
    """`line`: a pattern, as for --line. `limit`, `speedup`: fractions; without the latter, any measured."""

    text: str
    line: str
    above: bool
    limit: float
    speedup: float | None = None
    point: str = ""


def parse_threshold(text: str) -> Threshold:
    """Read one.

    Raises:
        ValueError: it is none; the message is the grammar.
    """
    match = _THRESHOLD.fullmatch(text)
    speedup = int(match["speedup"]) / 100 if match and match["speedup"] else None
    if (
        match is None
        or "\n" in text
        or _ends_in_a_comparison(match["line"])
        or (speedup is not None and not 0 < speedup <= 1)
    ):
        raise ValueError(f"{text!r} is no threshold; it must be {GRAMMAR}, as in {EXAMPLE!r}")
    return Threshold(
        text=text.strip(),
        line=match["line"],
        above=match["sign"] == ">",
        limit=float(match["limit"]) / 100,
        speedup=speedup,
        point=match["point"] or "",
    )


def _ends_in_a_comparison(line: str) -> bool:
    """As of `a.c:1 >> 10%`, which would mean no line, and never fail. Names of templates are balanced."""
    if "operator" in line:
        return False
    return line.endswith("<") or (line.endswith(">") and line.count(">") > line.count("<"))
