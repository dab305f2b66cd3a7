"""`coz run`: profile a program. Checks first, then stands aside, then says what came of it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cozcli.commands import values
from cozcli.commands.options import DEFAULT_PROFILE, add_scope_options, positive, print_warnings
from cozcli.errors import CozError
from cozcli.launch import load, messages, point_messages
from cozcli.launch.aftermath import append_ending, costly_points, describe, never_sampled
from cozcli.launch.environment import Settings, make_environment, random_seed
from cozcli.launch.fixed_targets import FixedTarget, Wanted, read_fixed_lines
from cozcli.launch.helper import Helper
from cozcli.launch.line_tables import LineTables, Scope, build_tables
from cozcli.launch.load import Load, describe_load
from cozcli.launch.points import WantedPoints, place_points
from cozcli.launch.preflight import Output, check_program, find_program, open_output
from cozcli.launch.program import Ending, end_like, run_program
from cozcli.launch.repetition import Goal, Series
from cozcli.launch.runtime_library import find_installation
from cozcli.launch.table_service import Later, TableService
from cozcli.messages import printable


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
        type=values.period,
        help="time between samples, 100us to 100ms, with its unit: ns, us, ms or s; a bare number is in "
        "nanoseconds (default: 1ms)",
    )
    parser.add_argument("--seed", metavar="N", type=values.seed, help="repeat the random choices of a run")
    parser.add_argument(
        "--sampling",
        choices=("auto", "perf-trap", "perf-signal", "timer", "off"),
        default="auto",
        help="how to sample (default: %(default)s); off: not at all, to see what the profiler itself costs",
    )
    parser.add_argument(
        "--warmup",
        metavar="TIME",
        type=values.time,
        default=0.0,
        help="make no experiments in the first part of a run: 5s, 2m (a bare number is in seconds)",
    )
    _add_repetition(parser)
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
        type=values.line_place,
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
        type=values.one_name,
        help="with --granularity function: select this function only; repeatable",
    )
    parser.add_argument(
        "--fixed-region",
        metavar="NAME",
        action="append",
        default=[],
        type=values.one_name,
        help="select this region (COZ_REGION_BEGIN) only; repeatable",
    )
    speedups = parser.add_mutually_exclusive_group()
    speedups.add_argument(
        "--fixed-speedup",
        metavar="N",
        type=values.percent,
        help="use this speedup only, in per cent (0 to 100)",
    )
    speedups.add_argument(
        "--speedups",
        metavar="N,N,...",
        type=values.speedups,
        default=(),
        help="use these speedups, in per cent, instead of 10,25,40,50,75,100; 0 is always among them",
    )


def _add_repetition(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "running short programs again",
        "All runs go into the same profile. What is given is looked at between runs: none is ended, and "
        "after one that fails or is interrupted there is no other. Whichever comes first ends the series.",
    )
    group.add_argument("--repeat", metavar="N", type=positive, help="run the program N times")
    group.add_argument(
        "--duration",
        metavar="TIME",
        type=values.time,
        help="run the program again until TIME has passed: 90s, 5m, 1h",
    )
    group.add_argument(
        "--until",
        metavar="POINTS",
        type=values.precision,
        help="run the program again until the slopes of the three leading lines are certain to so many "
        "points, as 2%%",
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
        type=values.one_name,
        help="a visit each time the line is reached, or the function is entered",
    )
    points.add_argument(
        "--progress-sampled",
        metavar="FILE:LINE",
        action="append",
        default=[],
        type=values.line_place,
        help="a visit for each sample in the line: for places that are passed too often to be counted",
    )
    points.add_argument(
        "--latency",
        metavar="BEGIN,END",
        action="append",
        default=[],
        type=values.place_pair,
        help="the time from one place to the other, which may be in another thread",
    )
    points.add_argument(
        "--progress-by",
        choices=("auto", "jump", "hardware", "breakpoint"),
        default="auto",
        help="what counts visits: jumps written into the program's code, where that is possible; the "
        "processor's breakpoints, of which there are four; or breakpoint instructions written into the code "
        "(default: %(default)s)",
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
            warmup=round(options.warmup * 1e9),
            load=wanted_load,
        )
        series = Series(Goal(options.repeat, options.duration, options.until), output.path)
        print_warnings(tables.warnings)
        if output.appends:
            _say(messages.appending(options.output))

        def make_service() -> TableService | None:
            return _make_service(tables, installation.library)

        launch = Launch(program, options.program, settings, make_service)
        return _run(launch, series, output, options.output)
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


class Launch(NamedTuple):
    """What is to be run, as often as it may be."""

    program: Path
    arguments: Sequence[str]
    settings: Settings
    make_service: Callable[[], TableService | None]


def _run(launch: Launch, series: Series, output: Output, name: str) -> int:
    beginning = output.begin()
    another = True
    while another:
        ending = _run_once(launch, series.runs, output, name)
        another, text = series.wants_another(ending)
        if text:
            _say(text)
    # From here on, whatever fails, the program's own ending is what the caller must see.
    settings = launch.settings
    try:
        outcome = describe(output.path, beginning, name)
        if isinstance(outcome, str):
            _say(outcome)
            print_warnings(
                never_sampled(
                    output.path, beginning, [target for target in settings.fixed if _is_location(target)]
                )
            )
        else:
            print_warnings([messages.with_doctor(outcome, launch.arguments[0])])
        print_warnings(costly_points(output.path, beginning, settings.points))
        _say_load(output.path, beginning, settings)
    except OSError as error:
        _say(messages.profile_incomplete(name, error.strerror or str(error)))
    output.discard_if_empty()
    sys.stdout.flush()
    return end_like(ending)


def _run_once(launch: Launch, number: int, output: Output, name: str) -> Ending:
    """One of several runs; they differ in their random choices only."""
    seed = (launch.settings.seed + number) % 2**64
    environment = make_environment(launch.settings._replace(seed=seed), os.environ)
    service = launch.make_service()
    beginning = output.path.stat().st_size
    ending = run_program(launch.program, launch.arguments, environment, service)
    try:
        append_ending(output.path, beginning, ending)
        print_warnings(service.missed() if service else [])
    except OSError as error:
        _say(messages.profile_incomplete(name, error.strerror or str(error)))
    return ending


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
