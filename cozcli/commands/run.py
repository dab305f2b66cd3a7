"""`coz run`: profile a program. Checks first, then stands aside, then says what came of it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from cozcli.commands.options import DEFAULT_PROFILE, print_warnings
from cozcli.errors import CozError
from cozcli.launch import messages
from cozcli.launch.aftermath import append_ending, describe
from cozcli.launch.environment import Settings, make_environment, random_seed
from cozcli.launch.helper import Helper
from cozcli.launch.line_tables import LineTables, prepare
from cozcli.launch.preflight import Output, check_program, find_program, open_output
from cozcli.launch.program import end_like, run_program
from cozcli.launch.runtime_library import find_installation
from cozcli.launch.table_service import TableService, Wanted
from cozcli.messages import printable

#: Sampling periods: below, sampling would be all that the program does; above, it sees nothing.
SHORTEST_PERIOD, LONGEST_PERIOD = 100_000, 100_000_000
_UNITS = {"": 1, "ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "run",
        help="profile a program",
        usage="coz run [options] --- PROGRAM [ARGUMENTS]",
        description="Run a program and measure which of its lines are worth optimizing. The program keeps "
        "its terminal, its signals and its exit status.",
        epilog="In patterns % stands for any text. For -s the end of a path does (queue.cpp, src/queue.cpp). "
        "-b wants the whole path, as in %/libfoo.so%.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=DEFAULT_PROFILE,
        help="profile to write, or to add this run to (default: %(default)s)",
    )
    parser.add_argument(
        "-s",
        "--source-scope",
        metavar="PATTERN",
        action="append",
        default=[],
        type=_pattern,
        help="source files whose lines may be selected (default: those of the program); repeatable",
    )
    parser.add_argument(
        "-b",
        "--binary-scope",
        metavar="PATTERN",
        action="append",
        default=[],
        type=_pattern,
        help="binaries whose lines may be selected, also such as the program loads later; MAIN is the "
        "program (default: MAIN); repeatable",
    )
    parser.add_argument(
        "--debuginfod",
        action="store_true",
        help="ask the servers in DEBUGINFOD_URLS for debug information that is not on this machine",
    )
    parser.add_argument("--fixed-line", metavar="FILE:LINE", type=_line, help="select this line only")
    parser.add_argument(
        "--fixed-speedup", metavar="N", type=_percent, help="use this speedup only, in per cent (0 to 100)"
    )
    parser.add_argument(
        "--granularity",
        choices=("line", "function", "callpath"),
        default="line",
        help="what is sped up at a time: a line, a whole function, or a line under one caller "
        "(default: %(default)s)",
    )
    parser.add_argument("--end-to-end", action="store_true", help="make the whole run one experiment")
    parser.add_argument(
        "--period",
        metavar="TIME",
        type=_period,
        help="time between samples, 100us to 100ms, with its unit: ns, us, ms or s; a bare number is in "
        "nanoseconds (default: 1ms)",
    )
    parser.add_argument("--seed", metavar="N", type=_seed, help="repeat the random choices of a run")
    parser.add_argument(
        "--sampling",
        choices=("auto", "perf-trap", "perf-signal", "timer", "off"),
        default="auto",
        help="how to sample (default: %(default)s); off: not at all, to see what the profiler itself costs",
    )
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Profile `options.program`, a list: the program and its arguments."""
    if not options.program:
        raise CozError(messages.no_program(options.words))
    program = find_program(options.program[0])
    elf = check_program(program)
    installation = find_installation()
    output = open_output(options.output)
    try:
        helper = Helper(installation.helper, options.debuginfod)
        tables = prepare(
            helper,
            program,
            elf.interpreter,
            options.source_scope,
            options.binary_scope,
            options.fixed_line,
        )
        settings = Settings(
            library=installation.library,
            program=program,
            output=output.path,
            tables=tuple(tables.tables),
            seed=random_seed() if options.seed is None else options.seed,
            source_scope=options.source_scope,
            # One that is yet to come is known by the user's name for it.
            fixed_line=tables.fixed_line or _normalised(options.fixed_line),
            fixed_speedup=options.fixed_speedup,
            end_to_end=options.end_to_end,
            period=options.period,
            sampling=options.sampling,
            granularity=options.granularity,
        )
        print_warnings(tables.warnings)
        if output.appends:
            _say(messages.appending(options.output))
        service = _make_service(helper, tables, options, installation.library)
        return _run(program, options.program, settings, output, options.output, service)
    except (CozError, KeyboardInterrupt):
        output.discard_if_empty()
        raise


def _make_service(
    helper: Helper, tables: LineTables, options: argparse.Namespace, library: Path
) -> TableService | None:
    """What makes tables while the program runs, where it may load something that is in scope."""
    if not tables.later:
        return None
    line = None if tables.fixed_line else options.fixed_line
    wanted = Wanted(tables.later, {*tables.examined, str(library)}, options.source_scope, line)
    try:
        return TableService(helper, wanted, print_warnings)
    except OSError as error:
        print_warnings([messages.table_socket_failed(error.strerror or str(error))])
        return None


def _run(
    program: Path,
    arguments: Sequence[str],
    settings: Settings,
    output: Output,
    name: str,
    service: TableService | None,
) -> int:
    beginning = output.begin()
    ending = run_program(program, arguments, make_environment(settings, os.environ), service)
    # From here on, whatever fails, the program's own ending is what the caller must see.
    try:
        append_ending(output.path, beginning, ending)
        print_warnings(service.missed() if service else [])
        outcome = describe(output.path, beginning, name)
        if isinstance(outcome, str):
            _say(outcome)
        else:
            print_warnings([outcome])
    except OSError as error:
        _say(messages.profile_incomplete(name, error.strerror or str(error)))
    output.discard_if_empty()
    sys.stdout.flush()
    return end_like(ending)


def _normalised(line: str | None) -> str:
    return os.path.normpath(line) if line else ""


def _say(text: str) -> None:
    print(f"coz: {printable(text)}", file=sys.stderr, flush=True)


def _pattern(text: str) -> str:
    if not text or "\n" in text:
        raise argparse.ArgumentTypeError("a pattern must be one line of text")
    return text


def _line(text: str) -> str:
    if not re.fullmatch(r"[^\n]+:[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not FILE:LINE, as in queue.cpp:10")
    return text


def _percent(text: str) -> int:
    digits = text.removesuffix("%").strip()
    if not re.fullmatch(r"[0-9]{1,3}", digits) or int(digits) > 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of per cent from 0 to 100")
    return int(digits)


def _period(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,12})\s*(ns|us|µs|ms|s|)", text)
    period = int(match[1]) * _UNITS[match[2]] if match else 0
    if not SHORTEST_PERIOD <= period <= LONGEST_PERIOD:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time from 100us to 100ms (a bare number is in nanoseconds)"
        )
    return period


def _seed(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,20}", text) or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2^64 − 1")
    return int(text)
