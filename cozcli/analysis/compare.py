"""What changed between two profiles, target by target, and which of it is more than chance.

Two results are of the same target if location, function, progress point, kind and load agree. Results without
such a partner are matched by file and function, in order of their line numbers, where there are as many on
either side: an edit above a function moves its lines. If the profiles share no file, as after builds in
different folders, paths count from the folder that each profile's lines share. Loads that are parts of a
measured interval hardly ever agree to the nanosecond: as many of about the same size are the same ones.

The interval of a difference comes from the two intervals (MOVER: Zou and Donner 2008). Its lower half is the
root of the sum of squares of A's upper half and B's lower half, and likewise the upper one. This needs no
symmetric intervals, but independent profiles, as those of different runs are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import basename
from types import MappingProxyType

from cozcli.analysis import messages
from cozcli.analysis.estimate.shape import effect_at
from cozcli.analysis.input.functions import short_function
from cozcli.analysis.input.locations import (
    common_directory,
    file_of,
    line_number,
    matches_line,
    point_named,
    shorten,
)
from cozcli.analysis.rank.ranking import impact
from cozcli.analysis.rank.rest import hardly_matters
from cozcli.analysis.result import THROUGHPUT, UNFIT, Analysis, LineResult, Mark
from cozcli.analysis.statistics.distributions import LEVEL, p_from_interval
from cozcli.analysis.statistics.false_discovery import discoveries
from cozcli.errors import CozError, Problem
from cozcli.profile.profile import Run
from cozcli.profile.records import ThroughputPoint

#: The speedups at which effects are compared.
COMPARED = (0.25, 0.50, 0.75)
#: Companions save no more than this part of a period; if slopes say so, they are wrong.
MAX_SAVED = 0.5
#: Loads are the same only if requests come at most this much more often under one than under the other.
MAX_LOAD_RATIO = 1.1
#: Of the changes marked as certain, the part that may be chance.
MAX_FALSE_CHANGES = 1 - LEVEL


@dataclass(frozen=True)
class Estimate:
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """B less A, of one quantity."""

    before: Estimate
    after: Estimate
    change: Estimate


@dataclass(frozen=True)
class Change:
    """A line and progress point in both profiles. `moved`: matched by its function.

    `effects`: by speedup, as far as both profiles know them.
    """

    before: LineResult
    after: LineResult
    moved: bool
    slope: Difference
    effects: dict[float, Difference]
    certain: bool = False


@dataclass(frozen=True)
class Comparison:
    """`changes` in order of rank: certain ones first. `only_before`, `only_after`: in order of theirs."""

    changes: tuple[Change, ...]
    only_before: tuple[LineResult, ...]
    only_after: tuple[LineResult, ...]


def compare(before: Analysis, after: Analysis) -> Comparison:
    """Match the results of two analyses and compare each pair."""
    pairs, only_before, only_after = _match(before.results, after.results, common_loads(before, after))
    changes = [_change(a, b, moved) for a, b, moved in pairs]
    fit = [change for change in changes if _is_fit(change)]
    believed = discoveries([_p_no_change(change) for change in fit], MAX_FALSE_CHANGES)
    certain = {id(change) for change, is_certain in zip(fit, believed, strict=True) if is_certain}
    tested = [replace(change, certain=id(change) in certain) for change in changes]
    return Comparison(
        changes=tuple(sorted(tested, key=_rank)),
        only_before=tuple(sorted(only_before, key=_rank_alone)),
        only_after=tuple(sorted(only_after, key=_rank_alone)),
    )


def _p_no_change(change: Change) -> float:
    found = change.slope.change
    # No more than there really are: those of a difference lie between the smaller number and the sum.
    freedom = min(change.before.freedom, change.after.freedom)
    return p_from_interval(found.value, found.low, found.high, freedom)


def _is_fit(change: Change) -> bool:
    """May the change be called certain? If a target has no effect by its own windows on either side, what has
    changed may be only the time in which it runs.
    """
    sides = change.before, change.after
    return not any({*r.marks} & {*UNFIT} for r in sides) and any(r.is_proven for r in sides)


def may_matter(change: Change) -> bool:
    """Is it certain, or may the target matter in one of the profiles?"""
    return change.certain or not (hardly_matters(change.before) and hardly_matters(change.after))


def unrelated(comparison: Comparison, before: Analysis, after: Analysis) -> Problem | None:
    """A warning if the profiles have nothing in common of which a change could matter."""
    programs = [sorted({basename(r.program) for r in of.runs if r.program}) for of in (before, after)]
    are_others = all(programs) and not {*programs[0]} & {*programs[1]}
    if any(map(may_matter, comparison.changes)) or (comparison.changes and not are_others):
        return None
    names = [", ".join(each) for each in programs] if are_others else []
    return messages.nothing_in_common(names, bool(comparison.changes))


def choose(comparison: Comparison, line: str | None, point: str | None) -> Comparison:
    """What a user asked to see: a pattern of lines, as of either profile, and a progress point.

    Raises:
        CozError: nothing is left.
    """
    both = [r for c in comparison.changes for r in (c.before, c.after)]
    everything = [*both, *comparison.only_before, *comparison.only_after]
    point = point_named(point, (r.point for r in everything))

    def is_wanted(*results: LineResult) -> bool:
        return any(
            (line is None or matches_line(line, r.location, r.function)) and point in (None, r.point)
            for r in results
        )

    chosen = Comparison(
        tuple(c for c in comparison.changes if is_wanted(c.before, c.after)),
        tuple(r for r in comparison.only_before if is_wanted(r)),
        tuple(r for r in comparison.only_after if is_wanted(r)),
    )
    if not (chosen.changes or chosen.only_before or chosen.only_after):
        if not everything:
            raise CozError(messages.no_lines_to_compare())
        named = [r for r in everything if line is None or matches_line(line, r.location, r.function)]
        if line is not None and not named:
            raise CozError(messages.nothing_matches("line", line, sorted({r.location for r in everything})))
        known = sorted({r.point for r in named})
        raise CozError(messages.nothing_matches("progress point", point or "", known))
    return chosen


def difference(before: Estimate, after: Estimate) -> Difference:
    """B less A, with its interval."""
    change = after.value - before.value
    down = math.hypot(after.value - after.low, before.high - before.value)
    up = math.hypot(after.high - after.value, before.value - before.low)
    return Difference(before, after, Estimate(change, change - down, change + up))


def _change(before: LineResult, after: LineResult, moved: bool) -> Change:
    effects = {}
    for speedup in COMPARED:
        a, b = effect_at(before, speedup), effect_at(after, speedup)
        if a is not None and b is not None:
            effects[speedup] = difference(
                Estimate(a.effect, a.low, a.high), Estimate(b.effect, b.low, b.high)
            )
    slope = difference(_slope(before), _slope(after))
    return Change(before, after, moved, slope, effects)


def _slope(result: LineResult) -> Estimate:
    return Estimate(result.slope, result.slope_low, result.slope_high)


def _rank(change: Change) -> tuple[bool, float, float, str, str, str, int]:
    found, after = change.slope.change, change.after
    sure = max(found.low, -found.high, 0.0)
    return (not change.certain, -sure, -abs(found.value), *after.key, after.arrival_speedup)


def _rank_alone(result: LineResult) -> tuple[bool, float, str, str, str, int]:
    has_few_data = Mark.FEW_DATA in result.marks
    return (has_few_data, -max(impact(result), 0.0), *result.key, result.arrival_speedup)


def baseline_periods(runs: Sequence[Run], results: Sequence[LineResult] = ()) -> dict[str, float]:
    """Of each throughput point: nanoseconds between visits in windows at speedup 0, without delays.

    What companions saved meanwhile is put back, by the slopes of `results`.
    """
    visits, elapsed = defaultdict[str, int](int), defaultdict[str, float](float)
    of_throughput = [r for r in results if r.kind == THROUGHPUT]
    slopes = {(r.arrival_speedup, r.location, r.point): r.slope for r in of_throughput}
    for run in runs:
        load = run.arrival_speedup
        for record in run.experiments:
            if record.speedup > 0:
                continue
            for point in record.points:
                if isinstance(point, ThroughputPoint):
                    saved = sum(
                        companion.speedup
                        * slopes.get((load, run.targets[companion.number].location, point.name), 0.0)
                        for companion in record.companions
                    )
                    visits[point.name] += point.visits
                    elapsed[point.name] += point.elapsed / (1 - min(saved, MAX_SAVED))
    return {name: elapsed[name] / visits[name] for name in visits if visits[name] > 0}


# Matching

Key = tuple[str, str, str, str, int]
#: Arrival speedups of the first profile by those of the second; others are the same in both.
NO_LOADS: Mapping[int, int] = MappingProxyType({})
Pair = tuple[LineResult, LineResult, bool]


def _match(
    before: Sequence[LineResult], after: Sequence[LineResult], loads: Mapping[int, int]
) -> tuple[list[Pair], list[LineResult], list[LineResult]]:
    prefixes = ("", "")
    # Regions and classes of waits have no file.
    if not ({_path(r) for r in before} & {_path(r) for r in after}) - {""}:
        prefixes = (
            common_directory([r.location for r in before]),
            common_directory([r.location for r in after]),
        )
    left = {_exact(r, prefixes[0]): r for r in before}
    right = {_exact(r, prefixes[1], loads): r for r in after}
    pairs: list[Pair] = [(left[key], right[key], False) for key in left if key in right]
    left_alone = _by_function([r for key, r in left.items() if key not in right], prefixes[0])
    right_alone = _by_function([r for key, r in right.items() if key not in left], prefixes[1], loads)
    for key in [key for key in left_alone if len(left_alone[key]) == len(right_alone.get(key, ()))]:
        pairs += [(a, b, True) for a, b in zip(left_alone.pop(key), right_alone.pop(key), strict=True)]
    return pairs, _flat(left_alone), _flat(right_alone)


def lowest_common_loads(
    before: Sequence[Run], after: Sequence[Run], same: Mapping[int, int]
) -> tuple[int, int]:
    """The arrival speedups of the lowest load that both have, -1 if there is none. same: common_loads."""
    first, second = ({run.arrival_speedup for run in of} for of in (before, after))
    pairs = [(same.get(load, load), load) for load in sorted(second)]
    return next(((a, b) for a, b in pairs if a in first), (-1, -1))


def common_loads(before: Analysis, after: Analysis) -> dict[int, int]:
    """By arrival speedup of the second profile, that of the first which amounts to the same load; if there is
    none, a number below 0.

    The interval between requests, and so what a load is in nanoseconds, is measured in each.
    """
    first, second = ({level: load for level, load in of.loads.items() if level} for of in (before, after))

    def ratio(level: int, other: int) -> float:
        """Of the rates of requests, at least 1."""
        calmer, busier = sorted((first[level], second[other]))
        return (1 - calmer) / max(1 - busier, 1e-9)

    pairs = sorted((ratio(a, b), a, b) for a in first for b in second)
    found: dict[int, int] = {}
    for difference, a, b in pairs:
        if difference <= MAX_LOAD_RATIO and b not in found and a not in found.values():
            found[b] = a
    # Equal nanoseconds are no equal load, unless a load is not known.
    return {b: found.get(b, -b) for b in second}


def _exact(
    result: LineResult, prefix: str, loads: Mapping[int, int] = NO_LOADS
) -> tuple[int, str, str, str, str, str]:
    return (
        loads.get(result.arrival_speedup, result.arrival_speedup),
        result.target,
        shorten(result.location, prefix),
        short_function(result.function),
        result.point,
        result.kind,
    )


def _by_function(
    results: Sequence[LineResult], prefix: str, loads: Mapping[int, int] = NO_LOADS
) -> dict[Key, list[LineResult]]:
    """Lines by file, function, point, kind and load, in order of line number; other targets have none."""
    found: defaultdict[Key, list[LineResult]] = defaultdict(list)
    for result in results:
        is_line = result.target == "line" and bool(result.function)
        file = shorten(_path(result), prefix) if is_line else result.location
        function = short_function(result.function) if is_line else "\0" + result.target
        load = loads.get(result.arrival_speedup, result.arrival_speedup)
        found[file, function, result.point, result.kind, load].append(result)
    return {key: sorted(members, key=_line_of) for key, members in found.items()}


def _path(result: LineResult) -> str:
    return file_of(result.location, result.function)


def _line_of(result: LineResult) -> int:
    return line_number(result.location)


def _flat(found: dict[Key, list[LineResult]]) -> list[LineResult]:
    return [result for members in found.values() for result in members]
