"""What `coz bias` found, as text and JSON."""

from __future__ import annotations

import json
import shlex
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from cozcli import __version__
from cozcli.bias.result import OFFSETS, PAGE, Aliasing, Bias, Change, Factor, slow_sizes
from cozcli.bias.verdict import limit_of
from cozcli.messages import count, listed, printable
from cozcli.reports.cells import p_text

FORMAT, VERSION = "coz-bias", 1
#: Events that are shown follow cycles beyond chance (false discovery rate), and closely.
SIGNIFICANT, CLOSE, MAX_EVENTS = 0.01, 0.5, 20
_BADLY_ALIGNED = "Data on the stack are badly aligned, perhaps across two cache lines: align them (alignas)"
_NOUNS = {
    "environment": "environment size",
    "stack": "stack position",
    "heap": "heap placement",
    "code": "order of functions",
    "aslr": "ASLR",
}


class Report(NamedTuple):
    """command: what was run. margin: differences below do not matter. randomised: the default is."""

    command: Sequence[str]
    bias: Bias
    margin: float
    seed: int
    randomised: bool


def render_json(report: Report) -> str:
    """All figures as fractions."""
    bias = report.bias
    data = {
        "format": FORMAT,
        "version": VERSION,
        "coz": __version__,
        "command": list(report.command),
        "margin": report.margin,
        "layout_seed": report.seed,
        "randomised": report.randomised,
        "runs": bias.runs,
        "seconds": bias.seconds,
        "factors": [factor._asdict() for factor in bias.factors],
        "default_rank": bias.default_rank,
        "aliasing": [_aliasing_json(each) for each in bias.aliasing],
        "verdict": bias.verdict,
        # Of what is inconclusive, nothing follows yet.
        "randomise": list(bias.randomise) if bias.verdict == "needed" else [],
        "fold_p": bias.fold_p,
        "counters": None if bias.counters is None else [each._asdict() for each in bias.counters],
        "layouts": list(bias.layouts),
        "sweep": [{"environment": size, "time": time} for size, time in sorted(bias.sweep.times.items())],
    }
    return json.dumps(data, indent=1) + "\n"


def _aliasing_json(each: Aliasing) -> dict[str, Any]:
    return {
        "factor": each.factor,
        "residue": each.residue,
        "period": each.period,
        "slowdown": each.slowdown.ratio - 1,
        "low": each.slowdown.low - 1,
        "high": each.slowdown.high - 1,
        "p": each.p,
        "objects": list(each.objects),
        "objects_from": "model",
        "remedy": each.remedy,
        "remedied": None if each.remedied is None else each.remedied.ratio - 1,
        "remedied_low": None if each.remedied is None else each.remedied.low - 1,
        "remedied_high": None if each.remedied is None else each.remedied.high - 1,
        "replaced": {
            name: {"change": left.ratio - 1, "low": left.low - 1, "high": left.high - 1}
            for name, left in each.replaced.items()
        },
    }


def render_text(report: Report) -> str:
    """A table of factors, the default's rank, slow places, events that go with them, and the verdict."""
    bias = report.bias
    parts = [
        printable(shlex.join(report.command)),
        _table(bias.factors),
        rank_sentence(report),
        *(_slow_place(each) for each in bias.aliasing),
        _counters(bias),
        verdict_sentence(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(factors: Sequence[Factor]) -> str:
    from cozcli.reports.console import plain_table  # which needs rich

    headings = ("Factor", "Share of variance", "95 %", "Deviation between places", "95 %", "Places")
    rows = [
        (
            _NOUNS[each.factor],
            f"{100 * each.share:.0f} %",
            f"{100 * each.low:.0f} to {100 * each.high:.0f} %",
            f"{100 * each.deviation:.2f} %",
            f"{100 * each.deviation_low:.2f} to {100 * each.deviation_high:.2f} %",
            str(each.levels),
        )
        for each in factors
    ]
    return plain_table(headings, rows)


def _counters(bias: Bias) -> str:
    from cozcli.reports.console import plain_table  # which needs rich

    found = bias.counters
    if found is None:
        return ""
    shown = [each for each in found if each.p < SIGNIFICANT and abs(each.r) >= CLOSE]
    if not shown:
        return f"Of {count(len(found), 'hardware event')} none goes with cycles from place to place."
    headings = ("Event", "r", "Median", *_slow_places(bias.aliasing))
    rows = [
        (each.event, f"{each.r:+.2f}", *(f"{value:,.0f}" for value in (each.median, *each.slow)))
        for each in shown[:MAX_EVENTS]
    ]
    return "Hardware events by their correlation with cycles:\n\n" + plain_table(headings, rows)


def _slow_places(aliasing: Sequence[Aliasing]) -> list[str]:
    """In the order of `counters.places_of`."""
    sizes = [f"At {residue + page}" for residue in slow_sizes(aliasing) for page in (0, PAGE)]
    return sizes or ["By default" for each in aliasing if each.factor == "heap"]


def rank_sentence(report: Report) -> str:
    """Where the default stands among random layouts."""
    layouts = report.bias.layouts
    median = 100 * (statistics.median(layouts) - 1)
    than = "slower" if median > 0 else "faster"
    rank = 100 * report.bias.default_rank
    # Where placement does not matter, the slowest is the one with most noise.
    matters = any(factor.deviation_low > 0 for factor in report.bias.factors)
    slowest = f", the slowest {100 * (max(layouts) - 1):.1f} % slower" if matters else ""
    return (
        f"The default is faster than {rank:.0f} % of {len(layouts)} random layouts; "
        f"their median is {abs(median):.1f} % {than}{slowest}."
    )


def _slow_place(each: Aliasing) -> str:
    slower = f"{_change(each.slowdown)} slower"
    p = f"(p = {p_text(each.p)})"
    if each.factor == "heap":
        text = f"Big blocks of the heap: {slower} where the allocator puts them than at random offsets {p}."
        other = f"the best of {OFFSETS} offsets"
    else:
        residue = (each.residue or 0) % each.period
        other = "other sizes"
        text = f"{residue} more bytes in the environment, modulo {each.period}: {slower} than {other} {p}."
    if each.remedied is None:
        text += "" if each.remedy else f" {_BADLY_ALIGNED}."
    else:
        helps = {each.remedy: each.remedied, **{f"With {name}": left for name, left in each.replaced.items()}}
        text += f" Time over that of {other}:"
        text += "".join(f"\n  {name}: {_change(left)}" for name, left in helps.items())
    if each.objects:
        text += "\n  What collides, by a model of the processor:\n    " + "\n    ".join(each.objects)
    return text


def verdict_sentence(report: Report) -> str:
    """What follows for comparisons of this program."""
    bias = report.bias
    margin = f"{100 * report.margin:g} %"
    names = listed([_NOUNS[each] for each in bias.randomise])
    match bias.verdict:
        case "needed":
            text = (
                f"Compare builds of this program by coz compare, which randomises layouts: {names} alone can "
                f"make differences beyond {margin}."
            )
        case "not needed":
            text = f"Layouts need no more randomising: {_harmless(report)} differences beyond {margin}."
        case _:
            text = (
                f"Inconclusive: {names} may or may not make differences beyond {margin}. Give it more time "
                "(--duration)."
            )
    return text


def _harmless(report: Report) -> str:
    limit = limit_of(report.margin)
    if any(each.factor == "aslr" and each.deviation_high > limit for each in report.bias.factors):
        return f"only {_NOUNS['aslr']}, which is on, may make"
    return "nothing that was varied makes"


def _change(each: Change) -> str:
    return f"{100 * (each.ratio - 1):.1f} % [{100 * (each.low - 1):.1f}, {100 * (each.high - 1):.1f}]"
