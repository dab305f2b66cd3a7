"""`coz lines`: what `coz run` could select in a program. The program is not run."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator

from cozcli.commands import messages
from cozcli.commands import options as shared
from cozcli.errors import CozError
from cozcli.launch.helper import Helper
from cozcli.launch.line_tables import Scope, build_tables
from cozcli.launch.preflight import check_program, find_program
from cozcli.launch.runtime_library import find_installation

#: A line (or function) by its location, and its function.
Location = tuple[str, str]


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "lines",
        help="list the lines that can be selected",
        usage="coz lines [options] PROGRAM",
        description="List the lines of a program that coz run may select, without running it. On a terminal "
        "they are grouped by file and function. In a file or pipe each is a line FILE:LINE, tab, function; "
        "coz run --fixed-lines FILE takes such a list.",
        epilog="In patterns % stands for any text, as for coz run.",
        allow_abbrev=False,
    )
    shared.add_scope_options(parser, ("line", "function"))
    parser.add_argument(
        "--line",
        metavar="PATTERN",
        help="only these: FILE:LINE, FILE, a function, or a pattern with %% for any text",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("words", nargs="*", metavar="PROGRAM", help="the program")
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Look the program up as `coz run` does, and print."""
    words = [*options.words, *options.program]
    # Behind the dashes stands a command line, as for `coz run`; before them only the program.
    if not words or len(options.words) > 1:
        raise CozError(messages.lines_of_what(options.words))
    terminal = shared.terminal_width() if not options.json else None
    if terminal is not None:
        shared.require_packages("rich")
    scope = Scope(options.source_scope, options.binary_scope, options.granularity)
    program = find_program(words[0])
    elf = check_program(program)
    helper = Helper(find_installation().helper, options.debuginfod, scope.functions)
    tables = build_tables(helper, program, elf.interpreter, scope)
    locations = tables.listed()
    if options.line is not None:
        locations = _matching(locations, options.line, options.granularity)
    if options.json:
        _print_json(locations, options.granularity)
    elif terminal is not None:
        from cozcli.reports.line_list import print_list

        print_list(locations, scope.functions, terminal)
    else:
        for location, function in locations:
            _write(f"{location}\t{function}\n")
    shared.print_warnings(tables.warnings)
    return 0


def _matching(locations: Iterable[Location], pattern: str, granularity: str) -> Iterator[Location]:
    """Those that match, as in `coz report --line`.

    Raises:
        CozError: none does.
    """
    from cozcli.analysis.input.locations import matches_line

    any_matches = False
    for location, function in locations:
        if matches_line(pattern, location, function):
            any_matches = True
            yield location, function
    if not any_matches:
        raise CozError(messages.no_line_matches(granularity, pattern))


def _print_json(locations: Iterable[Location], granularity: str) -> None:
    """One object, written as it comes: a large program has millions of lines."""
    name = {"line": "lines", "function": "functions"}[granularity]
    separator = f'{{"{name}": [\n'
    for location, function in locations:
        _write(separator + json.dumps({"location": location, "function": function}))
        separator = ",\n"
    _write("\n]}\n")


def _write(text: str) -> None:
    """Paths are bytes to the system: they leave as they came, whatever the locale."""
    sys.stdout.buffer.write(os.fsencode(text))
