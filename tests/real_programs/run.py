"""Runs test suites of real programs plain and under `coz run`, and compares each test: docs/real_programs.md.

Usage: run.py [--layout SEED] [NAME...], after `make`; `make real-programs` does both. With a seed, the second
way is not a profile but the program with its functions moved. Status 1 when something differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import ROOT, Result, compare
from programs import PROGRAMS
from sources import MissingError

BELOW = ROOT / "build/real_programs"


def print_table(results: list[Result]) -> None:
    way = results[0].way if results else "profiled"
    head = ("program", "version", "tests plain", way, "differ", "experiments", "s plain", f"s {way}")
    print(" | ".join(head))
    for result in results:
        counts = (len(result.plain), len(result.second), len(result.differences()), result.experiments)
        seconds = (f"{value:.0f}" for value in result.seconds)
        print(" | ".join(map(str, (result.name, result.version, *counts, *seconds))))
    for result in results:
        for difference in result.differences():
            print(f"{result.name}: {difference}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", metavar="NAME", help="which programs (default: all)")
    parser.add_argument("--limit", type=float, default=1800, help="seconds for each command (default: 1800)")
    parser.add_argument(
        "--layout", metavar="SEED", help="not profiled, but with functions moved by this seed"
    )
    options = parser.parse_args()
    known = {program.name: program for program in PROGRAMS}
    for name in options.names:
        if name not in known:
            parser.error(f"{name} is none of {', '.join(known)}")
    BELOW.mkdir(parents=True, exist_ok=True)
    results, complete = [], True
    for name in options.names or known:
        try:
            result = compare(known[name], BELOW, options.limit, options.layout)
        except MissingError as error:
            print(f"{name}: not run: {error}", file=sys.stderr)
            complete = False
            continue
        (BELOW / f"{name}.json").write_text(json.dumps(asdict(result), indent=1))
        results.append(result)
    print_table(results)
    ran = all(result.plain for result in results)
    return 0 if complete and ran and not any(result.differences() for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
