"""`coz run`: profile a program. Checks first, then stands aside, then says what came of it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from cozcli.commands.options import DEFAULT_PROFILE, add_scope_options, print_warnings
from cozcli.errors import CozError
from cozcli.launch import load, messages, point_messages
from cozcli.launch.aftermath import append_ending, costly_points, describe, never_sampled
from cozcli.launch.environment import Settings, make_environment, random_seed
from cozcli.launch.fixed_targets import FixedTarget, Wanted, is_line, read_fixed_lines
from cozcli.launch.helper import Helper
from cozcli.launch.line_tables import LineTables, Scope, build_tables
from cozcli.launch.load import Load, describe_load
from cozcli.launch.points import WantedPoints, place_points, split_pair
from cozcli.launch.preflight import Output, check_program, find_program, open_output
from cozcli.launch.program import end_like, run_program
from cozcli.launch.runtime_library import find_installation
from cozcli.launch.table_service import Later, TableService
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
    add_scope_options(parser, ("line", "function", "callpath"))
    _add_choices(parser)
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
    _add_points(parser)
    load.add_options(parser)
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    parser.set_defaults(execute=execute, parser=parser)


def _add_choices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fixed-line",
        metavar="FILE:LINE",
        action="append",
        default=[],
        type=_line,
        help="select this line only; repeatable",
    )
    parser.add_argument(
        "--fixed-lines",
        metavar="FILE",
        action="append",
        default=[],
        help="select only the lines that FILE lists, FILE:LINE, one a line (as coz lines prints them); "
        "repeatable",
    )
    parser.add_argument(
        "--fixed-function",
        metavar="NAME",
        action="append",
        default=[],
        type=_name,
        help="with --granularity function: select this function only; repeatable",
    )
    parser.add_argument(
        "--fixed-region",
        metavar="NAME",
        action="append",
        default=[],
        type=_name,
        help="select this region (COZ_REGION_BEGIN) only; repeatable",
    )
    speedups = parser.add_mutually_exclusive_group()
    speedups.add_argument(
        "--fixed-speedup", metavar="N", type=_percent, help="use this speedup only, in per cent (0 to 100)"
    )
    speedups.add_argument(
        "--speedups",
        metavar="N,N,...",
        type=_speedups,
        default=(),
        help="use these speedups, in per cent, instead of 10,25,40,50,75,100; 0 is always among them",
    )


def _add_points(parser: argparse.ArgumentParser) -> None:
    points = parser.add_argument_group(
        "progress points without marks in the source",
        "A place is FILE:LINE, a function, or FILE:FUNCTION, with % for any text; it must be one place. "
        "All but --progress-by may be repeated.",
    )
    points.add_argument(
        "--progress",
        metavar="PLACE",
        action="append",
        default=[],
        type=_name,
        help="a visit each time the line is reached, or the function is entered",
    )
    points.add_argument(
        "--progress-sampled",
        metavar="FILE:LINE",
        action="append",
        default=[],
        type=_line,
        help="a visit for each sample in the line: for places that are passed too often to be counted",
    )
    points.add_argument(
        "--latency",
        metavar="BEGIN,END",
        action="append",
        default=[],
        type=_pair,
        help="the time from one place to the other, which may be in another thread",
    )
    points.add_argument(
        "--progress-by",
        choices=("auto", "hardware", "breakpoint"),
        default="auto",
        help="what counts visits: the processor's breakpoints, of which there are four, or breakpoint "
        "instructions written into the program's code (default: %(default)s)",
    )


def execute(options: argparse.Namespace) -> int:
    """Profile `options.program`, a list: the program and its arguments."""
    if not options.program:
        raise CozError(messages.no_program(options.words))
    wanted_load = Load(options.arrival_speedup or "", options.arrival_rate or "")
    load.check(wanted_load, end_to_end=options.end_to_end, sampling=options.sampling)
    scope = Scope(options.source_scope, options.binary_scope, options.granularity)
    wanted = _wanted(options, scope)
    program = find_program(options.program[0])
    elf = check_program(program)
    installation = find_installation()
    output = open_output(options.output)
    try:
        helper = Helper(installation.helper, options.debuginfod, scope.functions)
        tables = build_tables(helper, program, elf.interpreter, scope, more_may_come=True)
        fixed = tables.select(wanted) if wanted or not options.fixed_region else []
        # Lines that are yet to come are known by the user's names for them.
        awaited = [FixedTarget("line", os.path.normpath(want.text)) for want in tables.awaited]
        fixed += [FixedTarget("region", name) for name in dict.fromkeys(options.fixed_region)]
        points = WantedPoints(
            options.progress,
            options.progress_sampled,
            options.latency,
            options.progress_by,
            options.arrival,
            wanted_load.is_on,
        )
        if points.sampled and options.sampling == "off":
            raise CozError(point_messages.sampled_without_samples())
        settings = Settings(
            library=installation.library,
            program=program,
            output=output.path,
            tables=tuple(tables.tables),
            seed=random_seed() if options.seed is None else options.seed,
            source_scope=options.source_scope,
            fixed=[*fixed, *awaited],
            fixed_speedup=options.fixed_speedup,
            speedups=options.speedups,
            end_to_end=options.end_to_end,
            period=options.period,
            sampling=options.sampling,
            granularity=options.granularity,
            points=place_points(installation.helper, tables, points),
            load=wanted_load,
        )
        print_warnings(tables.warnings)
        if output.appends:
            _say(messages.appending(options.output))
        service = _make_service(tables, installation.library)
        return _run(program, options.program, settings, output, options.output, service)
    except (CozError, KeyboardInterrupt):
        output.discard_if_empty()
        raise


def _wanted(options: argparse.Namespace, scope: Scope) -> list[Wanted]:
    """The lines or functions that the user named.

    Raises:
        CozError: they are not what experiments are on, or a file of lines is no good.
    """
    if scope.functions and (options.fixed_line or options.fixed_lines):
        option = "--fixed-line" if options.fixed_line else "--fixed-lines"
        raise CozError(messages.fixed_needs_granularity(option, scope.granularity))
    if options.fixed_function and not scope.functions:
        raise CozError(messages.fixed_needs_granularity("--fixed-function", scope.granularity))
    wanted = [Wanted("line", text) for text in options.fixed_line]
    for name in options.fixed_lines:
        wanted += read_fixed_lines(name)
    return wanted + [Wanted("function", text) for text in options.fixed_function]


def _make_service(tables: LineTables, library: Path) -> TableService | None:
    """What makes tables while the program runs, where it may load something that is in scope."""
    if not tables.later:
        return None
    later = Later(tables.later, {*tables.examined, str(library)}, tables.scope, tables.awaited)
    try:
        return TableService(tables.helper, later, print_warnings)
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
    environment = make_environment(settings, os.environ)
    beginning = output.begin()
    ending = run_program(program, arguments, environment, service)
    # From here on, whatever fails, the program's own ending is what the caller must see.
    try:
        append_ending(output.path, beginning, ending)
        print_warnings(service.missed() if service else [])
        outcome = describe(output.path, beginning, name)
        if isinstance(outcome, str):
            _say(outcome)
            print_warnings(
                never_sampled(
                    output.path, beginning, [target for target in settings.fixed if _is_location(target)]
                )
            )
        else:
            print_warnings([outcome])
        print_warnings(costly_points(output.path, beginning, settings.points))
        _say_load(output.path, beginning, settings)
    except OSError as error:
        _say(messages.profile_incomplete(name, error.strerror or str(error)))
    output.discard_if_empty()
    sys.stdout.flush()
    return end_like(ending)


def _say_load(profile: Path, beginning: int, settings: Settings) -> None:
    placed = [point.name for point in settings.points if point.kind == "arrival"]
    for told in describe_load(profile, beginning, settings.load, placed):
        if isinstance(told, str):
            _say(told)
        else:
            print_warnings([told])


def _is_location(target: FixedTarget) -> bool:
    """Not a line that was awaited: its service says whether it came."""
    return target.kind != "line" or target.name.startswith("/")


def _say(text: str) -> None:
    print(f"coz: {printable(text)}", file=sys.stderr, flush=True)


def _line(text: str) -> str:
    if not is_line(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not FILE:LINE, as in queue.cpp:10")
    return text


def _name(text: str) -> str:
    if not text.strip() or "\n" in text:
        raise argparse.ArgumentTypeError("a name must be one line of text")
    return text.strip()


def _pair(text: str) -> tuple[str, str]:
    pair = split_pair(text)
    if pair is None or "\n" in text:
        raise argparse.ArgumentTypeError(f"{text!r} is not BEGIN,END, as in receive,queue.cpp:80")
    return pair


def _percent(text: str) -> int:
    digits = text.removesuffix("%").strip()
    if not re.fullmatch(r"[0-9]{1,3}", digits) or int(digits) > 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of per cent from 0 to 100")
    return int(digits)


def _speedups(text: str) -> tuple[int, ...]:
    chosen = [_percent(part) for part in text.split(",")]
    twice = sorted({speedup for speedup in chosen if chosen.count(speedup) > 1})
    if twice:
        raise argparse.ArgumentTypeError(f"{text!r} has {twice[0]} more than once")
    if not any(chosen):
        raise argparse.ArgumentTypeError(
            f"{text!r} has no speedup above 0; for baselines alone, use --fixed-speedup 0"
        )
    return tuple(sorted(speedup for speedup in chosen if speedup > 0))


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
