"""`coz bias`: run a program at many places in memory, and say how much its time depends on them."""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import time
from pathlib import Path

from cozcli.bias import PACKAGES, messages
from cozcli.commands import options as shared
from cozcli.commands import values
from cozcli.commands.plot import SUFFIXES
from cozcli.compare.machine import check_input
from cozcli.compare.options import percentage
from cozcli.compare.sides import one_program, program_path
from cozcli.errors import CozError
from cozcli.output_file import writing
from cozcli.status_row import StatusRow

DEFAULT_DURATION = "3m"


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "bias",
        help="say whether a program's time depends on where its memory happens to lie",
        usage="coz bias [options] ./program [arguments]",
        description="Run a program again and again with other environment sizes, stacks, heaps and orders of "
        "functions, at random, and say how much each matters, which places are slow, and what lies there. "
        "What the program prints is not shown. Runs of 20 to 50 ms are best.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "own", nargs=argparse.REMAINDER, metavar="PROGRAM", help="the program and its arguments"
    )
    parser.add_argument(
        "--duration",
        metavar="TIME",
        type=values.time,
        default=values.time(DEFAULT_DURATION),
        help=f"about how long to measure, as 90s or 5m (default: {DEFAULT_DURATION})",
    )
    parser.add_argument(
        "--margin",
        metavar="PERCENT",
        type=percentage,
        default=0.01,
        help="smaller differences do not matter (default: 1%%)",
    )
    parser.add_argument("--input", metavar="FILE", default=os.devnull, help="its standard input")
    parser.add_argument("--layout-seed", metavar="N", type=values.seed, help="repeat order and layouts")
    parser.add_argument(
        "--no-names", action="store_true", help="don't find out what lies at slow places by single steps"
    )
    parser.add_argument(
        "--counters",
        metavar="EVENTS",
        type=_events,
        help="also count hardware events at slow and other places, and rank them by their correlation with "
        "cycles: all, or names and raw codes as r0107, with commas",
    )
    parser.add_argument("--plot", metavar="FILE", help="also draw it: .png, .svg or .pdf")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(execute=execute, parser=parser)


def _events(text: str) -> str:
    from cozcli.bias.events import RAW, names

    for name in text.split(","):
        if name != "all" and not RAW.fullmatch(name) and name not in names():
            raise argparse.ArgumentTypeError(f"{name!r} is no event that is known here; try all")
    return text


def execute(options: argparse.Namespace) -> int:
    """Measure, print, draw."""
    command = one_program(options.own, options.program)
    if not command:
        raise CozError(messages.no_program())
    if options.plot is not None and Path(options.plot).suffix.lower() not in SUFFIXES:
        options.parser.error("--plot wants a file that ends in .png, .svg or .pdf")
    path = program_path(command[0])
    check_input(options.input)
    command = [path, *command[1:]]
    packages = {"rich": not options.json, "matplotlib": options.plot is not None}
    shared.require_packages(*PACKAGES, *(name for name, wanted in packages.items() if wanted))
    from cozcli.bias import report as reports
    from cozcli.bias.study import Question, study

    seed = random.getrandbits(63) if options.layout_seed is None else options.layout_seed
    question = Question(
        command,
        options.duration,
        options.margin,
        seed,
        options.input,
        not options.no_names,
        options.counters,
    )
    with contextlib.ExitStack() as files:
        # Refused before anything is measured, if it cannot be written.
        picture = None if options.plot is None else files.enter_context(writing(options.plot))
        begin = time.monotonic()
        with StatusRow.progress("coz bias") as show:

            def watch(done: int, wanted: int) -> None:
                left = (time.monotonic() - begin) / done * max(0, wanted - done)
                show(f"run {done} of {wanted}, {left:.0f} s left")

            answer = study(question, watch)
        report = reports.Report(command, answer.bias, options.margin, seed, answer.randomised)
        shared.write(reports.render_json(report) if options.json else reports.render_text(report))
        shared.print_warnings(answer.doubts)
        if picture is not None:
            from cozcli.bias.figure import write_figure

            write_figure(report, picture)
    if answer.failure:
        raise CozError(messages.ended_early(answer.failure, answer.bias.sweep.runs))
    return 0
