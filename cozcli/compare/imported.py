"""`coz compare --import-hyperfine FILE`: the runs that hyperfine measured."""

from __future__ import annotations

import argparse
import json

from cozcli import __version__
from cozcli.commands import options as shared
from cozcli.compare import messages
from cozcli.compare.drawing import draw
from cozcli.compare.gate import gates
from cozcli.compare.hyperfine import Command, estimate_unpaired, median, read_hyperfine
from cozcli.compare.options import refuse
from cozcli.compare.report import COLUMNS, FORMAT, VERSION
from cozcli.compare.result import Estimate
from cozcli.messages import duration, printable
from cozcli.reports.cells import p_text, to_csv, to_markdown


def execute(options: argparse.Namespace) -> int:
    """Compare every command of the file with the first one, print, and warn."""
    if options.a or options.program:
        options.parser.error("--import-hyperfine starts no programs: leave them out")
    refuse(options, "--import-hyperfine takes runs that were made already", *_OF_RUNS)
    commands = read_hyperfine(options.import_hyperfine)
    found = [estimate_unpaired(commands[0].times, b.times, options.margin) for b in commands[1:]]
    rows = [_row(b, estimate) for b, estimate in zip(commands[1:], found, strict=True)]
    match options.form:
        case "json":
            text = _json(commands, found)
        case "csv":
            text = to_csv(COLUMNS, [_values(commands, number, found) for number in range(len(found))])
        case "markdown":
            text = to_markdown(_HEADINGS, rows, [False, *[True] * (len(_HEADINGS) - 1)])
        case _:
            lines = [f"{row[0]}: {row[1]}, B / A = {row[2]} [{row[3]}], p = {row[4]}" for row in rows]
            text = f"A: {printable(commands[0].name)} ({duration(1e9 * median(commands[0]))})\n"
            text += "\n".join(lines) + "\n"
    shared.write(text)
    if options.plot:
        draw(json.loads(_json(commands, found)), options.plot)
    shared.print_warnings([messages.unpaired(options.import_hyperfine)])
    return gates(options, [(printable(b.name), each) for b, each in zip(commands[1:], found, strict=True)])


#: Options that say how runs are made, or need them in pairs.
_OF_RUNS = (
    *("--pairs", "--precision", "--metric", "--t-test", "--html", "--control", "--layout", "--rerandomize"),
    *("--fixed-pairs", "--heap", "--stack", "--profile", "--line", "--layout-seed", "--warm-up", "--input"),
    *("--check-output", "--cpus"),
)
_HEADINGS = ("B", "verdict", "B / A", "95 %", "p", "wall time")


def _row(b: Command, found: Estimate) -> list[str]:
    return [
        printable(b.name),
        found.verdict,
        f"{found.ratio:.4f}",
        f"{found.low:.4f} to {found.high:.4f}",
        p_text(found.p),
        duration(1e9 * median(b)),
    ]


def _values(commands: list[Command], number: int, found: list[Estimate]) -> list[str]:
    return [str(v) for v in (*found[number], "wall", median(commands[0]), median(commands[number + 1]))]


def _json(commands: list[Command], found: list[Estimate]) -> str:
    data = {
        "format": FORMAT,
        "version": VERSION,
        "coz": __version__,
        "paired": False,
        "sides": [
            {"name": chr(ord("A") + i) if i < 26 else str(i), "command": [c.name]}
            for i, c in enumerate(commands)
        ],
        "comparisons": [
            {"metric": "wall", **each._asdict(), "a": median(commands[0]), "b": median(commands[i + 1])}
            for i, each in enumerate(found)
        ],
    }
    return json.dumps(data, indent=1) + "\n"
