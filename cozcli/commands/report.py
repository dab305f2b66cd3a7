"""`coz report`: which lines matter, as a table or as JSON."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from typing import TYPE_CHECKING

from cozcli.commands import options as shared
from cozcli.profile.profile import load_profile

if TYPE_CHECKING:
    from cozcli.reports.base import Report


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "report",
        help="print lines ranked by impact",
        description="Print the lines whose optimization matters, ranked by impact.",
        allow_abbrev=False,
    )
    shared.add_analysis_options(parser, min_points=1, default="1")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--instances",
        action="store_true",
        help="list also the functions that a line is part of, as of a template's instances",
    )
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Read, analyse, print."""
    shared.require_packages("numpy", *([] if options.json else ["rich"]))
    # numpy takes a tenth of a second to load, and threads: `coz run` must have neither.
    from cozcli.analysis.analyse import Selection, analyse
    from cozcli.reports.json_report import JsonReport
    from cozcli.reports.text import TextReport

    profile = load_profile(options.files or [shared.DEFAULT_PROFILE])
    selection = Selection(options.min_points, options.line, options.progress_point)
    analysis = analyse(profile, selection)
    report: Report = JsonReport() if options.json else TextReport(_terminal_width(), options.instances)
    _write(report.render(analysis))
    shared.print_warnings(analysis.warnings)
    return 0


def _terminal_width() -> int | None:
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return None
    return shutil.get_terminal_size().columns


def _write(text: str) -> None:
    """Write text whatever the locale's encoding can hold."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, errors="replace").decode(encoding))
