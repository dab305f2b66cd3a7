"""`coz report`: which lines matter, as a table or for other programs; and whether an effect fails a build."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cozcli.analysis import PACKAGES
from cozcli.analysis.check.threshold_syntax import EXAMPLE, Threshold, parse_threshold
from cozcli.commands import messages
from cozcli.commands import options as shared
from cozcli.errors import CozError, Problem
from cozcli.messages import printable
from cozcli.profile.profile import Run, load_profile

if TYPE_CHECKING:
    from cozcli.analysis.check.threshold_verdict import Verdict
    from cozcli.analysis.result import Analysis
    from cozcli.reports.base import Report

#: The forms besides the table, and what --help says of them.
FORMS = {
    "json": "print JSON instead of a table",
    "csv": "print CSV, for spreadsheets and scripts",
    "markdown": "print a Markdown table, for reviews and notes",
    "annotate": "print FILE:LINE: note: ..., as compilers do, for editors and CI systems",
    "sarif": "print SARIF, which code hosts and editors show beside the lines",
}
#: A threshold of --fail-if is exceeded. Not that of a refused command line or an unreadable profile.
STATUS_EXCEEDED = 1


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "report",
        help="print lines ranked by impact",
        description="Print the lines whose optimization matters, ranked by impact.",
        allow_abbrev=False,
    )
    shared.add_analysis_options(parser, min_points=1, default="1")
    shared.add_forms(parser, FORMS)
    parser.add_argument(
        "--no-source", dest="source", action="store_false", help="do not show the text of the leading lines"
    )
    parser.add_argument(
        "--fail-if",
        metavar="THRESHOLD",
        action="append",
        default=[],
        type=_threshold,
        help="end with status 1 if an effect is certainly beyond a limit, as in "
        f"'{EXAMPLE.replace('%', '%%')}' (at and on may be left out); repeatable",
    )
    parser.add_argument(
        "--instances",
        action="store_true",
        help="list also the functions that a line is part of, as of a template's instances",
    )
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Read, analyse, print."""
    shared.require_packages(*PACKAGES, *(["rich"] if options.form in (None, "markdown") else []))
    # numpy takes a tenth of a second to load, and threads: `coz run` must have neither.
    from cozcli.analysis.analyse import analyse, select
    from cozcli.analysis.rank.result_filter import ResultFilter

    profile = load_profile(options.files or [shared.DEFAULT_PROFILE])
    result_filter = ResultFilter(options.min_points, options.line, options.progress_point)
    analysis = analyse(profile)
    shared.write(_make_report(options).render(select(analysis, result_filter)))
    shared.print_warnings(analysis.warnings)
    return _exit_status(options.fail_if, analysis, profile.runs)  # whatever is shown


def print_table(options: argparse.Namespace) -> int:
    """The table of the files and lines that another command's options name (`coz plot --text`)."""
    own: dict[str, object] = {
        "form": None,
        "source": True,
        "fail_if": [],
        "instances": False,
        "min_points": options.min_points or 1,
    }
    return execute(argparse.Namespace(**{**vars(options), **own}))


def _make_report(options: argparse.Namespace) -> Report:
    from cozcli.reports.annotate import AnnotateReport
    from cozcli.reports.json_report import JsonReport
    from cozcli.reports.sarif import SarifReport
    from cozcli.reports.table_reports import CsvReport, MarkdownReport

    match options.form:
        case "json":
            return JsonReport()
        case "csv":
            return CsvReport()
        case "markdown":
            return MarkdownReport()
        case "annotate":
            return AnnotateReport()
        case "sarif":
            return SarifReport()
        case _:
            from cozcli.reports.text import TextReport  # needs rich

            return TextReport(shared.terminal_width(), options.instances, options.source)


def _exit_status(thresholds: Sequence[Threshold], analysis: Analysis, runs: Sequence[Run]) -> int:
    """The exit status, after saying on standard error which thresholds were exceeded.

    Raises:
        CozError: none was, but one names nothing that the profile has.
    """
    from cozcli.analysis.check.threshold_names import closest, is_sampled, known_points
    from cozcli.analysis.check.threshold_verdict import check_threshold
    from cozcli.analysis.input.locations import point_named

    sys.stdout.flush()
    status = 0
    unknown: list[Problem] = []
    for threshold in thresholds:
        verdict = check_threshold(threshold, analysis.results)
        if verdict.result is not None and verdict.point is not None:
            status = STATUS_EXCEEDED
            with contextlib.suppress(OSError):  # nobody reads it; the status says it, too
                print(f"coz: {printable(_excess(verdict, analysis))}", file=sys.stderr)
        elif verdict.unfit and verdict.looked_at == verdict.unfit:
            shared.print_warnings([messages.threshold_without_data(threshold.text)])
        elif verdict.is_beyond_curves:
            shared.print_warnings([messages.threshold_beyond_curves(threshold.text)])
        elif verdict.looked_at == 0:
            points = known_points(analysis, runs)
            point = point_named(threshold.point, points)
            if point in set(points) - {result.point for result in analysis.results}:
                shared.print_warnings([messages.threshold_of_rare_point(threshold.text, point)])
                continue
            if point in ("", *points) and is_sampled(threshold, runs):
                shared.print_warnings([messages.threshold_not_measured(threshold.text)])
                continue
            known = closest(threshold.line, analysis, runs)
            unknown.append(messages.threshold_unknown(threshold.text, known, points))
    if unknown and status == 0:
        shared.print_warnings(unknown[1:])
        raise CozError(unknown[0])
    shared.print_warnings(unknown)
    return status


def _excess(verdict: Verdict, analysis: Analysis) -> str:
    from cozcli.reports.extension import point_naming
    from cozcli.reports.intervals import with_interval

    assert verdict.result is not None
    assert verdict.point is not None
    point, result = verdict.point, verdict.result
    return (
        f"threshold {verdict.threshold.text!r} is exceeded: {result.location} at {point.speedup:.0%} on "
        f"{point_naming(analysis, None)(result)}: {with_interval(point.effect, point.low, point.high)} %"
    )


def _threshold(text: str) -> Threshold:
    try:
        return parse_threshold(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
