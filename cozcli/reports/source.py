"""The source text of the leading lines, where it can be read on this machine.

Of what `page_sources` may read, nothing is shown but a few lines, with control characters as escapes.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

from cozcli.analysis.input.locations import place_of
from cozcli.analysis.result import Analysis
from cozcli.messages import printable
from cozcli.reports.base import CALLED_FROM, waits_of
from cozcli.reports.page_sources import read_source

#: Of how many lines, and how many others around each.
MAX_EXCERPTS, AROUND = 3, 2
TAB = 4


@dataclass(frozen=True)
class Excerpt:
    """Lines of a file around one of them. `newer`: the file was changed after the profile was made."""

    #: Columns of a line shown where the terminal does not say how many there are.
    MAX_WIDTH: ClassVar[int] = 140

    location: str
    number: int
    lines: tuple[tuple[int, str], ...]
    newer: bool


def excerpts(analysis: Analysis) -> list[Excerpt]:
    """Of the first lines by rank whose effect is certain, each once, as far as they can be read."""
    made = max((run.time for run in analysis.runs), default=0)
    locations = dict.fromkeys(
        waits_of(result.location)[1].partition(CALLED_FROM)[0]
        for result in analysis.results
        if result.significant and result.is_trusted
    )
    found = (read_excerpt(location, made) for location in itertools.islice(locations, MAX_EXCERPTS))
    return [excerpt for excerpt in found if excerpt is not None]


def read_excerpt(location: str, made: int = 0) -> Excerpt | None:
    """The lines around FILE:LINE; None if there is no such line, or no source file to be read.

    `made`: when the profile was, in nanoseconds since 1970; 0 if that is not known.
    """
    place = place_of(location)
    found = read_source(place[0]) if place else None
    if place is None or found is None:
        return None
    (_, number), (lines, written) = place, found
    if not 0 < number <= len(lines):
        return None
    first = max(number - AROUND, 1)
    shown = tuple(
        (first + index, printable(text.rstrip("\r").expandtabs(TAB)))
        for index, text in enumerate(lines[first - 1 : number + AROUND])
    )
    return Excerpt(location, number, shown, 0 < made < written)
