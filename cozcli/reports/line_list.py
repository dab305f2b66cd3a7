"""The lines of a program for a terminal: by file and function, runs of lines drawn together."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cozcli.messages import count, printable
from cozcli.reports.base import common_directory, short_function
from cozcli.reports.console import color_system

#: Of the terminal's columns, those that functions' names may take.
NAMES = 0.5
INDENT = 2


def print_list(
    locations: Iterable[tuple[str, str]], functions: bool, width: int, stream: TextIO | None = None
) -> None:
    """Print lines (or functions) that come file by file.

    Args:
        locations: location and function of each. functions: locations are `path:function`.
        width: of the terminal.
    """
    console = Console(
        file=stream or sys.stdout,
        width=width,
        height=25,  # without it, rich takes a simple terminal for one of 80 columns
        force_terminal=True,
        color_system=color_system(),
        highlight=False,
        legacy_windows=False,
    )
    files = [
        (path, [(_name(location, function, functions), function) for location, function in group])
        for path, group in itertools.groupby(
            locations, key=lambda found: _path(found[0], found[1], functions)
        )
    ]
    prefix = common_directory([f"{path}:1" for path, _ in files])
    if prefix and len(files) > 1:
        console.print(Text(printable(f"Files are below {prefix}")), soft_wrap=True)
    noun = "function" if functions else "line"
    for path, found in files:
        name = path.removeprefix(prefix) if len(files) > 1 else path
        heading = Text(printable(name), style="bold")
        heading.append(f"  {count(len(found), noun)}", style="not bold dim")
        console.print(heading, soft_wrap=True)
        if functions:
            for _, function in found:
                console.print(Text(" " * INDENT + printable(function)), soft_wrap=True)
        else:
            console.print(_table(found, width))
    total = sum(len(found) for _, found in files)
    console.print(Text(f"{count(total, noun)} in {count(len(files), 'file')}", style="dim"))


def _path(location: str, function: str, functions: bool) -> str:
    """The part of a location that names a file."""
    return location.removesuffix(f":{function}") if functions else location.rpartition(":")[0]


def _name(location: str, function: str, functions: bool) -> str:
    return function if functions else location.rpartition(":")[2]


def _table(found: Sequence[tuple[str, str]], width: int) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(width=INDENT - 2, no_wrap=True)
    table.add_column(overflow="ellipsis", no_wrap=True, max_width=int(width * NAMES))
    table.add_column(overflow="fold", style="cyan")
    by_function: dict[str, list[int]] = {}
    for number, function in found:
        by_function.setdefault(function, []).append(int(number))
    # Templates' instances and overloads look alike when short; numbers then tell them apart.
    for function, numbers in by_function.items():
        name = printable(short_function(function)) or "-"
        table.add_row("", Text(name), ", ".join(_runs(numbers)))
    return table


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    """`3–5` for 3, 4, 5."""
    start = 0
    for index in range(1, len(numbers) + 1):
        if index == len(numbers) or numbers[index] != numbers[index - 1] + 1:
            first, last = numbers[start], numbers[index - 1]
            yield f"{first}" if first == last else f"{first}–{last}"
            start = index
