"""What profiling costs: whole programs, start-up, threads, visits to progress points, companions.

    overhead.py [--only SECTION]... [--rounds 6] [--seconds 1] [--rows 100000,1000000]

Runs of the same program in different modes alternate, and are compared within each round; shown are
medians, with an interval from order statistics. docs/overhead.md explains the columns. Needs an otherwise
idle machine with at least two processors.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import overhead_doses
import overhead_programs
import overhead_startup
import overhead_threads
from overhead_measure import FOLDER

SECTIONS = ("programs", "startup", "threads", "visits", "doses")
#: Companions come only after the first seconds, so doses are measured in longer runs than the rest.
_DOSE_TIMES = 8


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [*overhead_programs.WORKLOADS, overhead_programs.SQLITE]
    parser.add_argument("--only", action="append", choices=SECTIONS, help="repeatable; default: all")
    parser.add_argument("--rounds", type=_positive, default=6, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=1.0, help="plain time of a program")
    parser.add_argument("--programs", type=_list, default=names, help=f"default: {','.join(names)}")
    parser.add_argument("--rows", type=_numbers, default=[100_000, 1_000_000], help="line rows")
    parser.add_argument("--churn", type=int, default=50_000, help="short threads, 0 for none")
    parser.add_argument("--counts", type=_numbers, default=list(overhead_threads.COUNTS))
    parser.add_argument("--visits", type=_positive, default=10_000_000)
    return parser.parse_args(arguments)


def main() -> int:
    """Measures what was asked for, prints tables and writes build/bench/overhead.json."""
    options = parse()
    FOLDER.mkdir(parents=True, exist_ok=True)
    measures: dict[str, Callable[[], Any]] = {
        "programs": lambda: overhead_programs.measure(options.programs, options.seconds, options.rounds),
        "startup": lambda: overhead_startup.measure(options.rows, options.rounds),
        "threads": lambda: overhead_threads.measure_threads(options.churn, options.counts, options.rounds),
        "visits": lambda: overhead_threads.measure_visits(options.visits, options.rounds),
        "doses": lambda: overhead_doses.measure(_DOSE_TIMES * options.seconds, options.rounds),
    }
    results: dict[str, Any] = {
        "time": time.time(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": os.uname().release,
        "rounds": options.rounds,
        "seconds": options.seconds,
    }
    for section in options.only or SECTIONS:
        print(f"\n{section}\n{'=' * len(section)}", flush=True)
        results[section] = measures[section]()
    path = FOLDER / "overhead.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n{path.relative_to(FOLDER.parent.parent)} has all figures.")
    return 0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _list(text: str) -> list[str]:
    return text.split(",")


def _numbers(text: str) -> list[int]:
    return [_positive(part) for part in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
