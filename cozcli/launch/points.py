"""Progress points that the command line asks for: from names to addresses, and to what counts visits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from cozcli.errors import CozError
from cozcli.launch import messages
from cozcli.launch.helper import Helper, failure
from cozcli.launch.line_tables import LineTables

AUTO, HARDWARE, BREAKPOINT, SAMPLES = "auto", "hardware", "breakpoint", "samples"
#: Above this many times the cost of a breakpoint instruction, one is used instead of the hardware's.
MUCH_DEARER = 3.0


class WantedPoints(NamedTuple):
    """What the options name. A latency point has two names, FILE:LINE or a function each.

    `amplified`: load is, at arrivals and where latency begins, so that a mere count of visits will not do.
    """

    progress: Sequence[str] = ()
    sampled: Sequence[str] = ()
    latency: Sequence[tuple[str, str]] = ()
    by: str = AUTO
    arrival: Sequence[str] = ()
    amplified: bool = False

    def names(self) -> list[str]:
        """All of them, each once."""
        pairs = [name for pair in self.latency for name in pair]
        return list(dict.fromkeys([*self.progress, *self.sampled, *pairs, *self.arrival]))


class ResolvedPoint(NamedTuple):
    """Where a name's visits are: addresses in the file's own address space."""

    name: str
    is_line: bool
    location: str
    function: str
    binary: str
    addresses: tuple[int, ...]
    #: For each address how a breakpoint instruction there is stepped over (common/patch_plan.h), as the
    #: helper wrote it for the runtime; empty where none can stand.
    patches: tuple[str, ...]
    no_instruction: str


class LocationPoint(NamedTuple):
    """A line of COZ_POINTS."""

    kind: str
    by: str
    binary: str
    addresses: tuple[int, ...]
    name: str
    patches: tuple[str, ...] = ()
    #: What a visit takes, in nanoseconds; not for the runtime.
    cost: float = 0.0

    def encode(self) -> str:
        """As in docs/launch_contract.md."""
        entries = [
            f"{address:x}={patch}" if patch else f"{address:x}"
            for address, patch in zip_longest(self.addresses, self.patches, fillvalue="")
        ]
        return "\t".join((self.kind, self.by, self.binary, ",".join(entries), self.name))


class Costs(NamedTuple):
    """What the machine has, as the helper measured it. Times in nanoseconds."""

    hardware_free: int
    hardware_error: str
    hardware_visit: float
    has_instruction: bool
    instruction_visit: float


def split_pair(text: str) -> tuple[str, str] | None:
    """BEGIN,END: at the one comma that is in no brackets; C++ names have others."""
    depth = 0
    commas = []
    for position, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth = max(depth - 1, 0)
        elif character == "," and depth == 0:
            commas.append(position)
    if len(commas) != 1:
        return None
    begin, end = text[: commas[0]].strip(), text[commas[0] + 1 :].strip()
    return (begin, end) if begin and end else None


def place_points(tables: LineTables, wanted: WantedPoints) -> list[LocationPoint]:
    """Find every name, and choose what counts its visits.

    Raises:
        CozError: a name means nothing, or several things, or nothing can count there.
    """
    names = wanted.names()
    if not names:
        return []
    resolved = _find(tables, names)
    points = [_sampled(resolved[name], tables) for name in wanted.sampled]
    groups = [[("throughput", resolved[name], _display_name(resolved[name]))] for name in wanted.progress]
    for begin, end in wanted.latency:
        label = f"{begin},{end}"
        groups.append([("begin", resolved[begin], label), ("end", resolved[end], label)])
    groups += [[("arrival", resolved[name], _display_name(resolved[name]))] for name in wanted.arrival]
    if groups:
        chooser = Chooser(wanted.by, _costs(tables.helper))
        for group in groups:
            takes_charges = wanted.amplified and group[0][0] != "throughput"
            by = chooser.choose([point for _, point, _ in group], takes_charges)
            points += [
                LocationPoint(kind, by, point.binary, point.addresses, label, point.patches, chooser.cost(by))
                for kind, point, label in group
            ]
    return _unique(points)


class Chooser:
    """Which means count a point's visits; hardware breakpoints are few, and used up in turn."""

    def __init__(self, by: str, costs: Costs) -> None:
        self._by = by
        self._costs = costs
        self._free = costs.hardware_free

    def choose(self, resolved: Sequence[ResolvedPoint], takes_charges: bool = False) -> str:
        """For the locations of one point; `takes_charges`: its visits have to be seen one by one.

        Raises:
            CozError: what is wanted cannot be had there.
        """
        needed = sum(len(point.addresses) for point in resolved)
        fits = needed <= self._free
        fixed = [point for point in resolved if point.no_instruction]
        movable = self._costs.has_instruction and not fixed
        if takes_charges and self._by == HARDWARE:
            raise CozError(messages.points.arrival_by_hardware(resolved[0].name))
        by_instruction = takes_charges or self._by == BREAKPOINT
        if by_instruction or (self._by == AUTO and movable and not (fits and self._is_cheap())):
            if not self._costs.has_instruction:
                raise CozError(messages.points.no_breakpoint_instruction(os.uname().machine))
            if fixed:
                raise CozError(messages.points.instruction_stays(fixed[0].name, fixed[0].no_instruction))
            return BREAKPOINT
        if not fits:
            if self._by == AUTO and fixed:
                raise CozError(messages.points.instruction_stays(fixed[0].name, fixed[0].no_instruction))
            raise CozError(
                messages.points.no_hardware_breakpoint(
                    resolved[0].name, needed, self._free, self._costs.hardware_error, self._by == AUTO
                )
            )
        self._free -= needed
        return HARDWARE

    def cost(self, by: str) -> float:
        """Of one visit, in nanoseconds."""
        return self._costs.hardware_visit if by == HARDWARE else self._costs.instruction_visit

    def _is_cheap(self) -> bool:
        return self._costs.hardware_visit <= MUCH_DEARER * self._costs.instruction_visit


def _find(tables: LineTables, names: Sequence[str]) -> dict[str, ResolvedPoint]:
    """One location for each name, in the first binary that has it."""
    answers: dict[str, list[tuple[str, dict[str, Any]]]] = {name: [] for name in names}
    for table in tables.tables:
        status, answer = tables.helper.locations(table.binary, names)
        if status != 0:
            raise CozError(failure(table.binary, status, answer))
        for name, found in zip(names, answer["names"], strict=True):
            answers[name].append((table.binary, found))
    return {name: _resolved(name, found, tables) for name, found in answers.items()}


def _resolved(name: str, answers: Sequence[tuple[str, dict[str, Any]]], tables: LineTables) -> ResolvedPoint:
    for binary, answer in answers:
        places = answer["places"]
        if len(places) > 1:
            raise CozError(messages.points.point_ambiguous(name, [place["location"] for place in places]))
        if places:
            addresses = places[0]["addresses"]
            for address in addresses:
                if address["no_breakpoint"]:
                    raise CozError(messages.points.point_unusable(name, address["no_breakpoint"]))
            return ResolvedPoint(
                name=name,
                is_line=answer["is_line"],
                location=places[0]["location"],
                function=places[0]["function"],
                binary=binary,
                addresses=tuple(address["address"] for address in addresses),
                patches=tuple(address["patch"] for address in addresses),
                no_instruction=next((a["no_instruction"] for a in addresses if a["no_instruction"]), ""),
            )
    nearest = list(dict.fromkeys(near for _, answer in answers for near in answer["nearest"]))
    is_line = any(answer["is_line"] for _, answer in answers)
    raise CozError(messages.points.point_not_found(name, is_line, nearest, tables.source_files()[1]))


def _sampled(point: ResolvedPoint, tables: LineTables) -> LocationPoint:
    if not point.is_line:
        raise CozError(messages.points.sampled_wants_line(point.name))
    if point.location.rpartition(":")[0] not in tables.source_files()[0]:
        raise CozError(messages.points.sampled_out_of_scope(point.location))
    return LocationPoint("throughput", SAMPLES, "", (), point.location)


def _costs(helper: Helper) -> Costs:
    status, answer = helper.ask(["breakpoints"])
    if status != 0:
        reason = answer.get("message", f"status {status}")
        raise CozError(messages.scope.helper_failed(str(helper.path), reason))
    hardware, instruction = answer["hardware"], answer["instruction"]
    return Costs(
        hardware["free"],
        hardware["error"],
        hardware["visit"],
        instruction["available"],
        instruction["visit"],
    )


def _display_name(point: ResolvedPoint) -> str:
    return point.location if point.is_line else point.function


def _unique(points: Iterable[LocationPoint]) -> list[LocationPoint]:
    """Each once, however often it was asked for; names that would run together are told apart."""
    unique = list(dict.fromkeys(points))
    for index, point in enumerate(unique):
        others = [other for other in unique[:index] if (other.kind, other.name) == (point.kind, point.name)]
        if others:
            unique[index] = point._replace(name=f"{point.name} ({len(others) + 1})")
    return unique
