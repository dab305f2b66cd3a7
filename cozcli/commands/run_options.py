"""The options of `coz run`."""

from __future__ import annotations

import argparse

from cozcli.commands import classic_options, values
from cozcli.commands.options import DEFAULT_PROFILE, add_scope_options, positive
from cozcli.extensions import extensions
from cozcli.profile.records import DEFAULT_DOSE


def add_options(parser: argparse.ArgumentParser) -> None:
    """All of them, those of extensions too."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=DEFAULT_PROFILE,
        help="profile to write, or to add this run to; %%r is the rank in a parallel job, %%j the job, %%h "
        "the host, %%p the process id, %%e{NAME} a variable, %%%% a %% (default: %(default)s)",
    )
    parser.add_argument(
        "--format",
        choices=("coz", "classic", "classic-json"),
        default="coz",
        help="write profiles that the viewer of the classic Coz reads, tab-separated or as JSON Lines; "
        "experiments then have one target each (default: %(default)s)",
    )
    classic_options.add_to_run(parser)
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
    _add_targets(parser)
    _add_waits(parser)
    _add_experiments(parser)
    _add_samples(parser)
    _add_processes(parser)
    _add_repetition(parser)
    _add_points(parser)
    for extension in extensions("run"):
        extension.add_options(parser)


def _add_targets(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is sped up")
    add_scope_options(group, ("line", "function", "callpath"))
    group.add_argument(
        "--fixed-line",
        metavar="FILE:LINE",
        action="append",
        default=[],
        type=values.file_line,
        help="select this line only; repeatable",
    )
    group.add_argument(
        "--fixed-lines",
        metavar="FILE",
        action="append",
        default=[],
        help="select only the lines that FILE lists, FILE:LINE, one a line (as coz lines prints them); "
        "repeatable",
    )
    group.add_argument(
        "--fixed-function",
        metavar="NAME",
        action="append",
        default=[],
        type=values.one_name,
        help="with --granularity function: select this function only; repeatable",
    )
    group.add_argument(
        "--fixed-region",
        metavar="NAME",
        action="append",
        default=[],
        type=values.one_name,
        help="select this region (COZ_REGION_BEGIN) only; repeatable",
    )


def _add_waits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("waits that are sped up").add_mutually_exclusive_group()
    group.add_argument(
        "--waits",
        action="store_const",
        const="sites",
        default="",
        help="speed up waits, too: each line that sleeps, does I/O, polls, or waits for a child or a lock",
    )
    group.add_argument(
        "--wait-classes",
        dest="waits",
        action="store_const",
        const="classes",
        help="the same, but all waits of a class together: io, network, poll, sleep, child, lock",
    )
    group.add_argument(
        "--fixed-wait",
        metavar="FILE:LINE",
        action="append",
        default=[],
        type=values.one_name,
        help="select the waits at this line only; repeatable",
    )
    group.add_argument(
        "--fixed-lock",
        metavar="FILE:LINE",
        action="append",
        default=[],
        type=values.one_name,
        help="select the waits for a lock at this line only; repeatable",
    )


def _add_experiments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("experiments")
    speedups = group.add_mutually_exclusive_group()
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
    companions = group.add_mutually_exclusive_group()
    companions.add_argument(
        "--companions",
        metavar="PERCENT",
        type=values.dose,
        default=100 * DEFAULT_DOSE,
        help="in every experiment speed up other targets besides, at random, so that each experiment tells "
        "about all of them; together they save PERCENT of the time at most; not where targets or "
        "speedup are fixed, load is amplified, a run is one experiment, or threads live short (default: 5)",
    )
    companions.add_argument(
        "--one-at-a-time",
        dest="companions",
        action="store_const",
        const=0.0,
        help="speed up one target in each experiment; the same as --companions 0",
    )
    group.add_argument("--end-to-end", action="store_true", help="make the whole run one experiment")
    group.add_argument(
        "--warmup",
        metavar="TIME",
        type=values.time,
        default=0.0,
        help="make no experiments in the first part of a run: 5s, 2m (a bare number is in seconds)",
    )
    group.add_argument(
        "--stop-after",
        metavar="TIME",
        type=values.time,
        default=0.0,
        help="end the profiling after this time: 60s, 5m; the program goes on without samples or delays",
    )
    group.add_argument("--seed", metavar="N", type=values.seed, help="repeat the random choices of a run")


def _add_samples(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("samples")
    group.add_argument(
        "--period",
        metavar="TIME",
        type=values.period,
        help="time between samples, 100us to 100ms, with its unit: ns, us, ms or s; a bare number is in "
        "nanoseconds (default: 1ms)",
    )
    group.add_argument(
        "--sampling",
        choices=("auto", "perf-trap", "perf-signal", "timer", "off"),
        default="auto",
        help="how to sample (default: %(default)s); off: not at all, to see what the profiler itself costs",
    )


def _add_processes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("several processes, and jobs of many ranks")
    group.add_argument(
        "--tree",
        action="store_true",
        help="profile the program, all processes that it forks, and programs that these execute and -b "
        "names, as one: workers of a server, a process for each request; they share experiments, delays and "
        "progress points",
    )
    group.add_argument(
        "--forked",
        metavar="N",
        type=positive,
        help="profile not the program itself but a child that it forks (N is 1), or a child of a child (2): "
        "daemons, workers; one at a time, waiting for its end",
    )
    group.add_argument(
        "-l",
        "--launcher",
        metavar="NAME",
        help="the command starts the program NAME, one of its words, by a launcher that is not profiled: "
        "coz run -l app -o prof.%%r --- mpirun -n 4 ./app",
    )
    group.add_argument(
        "--ranks",
        metavar="N-N,...",
        type=values.ranks,
        help="in a parallel job, profile these ranks only, as in 0-3,8; the others run as without coz",
    )
    group.add_argument(
        "--joint",
        action="store_true",
        help="in a parallel job on one machine, profile all ranks as one program: experiments are on all of "
        "them, and rank 0's progress points count",
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
        help="run the program again until the five leading lines are in their order, and their effects at "
        "50 %% known to ± POINTS, as in 2%%",
    )


def _add_points(parser: argparse.ArgumentParser) -> None:
    points = parser.add_argument_group(
        "progress points without macros in the source",
        "A location is FILE:LINE, a function, or FILE:FUNCTION, with % for any text; it must be one only. "
        "All but --progress-by may be repeated.",
    )
    points.add_argument(
        "-p",
        "--progress",
        metavar="LOCATION",
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
        type=values.file_line,
        help="a visit for each sample in the line: for lines that are passed too often to be counted",
    )
    points.add_argument(
        "--latency",
        metavar="BEGIN,END",
        action="append",
        default=[],
        type=values.location_pair,
        help="the time from one location to the other, which may be in another thread",
    )
    points.add_argument(
        "--progress-by",
        choices=("auto", "hardware", "breakpoint"),
        default="auto",
        help="what counts visits: the processor's breakpoints, of which there are four, or breakpoint "
        "instructions written into the program's code; auto: whichever suits the machine "
        "(default: %(default)s)",
    )
