"""`coz plot`: the curves of all lines, as one picture."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from cozcli.analysis import PACKAGES
from cozcli.commands import classic_options, messages, report
from cozcli.commands import options as shared
from cozcli.errors import CozError
from cozcli.extensions import drawing
from cozcli.messages import cannot_write, printable
from cozcli.output_file import writing
from cozcli.profile.profile import Profile, load_profile

#: A curve of fewer speedups is not drawn (the dissertation's number), unless no more were asked for.
MIN_POINTS = 5
DEFAULT_OUTPUT = "profile.png"
SUFFIXES = (".png", ".svg", ".pdf")
#: How a document begins, and as much of a file as is looked at.
_FORMAT = re.compile(rb'\s*\{\s*"format":\s*"([a-z-]+)"')
_HEAD = 200
#: Without --top: panels at most, and how far results of few data may fill up what there is.
MAX_PANELS, FILLED_PANELS = 30, 12


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "plot",
        help="draw the curve of each line",
        description="Draw the effect of speeding up each line, sorted by slope.",
        allow_abbrev=False,
    )
    shared.add_analysis_options(
        parser, min_points=None, default=f"{MIN_POINTS}; fewer for runs with --speedups or companions"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=DEFAULT_OUTPUT,
        help="picture to write: .png, .svg or .pdf (default: %(default)s)",
    )
    parser.add_argument(
        "--top",
        metavar="N",
        type=shared.positive,
        help=f"draw the N highest-ranking lines (default: up to {MAX_PANELS} that may matter; lines of few "
        f"data only where there are fewer than {FILLED_PANELS} others)",
    )
    parser.add_argument(
        "--theme",
        choices=("light", "dark", "print"),
        default="light",
        help="light, dark, or for printing without colours (default: %(default)s)",
    )
    classic_options.add_to_plot(parser)
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Read, analyse, draw, and print where the picture is."""
    options.files = [*options.files, *options.files_by_option]
    if options.text:
        return report.print_table(options)
    output = Path(options.output)
    if output.suffix.lower() not in SUFFIXES:
        raise CozError(messages.unknown_picture_format(options.output))
    if os.path.isdir(output):  # Path's own method fails where a folder may not be searched
        raise CozError(cannot_write(options.output, "it is a directory"))
    shared.require_packages(*PACKAGES, "matplotlib")
    if drawer := drawer_of(options.files or [shared.DEFAULT_PROFILE]):
        drawer(str(output), options.theme)
        shared.write(f"{printable(str(output))}\n")
        return 0
    profile = load_profile(options.files or [shared.DEFAULT_PROFILE])
    # These take half a second to load, which a wrong file name need not wait for.
    from cozcli.analysis.analyse import analyse
    from cozcli.analysis.rank.ranking import leading
    from cozcli.analysis.rank.rest import divide
    from cozcli.analysis.rank.result_filter import ResultFilter
    from cozcli.reports.figure import write_extension, write_figure
    from cozcli.reports.summary import describe_rest
    from cozcli.reports.theme import theme_named

    min_points = default_min_points(profile) if options.min_points is None else options.min_points
    analysis = analyse(profile, ResultFilter(min_points, options.line, options.progress_point))
    if options.top is None:
        wanted, rest = divide(analysis.results)
        shown = leading(wanted, MAX_PANELS, FILLED_PANELS)
    else:
        wanted, rest = analysis.results, ()
        shown = leading(wanted, options.top, options.top)
    left_out = len(analysis.results) - len(shown)
    theme = theme_named(options.theme)
    with writing(options.output) as temporary:
        is_of_load = write_extension(analysis, temporary, theme)
        if not is_of_load:
            write_figure(replace(analysis, results=shown), temporary, left_out, theme)
    shared.write(f"{printable(str(output))}\n")
    if rest and not is_of_load:
        print(f"coz: not drawn: {describe_rest(rest)}", file=sys.stderr)
    if len(shown) < len(wanted) and not is_of_load:
        print(f"coz: {messages.curves_left_out(len(shown), len(wanted))}", file=sys.stderr)
    shared.print_warnings(analysis.warnings)
    return 0


def drawer_of(files: Sequence[str]) -> Callable[[str, str], None] | None:
    """What draws a file that is no profile, but a document of a higher layer's; it takes output and theme.

    Raises:
        CozError: the file is such a document, but damaged.
    """
    if len(files) != 1 or not os.path.isfile(files[0]):
        return None  # what is read from a pipe here, reading it as a profile would lack
    try:
        with open(files[0], "rb") as stream:
            begin = stream.read(_HEAD)
    except OSError:
        return None  # reading it as a profile says what is wrong
    match = _FORMAT.match(begin)
    draw = drawing(match[1].decode()) if match else None
    if draw is None:
        return None
    try:
        document = json.loads(Path(files[0]).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CozError(messages.damaged_document(files[0], str(error))) from None
    return lambda output, theme: draw(document, output, theme)


def default_min_points(profile: Profile) -> int:
    """Runs that tried few speedups, as they were asked, have curves of few points.

    Those of combined windows come from all of them, whichever speedups a line had; under several loads,
    curves are drawn to show what load does.
    """
    if any(run.record.companion_dose > 0 or run.arrival_speedup for run in profile.runs):
        return 1
    planned = [run.record.planned_speedups for run in profile.runs]
    known = [speedups for speedups in planned if speedups is not None]
    if len(known) < len(planned):
        return MIN_POINTS
    return max(1, min(MIN_POINTS, len(frozenset().union(*known))))
