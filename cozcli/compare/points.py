"""Visits of progress points, counted by the runtime without sampling or experiments (COZ_POINT_TOTALS).

Each process of a run adds lines to a file when it ends (docs/launch_contract.md). From them come the visits
of throughput points, and by Little's law the mean latency between begin and end points: the time that
operations were in progress, summed over them, divided by the number that ended.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cozcli.compare import messages
from cozcli.compare.instrument import Reading
from cozcli.errors import CozError
from cozcli.launch.runtime_library import preload

VARIABLE = "COZ_POINT_TOTALS"
PROGRESS, LATENCY = "progress", "latency"
_MODULUS = 1 << 64
#: Visits whose times threads may still be about to add.
MAX_UNTIMED = 64


class Total(NamedTuple):
    """One line: visits of a point in one process; times: of `timed` of them, summed, modulo 2⁶⁴."""

    kind: str
    visits: int
    timed: int
    times: int
    name: str


class Totals(NamedTuple):
    """What one run left. processes: how many wrote; end: nanoseconds, when the last did."""

    processes: int
    end: int
    points: Sequence[Total]


class PointVisits(NamedTuple):
    """An instrument. wanted: (PROGRESS or LATENCY, pattern of names), each a figure `kind:pattern`."""

    library: Path
    wanted: Sequence[tuple[str, str]]

    @contextlib.contextmanager
    def attached(self, environment: dict[str, str]) -> Iterator[Reading]:
        """Let the run with this environment count."""
        with tempfile.NamedTemporaryFile("r", prefix="coz-points-", errors="replace") as file:
            environment[VARIABLE] = file.name
            preload(environment, self.library)
            yield lambda name: self._figures(name, parse(file.read()))

    def _figures(self, name: str, totals: Totals) -> dict[str, float]:
        if not totals.processes:
            raise CozError(messages.points_not_counted(name))
        return {f"{kind}:{pattern}": figure(name, totals, kind, pattern) for kind, pattern in self.wanted}


def parse(text: str) -> Totals:
    """What a file holds. Lines that are cut off or damaged are left out."""
    processes, end, points = 0, 0, []
    for line in text.splitlines():
        fields = line.split("\t", 4)
        if fields[0] == "process" and len(fields) == 2 and fields[1].isdecimal():
            processes, end = processes + 1, max(end, int(fields[1]))
        elif len(fields) == 5 and all(field.isdecimal() for field in fields[1:4]):
            visits, timed, times = map(int, fields[1:4])
            points.append(Total(fields[0], visits, timed, times, fields[4]))
    return Totals(processes, end, points)


def figure(name: str, totals: Totals, kind: str, pattern: str) -> float:
    """Visits (PROGRESS), or seconds for an operation (LATENCY), of the points whose names match. `name`:
    whose run it was.

    Raises:
        CozError: no such point was visited.
    """
    kinds = ("throughput",) if kind == PROGRESS else ("begin", "end")
    found = {each: [point for point in totals.points if point.kind == each] for each in kinds}
    matching = {
        each: [point for point in points if matches(pattern, point.name)] for each, points in found.items()
    }
    if not all(sum(point.visits for point in points) for points in matching.values()):
        known = sorted({point.name for points in found.values() for point in points if point.visits})
        raise CozError(messages.no_such_point(name, kind, pattern, known))
    if kind == PROGRESS:
        return float(sum(point.visits for point in matching["throughput"]))
    return _latency(name, pattern, totals.end, matching["begin"], matching["end"])


def _latency(name: str, pattern: str, now: int, begins: Sequence[Total], ends: Sequence[Total]) -> float:
    if any(map(_takes_no_times, (*begins, *ends))):
        reason = "the program was built with a classic coz.h, which takes no times"
        raise CozError(messages.no_latency(name, pattern, reason))
    begun, ended = (sum(point.timed for point in points) for points in (begins, ends))
    if ended > begun:
        raise CozError(messages.no_latency(name, pattern, f"{ended} operations ended, but {begun} began"))
    # Operations that have not ended were in progress until now. All sums are modulo 2⁶⁴; the result is below.
    times = sum(point.times for point in ends) - sum(point.times for point in begins)
    return (times + (begun - ended) * now) % _MODULUS / ended * 1e-9


def _takes_no_times(point: Total) -> bool:
    """More than a few visits without a time: those of threads that were about to add it."""
    untimed = point.visits - point.timed
    return untimed > max(MAX_UNTIMED, point.visits // 100) or (point.timed == 0 and untimed > 0)


def matches(pattern: str, name: str) -> bool:
    """`%` stands for any text. A name that is a place may be given by the end of its path."""
    expression = ".*".join(re.escape(part) for part in pattern.split("%"))
    return re.fullmatch(rf"(?:.*/)?{expression}" if "/" in name else expression, name) is not None
