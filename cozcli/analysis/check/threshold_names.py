"""What a threshold means that no result has: targets too rare to be measured, or a name that may be wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from os.path import basename

from cozcli.analysis.check.threshold_syntax import Threshold
from cozcli.analysis.input.locations import line_number, matches_line
from cozcli.analysis.result import Analysis
from cozcli.profile.profile import Run
from cozcli.profile.records import ArrivalPoint

MAX_CLOSEST = 4


def is_sampled(threshold: Threshold, runs: Iterable[Run]) -> bool:
    """Does any sample lie in what it names?"""
    return any(
        matches_line(threshold.line, line.location, line.function)
        for run in runs
        if run.samples
        for line in run.samples.lines
    )


def known_points(analysis: Analysis, runs: Iterable[Run]) -> list[str]:
    """The progress points of results, and those that were visited too rarely for any."""
    points = (point for run in runs for window in run.experiments for point in window.points)
    visited = {point.name for point in points if not isinstance(point, ArrivalPoint)}
    return sorted(visited | {result.point for result in analysis.results})


def closest(pattern: str, analysis: Analysis, runs: Iterable[Run]) -> list[str]:
    """Locations that may be meant: of the same file those next to the line; else similar names; else the
    leading ones.
    """
    sampled = (line.location for run in runs if run.samples for line in run.samples.lines)
    known = list(dict.fromkeys([*(result.location for result in analysis.results), *sampled]))
    path, _, number = pattern.rpartition(":")
    file = basename(path or number)
    same = [location for location in known if basename(location.rpartition(":")[0]) == file]
    if same and (wanted := line_number(pattern)):
        same.sort(key=lambda location: abs(line_number(location) - wanted))
    return (same or _similar(pattern, known) or known)[:MAX_CLOSEST]


def _similar(pattern: str, known: Sequence[str]) -> list[str]:
    names = {basename(location): location for location in reversed(known)}
    return [names[name] for name in difflib.get_close_matches(basename(pattern), names, MAX_CLOSEST)]
