"""What reports share: the protocol, names short enough to read, and numbers as people write them."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Protocol

from cozcli.analysis.input.functions import short_function as short_function
from cozcli.analysis.input.locations import CALLED_FROM as CALLED_FROM
from cozcli.analysis.input.locations import REGION as REGION
from cozcli.analysis.input.locations import common_directory as common_directory
from cozcli.analysis.input.locations import shorten as shorten
from cozcli.analysis.input.locations import waits_of as waits_of
from cozcli.analysis.result import Analysis, Caller, Holder, LineResult
from cozcli.messages import count, seconds

#: Follows a slope that differs from 0 even with all lines looked at.
SIGNIFICANT = "*"

#: The virtual speedups of a line whose effects are shown.
SHOWN = (0.25, 0.50, 0.75)
#: Profiling that slows a program down by less is not mentioned.
MENTIONED_SLOWDOWN = 0.1
#: Characters of a program and its arguments.
COMMAND_LENGTH = 160


class Report(Protocol):
    """A report renders one analysis as text. Pictures go to a file instead: see figure.py."""

    def render(self, analysis: Analysis) -> str:
        """The whole report, ending in a newline."""


def with_share(place: Caller | Holder, unknown: str, prefix: str) -> str:
    """`cache.cpp:40 (fill) 70%`; `unknown` stands for a location that is empty."""
    location = shorten(place.location, prefix) if place.location else unknown
    name = short_function(place.function) if place.location else ""
    return f"{location} ({name}) {place.share:.0%}" if name else f"{location} {place.share:.0%}"


def percent(fraction: float) -> str:
    """`+12.3`; very large slow-downs without decimals."""
    return signed(100 * fraction, 1 if abs(100 * fraction) < 1000 else 0)


def signed(value: float, decimals: int = 2) -> str:
    """With its sign, but for what is rounded to 0: `0.00`."""
    text = f"{value:+,.{decimals}f}"
    return text if text.strip("+-0.") else text[1:]


def rounded(value: float) -> float | None:
    """Six significant digits: more is noise, and would differ between machines' libraries."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def short_point(analysis: Analysis, name: str, prefix: str) -> str:
    """A progress point's name; of one without a macro, that it is sampled, and no folders or parameters."""
    by = analysis.counted_by.get(name)
    if by is None:
        return name
    short = shorten(name, prefix)
    short = os.path.basename(short) if short.startswith("/") else short_function(short)
    return f"{short} (sampled)" if by == "samples" else short


def describe_points(analysis: Analysis, prefix: str) -> list[str]:
    """What counted the visits of points without macros; a line for each means."""
    means = {
        "hardware": "Counted by hardware breakpoints",
        "breakpoint": "Counted by breakpoint instructions",
        "samples": "Counted by samples, not visits",
    }
    found: dict[str, list[str]] = {}
    for name, by in analysis.counted_by.items():
        found.setdefault(by, []).append(short_point(analysis, name, prefix).removesuffix(" (sampled)"))
    return [f"{text}: {', '.join(found[by])}" for by, text in means.items() if by in found]


def experiments(result: LineResult) -> str:
    """Windows behind a result; of combined ones `8+430`, as main target with its baselines, and as a
    companion.
    """
    companion = f"+{result.companion_windows}" if result.is_combined else ""
    return f"{result.experiments}{companion}"


def describe_overheads(analysis: Analysis, prefix: str) -> list[str]:
    """How much slower profiling makes the program, where that is worth mentioning."""
    costs = [
        f"{short_point(analysis, point, prefix)}{'' if kind == 'throughput' else ' (latency)'} "
        f"{100 * (cost.slowdown - 1):.0f} % slower"
        for (point, kind), cost in analysis.overheads.items()
        if cost.slowdown - 1 >= MENTIONED_SLOWDOWN
    ]
    if not costs:
        return []
    return [f"Effects are of the program by itself: profiling makes {', '.join(costs)}"]


def shortened(command: str) -> str:
    """A command of at most `COMMAND_LENGTH` characters: some programs are given hundreds of files."""
    if len(command) <= COMMAND_LENGTH:
        return command
    return command[: COMMAND_LENGTH - 2].rstrip() + " …"


def describe_runs(analysis: Analysis) -> list[str]:
    """The header: program, runs, experiments, time."""
    programs = list(dict.fromkeys(run.program for run in analysis.runs if run.program))
    if programs:
        name = ", ".join(programs)
        arguments = {tuple(run.arguments) for run in analysis.runs}
        if len(programs) == len(arguments) == 1 and (same := arguments.pop()):
            name = shortened(" ".join((name, *same)))
    else:
        sources = dict.fromkeys(Path(run.source).name for run in analysis.runs)
        name = f"unnamed program in {', '.join(sources)}"
    with_data = sum(run.experiments > 0 for run in analysis.runs)
    runs = count(len(analysis.runs), "run")
    if with_data < len(analysis.runs):
        runs += f" ({with_data} with data)"
    processes = sum(run.processes for run in analysis.runs)
    if processes > len(analysis.runs):
        runs += f" of {processes:,} processes"
    total = f"{count(analysis.experiments, 'experiment')} in {runs}, {seconds(analysis.real_time)} in all"
    return [f"Program: {name}", f"Profile: {total}"]
