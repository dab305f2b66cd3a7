"""`coz compare`: run two programs in turn until the difference is known."""

from __future__ import annotations

import argparse
import glob
import os
import random
import re
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cozcli.commands import options as shared
from cozcli.commands import values
from cozcli.compare import PACKAGES, messages
from cozcli.compare.gate import STATUS_GATE, gate
from cozcli.compare.result import MIN_PAIRS, Estimate
from cozcli.compare.trial import Side
from cozcli.errors import CozError, Problem
from cozcli.status_row import StatusRow

DEFAULT_PAIRS = 30
#: In seconds of processor time: below, the start of the process is a large part.
_SHORT = 0.01
#: In a program's path: any text, such as the seed with which that build was linked.
_SEED = "{seed}"
#: With fewer, their own luck is most of the difference.
_MIN_BUILDS = 6
_SEPARATORS = ("---", "--")
_METRICS = ("cpu", "wall", "memory")


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "compare",
        help="say whether one program is really faster than another",
        usage="coz compare [options] ./a [arguments] --- vs ./b [arguments]",
        description="Run A and B in turn, in random order and each time with another environment size, and "
        "say whether B is faster, slower or equivalent, with an interval. What they print is not shown. "
        "Ctrl-C ends it with the results so far.",
        allow_abbrev=False,
    )
    parser.add_argument("a", nargs=argparse.REMAINDER, metavar="A", help="a program and its arguments")
    parser.add_argument(
        "-n",
        "--pairs",
        metavar="N",
        type=_pairs,
        help=f"runs of each, at most (default: {DEFAULT_PAIRS}; with --precision 200)",
    )
    parser.add_argument(
        "--precision",
        metavar="PERCENT",
        type=_percent,
        help="stop once half of the 95 %% interval is this narrow, as 0.5%%",
    )
    parser.add_argument(
        "--margin",
        metavar="PERCENT",
        type=_percent,
        default=0.01,
        help="smaller differences do not matter: A and B are equivalent (default: 1%%)",
    )
    parser.add_argument(
        "--metric",
        action="append",
        choices=_METRICS,
        help="cpu: processor time; wall; memory: peak resident; repeatable, the first decides (default: cpu)",
    )
    parser.add_argument("--control", action="store_true", help="also compare A with itself, as a check")
    parser.add_argument(
        "--layout",
        choices=("auto", "none"),
        default="auto",
        help="auto: another environment size for each run, which moves the stack; none: change nothing",
    )
    parser.add_argument(
        "--profile", metavar="PROFILE", help="a causal profile of A; with --line: what it predicts, beside it"
    )
    parser.add_argument("--line", metavar="PATTERN", help="the line that B makes faster, as for coz report")
    parser.add_argument("--layout-seed", metavar="N", type=values.seed, help="repeat the order and layouts")
    parser.add_argument(
        "--warm-up", metavar="N", type=shared.natural, default=1, help="runs of each before (default: 1)"
    )
    parser.add_argument("--input", metavar="FILE", default=os.devnull, help="their standard input")
    parser.add_argument(
        "--check-output", action="store_true", help="refuse if A and B print different things"
    )
    parser.add_argument(
        "--cpus", metavar="LIST", type=_processors, help="processors to run on, as 1,3 or 2-5"
    )
    parser.add_argument(
        "--gate",
        metavar="CONDITION",
        action="append",
        default=[],
        type=gate,
        help="end with status 1 if 'slower > 1%%', 'not faster', 'inconclusive', …; repeatable",
    )
    forms = parser.add_mutually_exclusive_group()
    for name, what in (("json", "JSON"), ("csv", "CSV"), ("markdown", "a Markdown table")):
        forms.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=f"print {what}")
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Measure, estimate, print."""
    shared.require_packages(*PACKAGES, *([] if options.form else ["rich"]))
    from cozcli.compare import report as reports
    from cozcli.compare.collect import DISTURBED, Collected, Plan, collect
    from cozcli.compare.estimate import half_width
    from cozcli.compare.metrics import METRICS
    from cozcli.compare.prediction import predict

    sides = sides_of(options.a, options.program)
    if (options.profile is None) != (options.line is None):
        options.parser.error("--profile and --line go together")
    prediction = None if options.profile is None else predict(options.profile, options.line)
    _check_input(options.input)
    _choose_processors(options.cpus)
    metrics = [METRICS[name] for name in dict.fromkeys(options.metric or ["cpu"])]
    seed = random.getrandbits(64) if options.layout_seed is None else options.layout_seed
    plan = Plan(
        pairs=options.pairs or (DEFAULT_PAIRS if options.precision is None else 200),
        precision=options.precision,
        metric=metrics[0],
        seed=seed,
        layouts=options.layout != "none",
        warm_ups=options.warm_up,
        stdin=options.input,
        check_output=options.check_output,
    )
    row = StatusRow() if StatusRow.is_possible() else None
    begin = time.monotonic()

    def watch(collected: Collected) -> None:
        if row is None:
            return
        done = len(collected.blocks)
        half = half_width(collected.pairs(plan.metric))
        known = f", ±{100 * half:.2g} %" if done >= MIN_PAIRS else ""
        left = (time.monotonic() - begin) / done * (plan.pairs - done)
        row.show(f"coz compare: pair {done} of {plan.pairs}{known}, at most {left:.0f} s left")

    try:
        collected = collect(
            [*sides, *([Side("A, again", *sides[0][1:])] if options.control else [])], plan, watch
        )
    finally:
        if row is not None:
            row.release()
    pairs = len(collected.blocks)
    if pairs < MIN_PAIRS:
        raise CozError(messages.too_few_pairs(pairs, MIN_PAIRS), 130)
    report = reports.Report(
        sides,
        plan,
        options.margin,
        collected,
        reports.compare(collected, metrics, options.margin),
        reports.compare(collected, metrics, options.margin, 2) if options.control else [],
        _machine(),
        prediction,
    )
    match options.form:
        case "json":
            text = reports.render_json(report)
        case "csv":
            text = reports.render_csv(report)
        case "markdown":
            text = reports.render_markdown(report)
        case _:
            text = reports.render_text(report)
    shared.write(text)
    doubts: list[Problem] = []
    if collected.interrupted:
        doubts.append(messages.interrupted(pairs, plan.pairs))
    if collected.replaced or collected.disturbed:
        doubts.append(messages.disturbed(collected.replaced, collected.disturbed, DISTURBED))
    half = half_width(collected.pairs(plan.metric))
    if plan.precision is not None and half > plan.precision and not collected.interrupted:
        doubts.append(messages.imprecise(half, plan.precision, pairs))
    cpu = statistics.median(trial.cpu for block in collected.blocks for trial in block)
    if cpu < _SHORT:
        doubts.append(messages.short_runs(cpu))
    shared.print_warnings(doubts)
    return _gates(options, report.comparisons[0].estimate)


def _gates(options: argparse.Namespace, estimate: Estimate) -> int:
    failed = [each.text for each in options.gate if each.fails(estimate)]
    for text in failed:
        print(f"coz: gate: {text}", file=sys.stderr)
    return STATUS_GATE if failed else 0


def sides_of(first: Sequence[str], rest: Sequence[str]) -> list[Side]:
    """A and B from the command line: `A --- vs B`, or `--- A --- B`; `vs` may be left out.

    Raises:
        CozError: one is missing, or not executable.
    """
    first, rest = list(first), list(rest)
    if not first:
        at = next((i for i, word in enumerate(rest) if word in _SEPARATORS), len(rest))
        first, rest = rest[:at], rest[at + 1 :]
    if rest[:1] == ["vs"]:
        rest = rest[1:]
    if not first or not rest:
        raise CozError(messages.no_programs())
    return [_side("A", first), _side("B", rest)]


def _side(name: str, words: Sequence[str]) -> Side:
    if _SEED not in words[0]:
        return Side(name, [_program(words[0]), *words[1:]])
    builds = [
        path
        for path in sorted(glob.glob("*".join(map(glob.escape, words[0].split(_SEED)))))
        if os.access(path, os.X_OK)
    ]
    if len(builds) < _MIN_BUILDS:
        raise CozError(messages.too_few_builds(words[0], len(builds), _MIN_BUILDS))
    return Side(name, list(words), builds=[os.path.abspath(path) for path in builds])


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise CozError(messages.not_found(name), 127)
    return path


def _check_input(path: str) -> None:
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise CozError(messages.no_input(path, error.strerror or str(error))) from error


def _choose_processors(wanted: Sequence[int] | None) -> None:
    """Run on these processors; programs inherit that."""
    allowed = sorted(os.sched_getaffinity(0))
    if wanted is None:
        if len(allowed) < 2:
            raise CozError(messages.one_processor())
        return
    if not set(wanted) <= set(allowed):
        raise CozError(messages.no_such_processors(wanted, allowed))
    os.sched_setaffinity(0, wanted)


def _machine() -> dict[str, Any]:
    def read(path: str) -> str:
        try:
            return Path(path).read_text().strip()
        except OSError:
            return ""

    return {
        "processors": sorted(os.sched_getaffinity(0)),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "randomize_va_space": read("/proc/sys/kernel/randomize_va_space"),
    }


def _pairs(text: str) -> int:
    number = shared.natural(text)
    if not MIN_PAIRS <= number <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {MIN_PAIRS} to 10000")
    return number


def _percent(text: str) -> float:
    match = re.fullmatch(r"([0-9]{1,2}(?:\.[0-9]{1,3})?)\s*%?", text)
    if not match or float(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of per cent above 0, as in 0.5%")
    return float(match[1]) / 100


def _processors(text: str) -> list[int]:
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", part)
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of processors, as in 1,3 or 2-5")
        found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return sorted(found)
