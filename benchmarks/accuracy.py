"""Predicted against true effects, on programs whose lines can really be made faster.

    accuracy.py [--seconds 180] [--coz PATH]... [--truth-only] [--report] [PROGRAM...]

docs/accuracy.md explains what is measured, and what each program shows. Needs an otherwise idle
machine with at least two processors.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from ground_truth import compare, predict, programs, table, truth

JSON = programs.BUILD / "accuracy.json"
PICTURE = programs.BUILD / "accuracy.png"
OURS = "coz"


@dataclass(frozen=True)
class Tool:
    """A command that profiles, as often as it is to be compared: once for each granularity of ours."""

    command: Path
    options: tuple[str, ...] = ()
    reads_dwarf5: bool = True

    def binary(self, program: programs.Program) -> Path:
        """The program, as this command can read it."""
        return program.binary if self.reads_dwarf5 else program.classic_binary


def progress(text: str) -> None:
    """Say what is being done, on standard error."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all")
    parser.add_argument("--seconds", type=float, default=180, help="of profiling each program (%(default)s)")
    parser.add_argument(
        "--coz",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="another coz-compatible command to run beside ours, on programs with DWARF 3; repeatable",
    )
    defaults = truth.Settings()
    parser.add_argument(
        "--truth-seconds",
        type=float,
        default=defaults.seconds,
        help="of a slice of the run for the truth (%(default)s)",
    )
    parser.add_argument(
        "--truth-slices", type=int, default=defaults.slices, help="of each line and speedup (%(default)s)"
    )
    parser.add_argument(
        "--turns", type=int, default=6, help="in which truth and profiles take turns (%(default)s)"
    )
    parser.add_argument(
        "--granularity",
        choices=("line", "function"),
        action="append",
        help="what our command speeds up (line); repeatable, for one beside the other",
    )
    parser.add_argument("--truth-only", action="store_true", help="don't profile")
    parser.add_argument("--report", action="store_true", help=f"print {JSON.name} again, measure nothing")
    return parser


def tools(options: argparse.Namespace) -> dict[str, Tool]:
    """The commands to run, by the names under which they are reported. The first one is ours."""
    if options.truth_only:
        return {}
    found: dict[str, Tool] = {}
    for granularity in options.granularity or ["line"]:
        name = f"{OURS} --granularity {granularity}" if found else OURS
        found[name] = Tool(predict.COZ, ("--granularity", granularity))
    for path in options.coz:
        found[str(path)] = Tool(path, reads_dwarf5=False)
    return found


def measure(options: argparse.Namespace, chosen: list[programs.Program]) -> compare.Results:
    """Truths and predictions of all programs; the results are saved after each of them."""
    results = compare.Results(options.seconds)
    for program in chosen:
        results.programs.append(measure_program(options, program))
        if not options.truth_only:
            compare.save(JSON, results)
    progress("")
    return results


def measure_program(options: argparse.Namespace, program: programs.Program) -> compare.Measured:
    """Truth and predictions in turns, so that the machine is the same to all of them."""
    settings = truth.Settings(options.truth_seconds, options.truth_slices)
    turns = options.turns
    profiles = {
        name: predict.PROFILES / f"{program.name}.{number}.coz" for number, name in enumerate(tools(options))
    }
    for output in profiles.values():
        output.unlink(missing_ok=True)
    slices = []
    for turn in range(1, turns + 1):
        seconds = truth.seconds_of_a_turn(program, settings, turns)
        progress(f"{program.name}, turn {turn} of {turns}: truth, {seconds:.0f} s")
        slices.append(truth.run_turn(program, settings, turns))
        for name, tool in tools(options).items():
            progress(f"{program.name}, turn {turn} of {turns}: {name}, {options.seconds / turns:.0f} s")
            predict.profile(
                program,
                tool.command,
                tool.binary(program),
                profiles[name],
                options.seconds / turns,
                (*tool.options, *(program.run_options if tool.command == predict.COZ else ())),
            )
    measured = compare.Measured(program.name, truth.of_turns(program, slices))
    for name, output in profiles.items():
        measured.tools[name] = predict.predict(program, output, measured.true.steepest())
    return measured


def missing(chosen: list[programs.Program], with_classic: bool) -> list[Path]:
    """Executables that have not been built."""
    wanted = [program.binary for program in chosen]
    if with_classic:
        wanted += [program.classic_binary for program in chosen]
    return [path for path in wanted if not path.exists()]


def main() -> int:
    """Run the benchmark; exit status 1 when a program gave no result with our command."""
    parser = arguments()
    options = parser.parse_args()
    try:
        chosen = programs.choose(options.programs)
    except ValueError as error:
        parser.error(str(error))
    if options.report:
        if not JSON.exists():
            parser.error(f"there is no {JSON}: nothing has been measured")
        results = compare.load(JSON)
    else:
        if absent := missing(chosen, bool(options.coz)):
            parser.error(f"{absent[0]} is missing: make bench-programs bench-programs-dwarf3")
        results = measure(options, chosen)
    print(table.render(results))
    if not results.tools:
        return 0
    from ground_truth.figure import write_figure

    write_figure(results, PICTURE)
    print(f"{PICTURE}\n{JSON}")
    return 0 if all(program.tools[OURS].predictions for program in results.programs) else 1


if __name__ == "__main__":
    sys.exit(main())
