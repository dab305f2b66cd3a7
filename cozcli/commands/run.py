"""`coz run`: check a program, profile it, and sum up the run."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cozcli.commands.classic_options import left_over
from cozcli.commands.messages import config_used
from cozcli.commands.options import print_warnings
from cozcli.commands.run_options import add_options
from cozcli.errors import STATUS_REFUSED, CozError, Problem, reason_of
from cozcli.extensions import extensions
from cozcli.launch import messages
from cozcli.launch.classic_output import ClassicOutput
from cozcli.launch.earlier_samples import EarlierSamples
from cozcli.launch.ending import Ending
from cozcli.launch.environment import random_seed
from cozcli.launch.job import Job, expand, find_job, is_chosen, refuse_shared
from cozcli.launch.preflight import (
    Output,
    check_program,
    find_program,
    is_of_another_build,
    open_output,
    refuse_sanitized,
)
from cozcli.launch.preparation import Preparation
from cozcli.launch.profiled_process import (
    ChildProcess,
    ForkedProcess,
    LaunchedProcess,
    ProfiledProcess,
    child_patterns,
)
from cozcli.launch.program import end_like, run_program, run_unprofiled
from cozcli.launch.runtime_library import find_installation
from cozcli.launch.series import Goal, RunSeries
from cozcli.messages import printable

if TYPE_CHECKING:
    from cozcli.launch.extension import RunExtension
    from cozcli.launch.fixed_targets import FixedTarget
    from cozcli.launch.joint import Joint
    from cozcli.launch.live import Live
    from cozcli.launch.points import LocationPoint
    from cozcli.profile.tail import ProfileTail


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
    add_options(parser)
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Profile `options.program`, a list: the program and its arguments."""
    if not options.program:
        raise CozError(messages.run.no_program(options.words))
    if options.words:
        options.parser.error(f"unrecognized arguments: {' '.join(options.words)}")
    for name, given in (("--stop-after", options.stop_after), ("--warmup", options.warmup)):
        if given and options.end_to_end:
            raise CozError(messages.run.part_of_end_to_end(name))
    for name, end in (("--stop-after", options.stop_after), ("--end-after", options.end_after)):
        if end and options.warmup and options.warmup >= end:
            raise CozError(messages.run.nothing_is_left(name))
    if options.until and options.fixed_speedup == 0 and not (options.repeat or options.duration):
        raise CozError(messages.run.never_certain())
    run_extensions: list[RunExtension] = [extension.read(options) for extension in extensions("run")]
    program = find_program(options.program[0])
    if options.from_config and not options.quiet:
        _say(config_used(str(options.config), options.from_config))
    if options.launcher is not None:
        from cozcli.launch.launcher import launcher_command

        command = launcher_command(options.program, options.launcher, options.given)
        if command is not None:
            run_unprofiled(program, command)
    print_warnings(left_over(os.environ))
    job = find_job(os.environ)
    if not is_chosen(job, options.ranks):
        run_unprofiled(program, options.program)
    joint = _join(options, job, run_extensions) if options.joint else None
    try:
        return _profile(options, program, job, joint, run_extensions)
    finally:
        if joint is not None:
            joint.end()


def _join(options: argparse.Namespace, job: Job, run_extensions: Sequence[RunExtension]) -> Joint:
    from cozcli.launch.joint import join

    amplifies = any(extension.charges_arrivals for extension in run_extensions)
    joint = join(options, job, os.environ, amplifies=amplifies)
    if joint.follows:  # the leading rank writes the profile
        options.output, options.quiet = str(joint.profile), True
    return joint


def _profile(
    options: argparse.Namespace,
    program: Path,
    job: Job,
    joint: Joint | None,
    run_extensions: Sequence[RunExtension],
) -> int:
    if joint is None:
        refuse_shared(options.output, job, options.ranks)
    if joint is None or not joint.follows:
        options.output = expand(options.output, job, os.environ)
    names = [] if options.tree else child_patterns(program, options.binary_scope)
    if names and options.forked:
        raise CozError(messages.attach.forked_and_named(names))
    if options.tree and options.forked:
        raise CozError(messages.attach.tree_of_a_child())
    elf = None if names else check_program(program)
    if not names:
        refuse_sanitized(program)
    executed: Mapping[str, Path] = {}
    if options.tree and options.binary_scope and elf is not None:
        from cozcli.launch.tree import executed_programs

        amplifies = any(each.charges_arrivals or each.arrivals for each in run_extensions)
        executed = executed_programs(options, program, elf, amplifies=amplifies)
    installation = find_installation()
    follows = joint is not None and joint.follows
    if options.format != "coz":  # in all ranks
        options.companions = 0.0
    classic = None if options.format == "coz" or follows else ClassicOutput(options.output, options.format)
    output = open_output(options.output if classic is None else str(classic.measured))
    try:
        seed = random_seed() if options.seed is None else options.seed
        preparation = Preparation(
            options,
            installation.library,
            installation.helper,
            output.path,
            seed,
            run_extensions,
            joint,
            executed,
        )
        process: ProfiledProcess
        name, warn = options.program[0], print_warnings
        if elf is None:
            process = ChildProcess(preparation, names, name, seed, output.path, warn)
        elif options.forked:
            process = ForkedProcess(
                preparation, name, program, elf.interpreter, seed, output.path, options.forked, warn
            )
        else:
            process = LaunchedProcess(preparation, name, program, elf.interpreter, warn)
        series = RunSeries(Goal(options.repeat, options.duration, options.until), output.path)
        print_warnings(process.warnings())
        if output.appends and is_of_another_build(output.path, program):
            print_warnings([messages.run.another_build(options.output, str(program))])
        if output.appends and not options.quiet:
            _say(messages.run.appending(options.output))
        launch = Launch(
            program, options.program, process, options.end_after, run_extensions, job, classic, joint
        )
        return _run(launch, series, output, options)
    except (CozError, KeyboardInterrupt):
        output.discard_if_empty()
        raise


class Launch(NamedTuple):
    """What is to be run, as often as it may be, and which process is to be profiled."""

    program: Path
    arguments: Sequence[str]
    process: ProfiledProcess
    end_after: float | None
    run_extensions: Sequence[RunExtension]
    job: Job
    classic: ClassicOutput | None
    joint: Joint | None


def _run(launch: Launch, series: RunSeries, output: Output, options: argparse.Namespace) -> int:
    beginning = output.begin()
    live = _make_live(series, output.path, beginning, options)
    try:
        ending = _run_series(launch, series, live, output, options, EarlierSamples(output.path, beginning))
    finally:
        series.close()
        if launch.joint is not None:
            launch.joint.end()  # the end of the program may be ours
        if live is not None:
            live.finish()
    if launch.joint is not None and launch.joint.follows:
        return end_like(ending)
    # From here on, whatever fails, the program's own ending is what the caller must see.
    measured = True
    try:
        measured = _say_outcome(launch, output, beginning, ending, options)
    except OSError as error:
        _say(messages.run.profile_incomplete(options.output, reason_of(error)))
    output.discard_if_empty()
    if launch.classic is not None:
        print_warnings(launch.classic.finish())
    sys.stdout.flush()
    if not measured and launch.process.never_came():
        return end_like(ending) or STATUS_REFUSED  # as where -s matches nothing, which is known before
    return end_like(ending)


def _run_series(
    launch: Launch,
    series: RunSeries,
    live: Live | None,
    output: Output,
    options: argparse.Namespace,
    earlier: EarlierSamples,
) -> Ending:
    """As many runs as are wanted; how the last one ended."""
    ending: Ending | None = None
    try:
        while True:
            ending = _run_once(launch, series.runs, live, output, options.output, earlier)
            another, told = series.wants_another(ending)
            if isinstance(told, Problem):
                print_warnings([told])
            elif told and not options.quiet:
                _say(told)
            if not another:
                return ending
    except KeyboardInterrupt:  # between two runs: what was measured is summed up all the same
        if ending is None:
            raise
        _say(messages.run.series_interrupted(series.runs))
    except CozError as error:  # it cannot be started again
        if ending is None:
            raise
        print_warnings([messages.run.series_not_started(error.problem)])
    except OSError as error:  # the program has removed the profile
        if ending is None:
            raise
        print_warnings([messages.run.series_without_profile(options.output, reason_of(error))])
    return ending


def _say_outcome(
    launch: Launch, output: Output, beginning: int, ending: Ending, options: argparse.Namespace
) -> bool:
    """Whether there was any experiment."""
    settings = launch.process.settings
    if settings is None:
        print_warnings(launch.process.explain())
        return False
    # These are needed only now: the program did not wait for them.
    from cozcli.launch import run_summary
    from cozcli.profile.tail import read_tail

    tail = read_tail(output.path, beginning)
    outcome = run_summary.describe(output.path, beginning, tail, options.output)
    if isinstance(outcome, str):
        if not options.quiet:
            _say(outcome)
        located = [target for target in settings.fixed if _is_location(target)]
        print_warnings(run_summary.never_sampled(tail, located))
    else:
        print_warnings([messages.run.with_doctor(outcome, launch.process.name)])
    print_warnings(launch.process.explain())
    print_warnings(run_summary.left_behind(tail))
    print_warnings(run_summary.costly_points(tail, settings.points))
    if launch.process.is_launched:
        print_warnings(run_summary.killed_at_breakpoint(tail, ending))
    if not options.quiet:
        _say_extensions(launch, tail, settings.points)
    return tail.experiments > 0


def _say_extensions(launch: Launch, tail: ProfileTail, points: Sequence[LocationPoint]) -> None:
    for extension in launch.run_extensions:
        for told in extension.describe(tail, points):
            if isinstance(told, str):
                _say(told)
            else:
                print_warnings([told])


def _run_once(
    launch: Launch, number: int, live: Live | None, output: Output, name: str, earlier: EarlierSamples
) -> Ending:
    """One of several runs; they differ in their random choices, and in what they know of `earlier` ones."""
    process = launch.process
    beginning = output.path.stat().st_size
    service, environment = process.begin(number)
    if number > 0 and process.settings is not None and process.settings.companions:
        environment = {**environment, **earlier.variables()}
    ending = run_program(launch.program, launch.arguments, environment, service, live, launch.end_after)
    from cozcli.launch.run_summary import append_ending  # for which the program did not wait

    try:
        if process.is_launched:
            append_ending(output.path, beginning, ending, launch.job)
        print_warnings(process.end())
    except OSError as error:
        _say(messages.run.profile_incomplete(name, reason_of(error)))
    return ending


def _make_live(series: RunSeries, profile: Path, beginning: int, options: argparse.Namespace) -> Live | None:
    if options.quiet or options.live == "off" or (options.live == "auto" and not os.isatty(2)):
        return None
    from cozcli.status_row import StatusRow

    on_terminal = StatusRow.is_possible()
    if options.live == "auto" and not on_terminal:
        return None
    from cozcli.launch.leading_lines import Analyst  # which most runs need not wait for
    from cozcli.launch.live import Leading, Live
    from cozcli.profile.tail import ProfileTail

    row = StatusRow() if on_terminal else None
    leading = Leading(Analyst(profile, is_idle=True))
    return Live(ProfileTail(profile, beginning), leading, series.describe, row)


def _is_location(target: FixedTarget) -> bool:
    """Not a line that was awaited: its service says whether it came."""
    return target.kind != "line" or target.name.startswith("/")


def _say(text: str) -> None:
    with contextlib.suppress(OSError):  # nobody reads it, and the program's ending is what counts
        print(f"coz: {printable(text)}", file=sys.stderr, flush=True)
