"""The options of `coz compare`, and what their values may be."""

from __future__ import annotations

import argparse
import os
import re

from cozcli.commands import options as shared
from cozcli.commands import values
from cozcli.compare.counters import EVENTS
from cozcli.compare.gate import gate
from cozcli.compare.memory_layouts import SYSTEM
from cozcli.compare.result import MIN_PAIRS

DEFAULT_PAIRS = 30
FIXED_PAIRS = 12
_POINT_METRIC = re.compile(r"(?:progress|latency):.+", re.DOTALL)
_HEAP_MODE = re.compile(r"shuffle(?::([0-9]{1,4}))?|offset|zero")


class _Metrics(tuple[str, ...]):
    """Those that have a name of their own, and with `in` those of progress points, too."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and bool(_POINT_METRIC.fullmatch(name)))


_METRICS = _Metrics(("cpu", "wall", "memory", *EVENTS))


def _metric(text: str) -> str:
    if text not in _METRICS:
        known = ", ".join((*_METRICS, "progress:NAME", "latency:NAME"))
        raise argparse.ArgumentTypeError(f"{text!r} is none of {known}")
    return text


def add_options(parser: argparse.ArgumentParser) -> None:
    """All of them, and the first program."""
    parser.add_argument("a", nargs=argparse.REMAINDER, metavar="A", help="a program and its arguments")
    parser.add_argument(
        "--suite", metavar="FILE", help="compare programs × treatments, as a TOML file lists them"
    )
    _add_measurement(parser)
    _add_design(parser)
    _add_layouts(parser)
    _add_results(parser)


def _add_measurement(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is measured")
    group.add_argument(
        "--metric",
        action="append",
        choices=_METRICS,
        type=_metric,
        metavar="METRIC",
        help="cpu: processor time; wall; memory: peak resident; progress:NAME: visits of a progress point a "
        "second; latency:NAME: mean time from its begin to its end; instructions, cycles, cache-misses, "
        "branch-misses, page-faults, context-switches: as the kernel counts them; repeatable, the first "
        "decides (default: cpu)",
    )
    group.add_argument(
        "--profile", metavar="PROFILE", help="a causal profile of A; with --line: what it predicts, beside it"
    )
    group.add_argument("--line", metavar="PATTERN", help="the line that B makes faster, as for coz report")
    group.add_argument(
        "--import-hyperfine", metavar="FILE", help="compare the runs in a file of hyperfine --export-json"
    )
    group.add_argument("--input", metavar="FILE", default=os.devnull, help="their standard input")
    group.add_argument("--check-output", action="store_true", help="refuse if A and B print different things")
    group.add_argument("--cpus", metavar="LIST", type=_processors, help="processors to run on, as 1,3 or 2-5")


def _add_design(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how often")
    group.add_argument(
        "-n",
        "--pairs",
        metavar="N",
        type=_pairs,
        help=f"runs of each, at most (default: {DEFAULT_PAIRS}; of a suite 12; with --precision 200)",
    )
    group.add_argument(
        "--precision",
        metavar="PERCENT",
        type=percentage,
        help="stop once half of the 95 %% interval is this narrow, as 0.5%%",
    )
    group.add_argument(
        "--warm-up", metavar="N", type=shared.natural, default=1, help="runs of each before (default: 1)"
    )
    group.add_argument("--control", action="store_true", help="also compare A with itself, as a check")
    group.add_argument("--layout-seed", metavar="N", type=values.seed, help="repeat the order and layouts")


def _add_layouts(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where memory lies")
    group.add_argument(
        "--layout",
        choices=("auto", "runtime", "link", "none"),
        default="auto",
        help="runtime: each run has its functions in other places, moved at its start; link: another of the "
        "builds that {seed} stands for; auto: what is possible; each also with another environment size, "
        "which moves the stack; none: change nothing (default: auto)",
    )
    group.add_argument(
        "--rerandomize",
        metavar="TIME",
        type=values.interval,
        default=0,
        help="also move functions while a program runs, in such intervals, as 500ms: the time of a run of "
        "some seconds is then a mean over many layouts",
    )
    group.add_argument(
        "--fixed-pairs",
        metavar="N",
        type=_fixed_pairs,
        default=FIXED_PAIRS,
        help="if functions are moved: pairs of runs without that, to say what the one layout that the linker "
        f"chose would have said (default: {FIXED_PAIRS}; 0: none)",
    )
    group.add_argument(
        "--heap",
        metavar="MODES",
        type=_heap,
        help="where blocks of the heap lie, anew in each run: shuffle (small ones; shuffle:N keeps N of each "
        "size, default 256), offset (big ones, within the page), zero (also zero them), several with commas, "
        "or system (default)",
    )
    group.add_argument(
        "--stack",
        choices=("random", SYSTEM),
        default=SYSTEM,
        help="random: stacks, of threads too, begin elsewhere within a page in each run (default: system)",
    )


def _add_results(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("results")
    group.add_argument(
        "--margin",
        metavar="PERCENT",
        type=percentage,
        default=0.01,
        help="smaller differences do not matter: A and B are equivalent (default: 1%%)",
    )
    group.add_argument(
        "--t-test", action="store_true", help="also print Student's t-test, and tests of what it assumes"
    )
    group.add_argument(
        "--gate",
        metavar="CONDITION",
        action="append",
        default=[],
        type=gate,
        help="end with status 1 if 'slower > 1%%', 'not faster', 'inconclusive', …; repeatable",
    )
    group.add_argument(
        "--plot",
        metavar="FILE",
        help="also draw the result: .png, .svg or .pdf (coz plot draws that of --json)",
    )
    group.add_argument("--html", metavar="FILE", help="also write a page for the browser, with figures")
    shared.add_forms(group, shared.FORMS)


def refuse(options: argparse.Namespace, reason: str, *names: str) -> None:
    """End the command if one of these options was given; reason: why they do not go together."""
    for name in names:
        destination = name.removeprefix("--").replace("-", "_")
        if getattr(options, destination) != options.parser.get_default(destination):
            options.parser.error(f"{reason}: leave out {name}")


def _heap(text: str) -> str:
    if text == SYSTEM:
        return text
    for mode in text.split(","):
        match = _HEAP_MODE.fullmatch(mode)
        if not match or (match[1] and not 2 <= int(match[1]) <= 4096):
            raise argparse.ArgumentTypeError(
                f"{text!r} is not system, or some of shuffle, shuffle:N, offset and zero with commas"
            )
    return text


def _pairs(text: str) -> int:
    number = shared.natural(text)
    if not MIN_PAIRS <= number <= 10_000:
        raise argparse.ArgumentTypeError(f"must be a whole number from {MIN_PAIRS} to 10000 (got {text!r})")
    return number


def _fixed_pairs(text: str) -> int:
    return 0 if text == "0" else _pairs(text)


def percentage(text: str) -> float:
    """A share above 0 in per cent, as a fraction."""
    match = re.fullmatch(r"([0-9]{1,2}(?:\.[0-9]{1,3})?)\s*%?", text)
    if not match or float(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of per cent above 0, as in 0.5%")
    return float(match[1]) / 100


def _processors(text: str) -> list[int]:
    return sorted(values.numbers(text, 4, "processors, as in 1,3 or 2-5"))
