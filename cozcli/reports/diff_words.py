"""What the reports of `coz diff` share: the two sides, the sentences, and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cozcli.analysis.compare import Change, Comparison, Difference, may_matter
from cozcli.analysis.rank.rest import MANY, MIN_SHOWN, TELLING, hardly_matters, sum_up
from cozcli.analysis.result import Analysis, LineResult
from cozcli.messages import count, duration
from cozcli.reports.base import common_directory, percent, signed
from cozcli.reports.intervals import interval
from cozcli.reports.summary import describe_rest
from cozcli.reports.targets import function_cell, target_name

#: Follows a change that is more than chance, even when corrected for the number of lines.
CERTAIN = "*"
MAX_ALONE = 10


def split(comparison: Comparison) -> tuple[Comparison, str]:
    """The comparison with what a reader should see, and a sentence on the other changes, if there are any.

    Left out are lines that are certain to matter little in both profiles, as combined windows tell.
    """
    changes = comparison.changes
    is_all = not any(map(may_matter, changes))
    others = changes if is_all else changes[MIN_SHOWN:] if len(changes) > MANY else ()
    rest = [change for change in others if not may_matter(change)]
    found = sum_up([result for change in rest for result in (change.before, change.after)])
    if found is None:
        return comparison, ""
    left_out = {id(change) for change in rest}
    kinds = {change.after.target for change in rest}
    noun = kinds.pop() if kinds in ({"line"}, {"function"}) else "target"
    number = _number_of_targets([change.after for change in rest])
    most = 100 * max(found.gain, found.loss)
    sentence = (
        f"{count(number, noun if is_all else f'other {noun}')}: no certain change, and at most "
        f"{most:.1f} % at {100 * TELLING:.0f} % in either profile (95 % intervals)."
    )
    return replace(comparison, changes=tuple(c for c in changes if id(c) not in left_out)), sentence


def _number_of_targets(results: Sequence[LineResult]) -> int:
    """Some have results on several points."""
    return len({(result.target, result.location) for result in results})


@dataclass(frozen=True)
class Sides:
    """What a comparison is of. `periods`: of each throughput point, in nanoseconds, A and B."""

    names: tuple[str, str]
    analyses: tuple[Analysis, Analysis]
    periods: Mapping[str, tuple[float, float]]


def headline(comparison: Comparison, sides: Sides) -> list[str]:
    """What came out in a sentence, then the two profiles and their periods."""
    certain = [change for change in comparison.changes if change.certain]
    if certain:
        change = certain[0]
        name, slope = function_cell(change.after).strip("-"), change.slope
        where = location_name(change, common_prefix(comparison)) + (f" ({name})" if name else "")
        first = (
            f"{count(len(certain), 'change')} more than chance; the surest: {where} on "
            f"{point_name(change.after)}, slope {signed(slope.before.value)} → "
            f"{signed(slope.after.value)}: it {_meaning(slope)}."
        )
    elif comparison.changes:
        number = _number_of_targets([change.after for change in comparison.changes])
        first = f"No certain change in {count(number, 'line')} that both profiles have."
    else:
        first = "The profiles have no line and progress point in common."
    lines = [first]
    for letter, name, analysis in zip("AB", sides.names, sides.analyses, strict=True):
        lines.append(f"{letter}: {name}, {count(analysis.experiments, 'experiment')}")
    for point, (a, b) in sides.periods.items():
        lines.append(f"Period of {point}: {_time(a)} → {_time(b)} ({percent(b / a - 1)} %)")
    return lines


def alone(comparison: Comparison, sides: Sides, prefix: str) -> list[str]:
    """What only one of the profiles has."""
    lines = []
    for letter, found in zip("AB", (comparison.only_before, comparison.only_after), strict=True):
        if found:
            matter = [result for result in found if not hardly_matters(result)]
            shown, more = matter[:MAX_ALONE], len(found) - len(matter[:MAX_ALONE])
            if not shown:
                lines.append(
                    f"Only in {letter}: {count(more, 'result')} that hardly matter{'s' if more == 1 else ''}"
                )
                continue
            lines.append(f"Only in {letter}:")
            lines += [
                f"  {result_name(result, prefix)} on {point_name(result)}, slope {signed(result.slope)}"
                + ("*" if result.significant else "")
                for result in shown
            ]
            if more == len(found) - len(matter) > 0:
                lines.append(f"  and {describe_rest([result for result in found if hardly_matters(result)])}")
            elif more:
                lines.append(f"  and {more} more that matter less")
    return lines


def _meaning(slope: Difference) -> str:
    a, b = slope.before.value, slope.after.value
    if a < 0 and b < 0:
        return "does more harm when it is faster" if b < a else "does less harm when it is faster"
    return "matters more" if b > a else "matters less"


def interval_of_change(found: Difference) -> str:
    """`±1.2` or `Δ [-0.3, +12.5]`, in per cent."""
    text = interval(found.change.value, found.change.low, found.change.high)
    return text.replace("[", "Δ [")


def location_name(change: Change, prefix: str) -> str:
    """Where the line is now, and, if it moved, which number it had."""
    after = result_name(change.after, prefix)
    if not change.moved:
        return after
    return f"{after} (was {change.before.location.rpartition(':')[2]})"


def result_name(result: LineResult, prefix: str) -> str:
    """The target, and the load, of which there may be several."""
    name, speedup = target_name(result, prefix), result.arrival_speedup
    return f"{name} (arrivals {duration(speedup)} earlier)" if speedup else name


def point_name(result: LineResult) -> str:
    """The progress point, and whether its latency is meant."""
    return result.point if result.kind == "throughput" else f"{result.point} (latency)"


def common_prefix(comparison: Comparison) -> str:
    """What all locations begin with."""
    results: Sequence[LineResult] = [change.after for change in comparison.changes]
    return common_directory([r.location for r in (*results, *comparison.only_before, *comparison.only_after)])


def _time(nanoseconds: float) -> str:
    return duration(nanoseconds) if nanoseconds >= 1000 else f"{nanoseconds:.3g} ns"
