"""`coz run`: profile a program. Checks first, then stands aside, then says what came of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cozcli.commands import values
from cozcli.commands.options import DEFAULT_PROFILE, add_scope_options, positive, print_warnings
from cozcli.errors import CozError
from cozcli.launch import claim_messages, load, messages
from cozcli.launch.aftermath import (
    append_ending,
    costly_points,
    describe,
    killed_at_breakpoint,
    never_sampled,
)
from cozcli.launch.environment import Settings, random_seed
from cozcli.launch.fixed_targets import FixedTarget
from cozcli.launch.load import Load, describe_load
from cozcli.launch.preflight import Output, check_program, find_program, open_output, refuse_sanitized
from cozcli.launch.preparation import Preparation
from cozcli.launch.program import Ending, end_like, run_program
from cozcli.launch.repetition import Goal, Series
from cozcli.launch.runtime_library import find_installation
from cozcli.launch.target import Child, ForkedChild, Itself, Target, child_patterns
from cozcli.messages import printable

if TYPE_CHECKING:
    from cozcli.launch.live import Live


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "run",
        help="profile a program",
        usage="coz run [options] --- PROGRAM [ARGUMENTS]",
        description="Run a program and measure which of its lines are worth optimizing. The program keeps "
        "its terminal, its signals and its exit status.",
        epilog="In patterns % stands for any text. For -s the end of a path does (queue.cpp, src/queue.cpp). "
        "-b wants the whole path, as in %/libfoo.so%, or a file's name. A program that the launched one "
        "starts is profiled if -b names it: coz run -b server --- make bench.",
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
    parser.add_argument(
        "--stop-after",
        metavar="TIME",
        type=values.time,
        default=0.0,
        help="end the profiling after this time: 60s, 5m; the program goes on without samples or delays",
    )
    parser.add_argument(
        "--forked",
        metavar="N",
        type=positive,
        help="profile not the program itself but a child that it forks (N is 1), or a child of a child (2): "
        "daemons, workers; one at a time, waiting for its end",
    )
    _add_display(parser)
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


def _add_display(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--live",
        choices=("auto", "on", "off"),
        default="auto",
        help="show how far it is, in the last row of the terminal; auto: if standard error is one; on: "
        "otherwise a line every 30 seconds (default: %(default)s)",
    )
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="say nothing but warnings and errors; no --live"
    )


def _add_repetition(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "running short programs again",
        "All runs go into the same profile. What is given is looked at between runs: none is ended but by "
        "--end-after, and after one that fails or is interrupted there is no other. Whichever "
        "comes first ends the series.",
    )
    group.add_argument("--repeat", metavar="N", type=positive, help="run the program N times")
    group.add_argument(
        "--duration",
        metavar="TIME",
        type=values.time,
        help="run the program again until TIME has passed: 90s, 5m, 1h",
    )
    group.add_argument(
        "--end-after",
        metavar="TIME",
        type=values.time,
        help="send the program SIGTERM after TIME, for servers and others that do not end by themselves",
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
    if options.stop_after and options.end_to_end:
        raise CozError(messages.stop_after_end_to_end())
    load.check(wanted_load, end_to_end=options.end_to_end, sampling=options.sampling)
    program = find_program(options.program[0])
    names = child_patterns(program, options.binary_scope)
    if names and options.forked:
        raise CozError(claim_messages.forked_and_named(names))
    elf = None if names else check_program(program)
    if not names:
        refuse_sanitized(program)
    installation = find_installation()
    output = open_output(options.output)
    try:
        seed = random_seed() if options.seed is None else options.seed
        preparation = Preparation(options, installation.library, installation.helper, output.path, seed)
        target: Target
        if elf is None:
            target = Child(preparation, names, options.program[0], seed, output.path)
        elif options.forked:
            target = ForkedChild(
                preparation, options.program[0], program, elf.interpreter, seed, output.path, options.forked
            )
        else:
            target = Itself(preparation, options.program[0], program, elf.interpreter)
        series = Series(Goal(options.repeat, options.duration, options.until), output.path)
        print_warnings(target.warnings())
        if output.appends and not options.quiet:
            _say(messages.appending(options.output))
        return _run(Launch(program, options.program, target, options.end_after), series, output, options)
    except (CozError, KeyboardInterrupt):
        output.discard_if_empty()
        raise


class Launch(NamedTuple):
    """What is to be run, as often as it may be, and what of it is to be profiled."""

    program: Path
    arguments: Sequence[str]
    target: Target
    end_after: float | None


def _run(launch: Launch, series: Series, output: Output, options: argparse.Namespace) -> int:
    beginning = output.begin()
    live = _make_live(series, output.path, beginning, options)
    another = True
    try:
        while another:
            ending = _run_once(launch, series.runs, live, output, options.output)
            another, text = series.wants_another(ending)
            if text and not options.quiet:
                _say(text)
    finally:
        if live is not None:
            live.finish()
    # From here on, whatever fails, the program's own ending is what the caller must see.
    try:
        _say_outcome(launch, output, beginning, options)
    except OSError as error:
        _say(messages.profile_incomplete(options.output, error.strerror or str(error)))
    output.discard_if_empty()
    sys.stdout.flush()
    return end_like(ending)


def _say_outcome(launch: Launch, output: Output, beginning: int, options: argparse.Namespace) -> None:
    settings = launch.target.settings
    if settings is None:
        print_warnings(launch.target.explain())
        return
    outcome = describe(output.path, beginning, options.output)
    if isinstance(outcome, str):
        if not options.quiet:
            _say(outcome)
        located = [target for target in settings.fixed if _is_location(target)]
        print_warnings(never_sampled(output.path, beginning, located))
    else:
        print_warnings([messages.with_doctor(outcome, launch.target.name)])
    print_warnings(launch.target.explain())
    print_warnings(costly_points(output.path, beginning, settings.points))
    print_warnings(killed_at_breakpoint(output.path, beginning))
    if not options.quiet:
        _say_load(output.path, beginning, settings)


def _run_once(launch: Launch, number: int, live: Live | None, output: Output, name: str) -> Ending:
    """One of several runs; they differ in their random choices only."""
    target = launch.target
    service, environment = target.begin(number)
    beginning = output.path.stat().st_size
    ending = run_program(launch.program, launch.arguments, environment, service, live, launch.end_after)
    try:
        if target.is_launched:
            append_ending(output.path, beginning, ending)
        print_warnings(target.end())
    except OSError as error:
        _say(messages.profile_incomplete(name, error.strerror or str(error)))
    return ending


def _make_live(series: Series, profile: Path, beginning: int, options: argparse.Namespace) -> Live | None:
    from cozcli.status_row import StatusRow

    on_terminal = StatusRow.is_possible()
    if options.quiet or options.live == "off" or (options.live == "auto" and not on_terminal):
        return None
    from cozcli.launch.live import Analyst, Live, Tail  # which most runs need not wait for

    row = StatusRow() if on_terminal else None
    return Live(Tail(profile, beginning), Analyst(profile), series.describe, row)


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
