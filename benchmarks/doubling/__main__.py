"""Real programs in which a function runs twice: does a profile tell what the second run costs?

    python -m doubling [--list | --report | --prepare] [--seconds 66] [PROGRAM[/REGION[/THREADS[/QUOTA]]]...]

A program of Debian's is built from its unchanged source. The linker puts wrappers of ours (wrappers/) before
some of its functions, which run them twice if an environment variable asks for it, as a region. Speeding the
region up by 50 % then is the same as undoing that, which is measured by pairs of runs. docs/accuracy.md
has the results. Needs an otherwise idle machine, and the first time Debian's mirrors.
"""

from __future__ import annotations

import argparse
import functools
import sys

from doubling import table
from doubling.build import prepare
from doubling.control_group import NoControlGroupError
from doubling.measure import Measurement, Settings
from doubling.outcome import load, save
from doubling.program import BUILD, Case, Program
from doubling.programs import PROGRAMS

RESULTS = BUILD / "outcomes.json"


def chosen(names: list[str]) -> list[tuple[Program, Case]]:
    """The cases of these names, or of beginnings of names; all without names.

    Raises:
        ValueError: there is none of a name.
    """
    everything = [(program, case) for program in PROGRAMS for case in program.cases]
    if not names:
        return everything
    found = []
    for name in names:
        fitting = [
            (program, case)
            for program, case in everything
            if f"{program.name}/{case.name}/".startswith(f"{name.rstrip('/')}/")
        ]
        if not fitting:
            raise ValueError(f"there is no case {name}; --list shows all")
        found += [each for each in fitting if each not in found]
    return found


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="make bench-doubling", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    settings = Settings()
    parser.add_argument(
        "--seconds", type=float, default=settings.seconds, help="of profiling each case (%(default)g)"
    )
    parser.add_argument("--pairs", type=int, default=settings.pairs, help="of runs, 6 or more (%(default)s)")
    parser.add_argument(
        "--turns", type=int, default=settings.turns, help="of pairs and profile (%(default)s)"
    )
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--prepare", action="store_true", help="fetch and build only")
    parser.add_argument("--report", action="store_true", help="print the last results again")
    return parser


def main() -> int:
    """Measure, print; exit status 1 when a case does not hold."""
    parser = arguments()
    options = parser.parse_args()
    try:
        cases = chosen(options.cases)
    except ValueError as error:
        parser.error(str(error))
    if options.pairs < 6:
        parser.error("--pairs: six are the fewest that have an interval")
    names = [f"{program.title} {case.name}" for program, case in cases]
    if options.list:
        print("\n".join(f"{program.name}/{case.name}: {case.all_threads}" for program, case in cases))
        return 0
    if not options.report:
        for program in {program.name: program for program, _ in cases}.values():
            prepare(program)
    if options.prepare:
        return 0
    known = {f"{each.program} {each.case}": each for each in load(RESULTS)}
    if not options.report:
        settings = Settings(seconds=options.seconds, pairs=options.pairs, turns=options.turns)
        for name, (program, case) in zip(names, cases, strict=True):
            try:
                with Measurement(program, case, settings) as measurement:
                    known[name] = measurement.outcome(functools.partial(progress, name))
            except NoControlGroupError as error:
                print(f"{name} is left out: {error}", file=sys.stderr)
            # What is measured is kept, whatever becomes of the next case.
            save(RESULTS, list(known.values()))
        progress("", "")
    outcomes = [known[name] for name in names if name in known]
    print(table.render(outcomes))
    return 0 if all(outcome.held for outcome in outcomes) else 1


def progress(name: str, what: str) -> None:
    """Say what is being done, on standard error; nothing clears that."""
    if sys.stderr.isatty():
        print(f"\r\033[K{name}{': ' if what else ''}{what}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
