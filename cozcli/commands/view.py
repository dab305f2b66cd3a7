"""`coz view`: all results as one page for a browser."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cozcli.analysis import PACKAGES
from cozcli.commands import messages
from cozcli.commands import options as shared
from cozcli.errors import CozError, reason_of
from cozcli.messages import printable
from cozcli.profile.profile import load_profile

if TYPE_CHECKING:
    from cozcli.analysis.result import LineResult
    from cozcli.reports.page import PageProfile

DEFAULT_OUTPUT = "profile.html"
#: Seconds in which a browser that cannot start says so.
PATIENCE = 2.0


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "view",
        help="explore the results in a browser",
        description="Write one HTML file with all results, to be searched, filtered and looked into, and "
        "open it. It needs no server and no network, and can be passed on.",
        allow_abbrev=False,
    )
    shared.add_analysis_options(parser, min_points=1, default="1")
    parser.add_argument(
        "--compare",
        metavar="FILE",
        action="append",
        default=[],
        help="show this profile beside the first, as of the program after a change; repeatable, pooled",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=DEFAULT_OUTPUT,
        help="page to write (default: %(default)s)",
    )
    parser.add_argument("--top", metavar="N", type=shared.positive, help="only the N highest-ranking results")
    parser.add_argument("--no-source", action="store_true", help="put no lines of source into the page")
    parser.add_argument("--no-open", action="store_true", help="only write the page, do not open it")
    parser.add_argument(
        "--force", action="store_true", help="overwrite FILE even if it is not a page of coz view"
    )
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Read, analyse, write the page, say where it is, open it."""
    shared.require_packages(*PACKAGES)
    from cozcli.reports.page import LARGE, render_page
    from cozcli.reports.page_file import NotOurPageError, write_page
    from cozcli.reports.page_sources import read_sources

    groups = [options.files or [shared.DEFAULT_PROFILE], *([options.compare] if options.compare else [])]
    profiles = _cut(_load(groups, options), options.top)
    locations = [result.location for profile in profiles for result in profile.analysis.results]
    newest = [max((run.time for run in profile.analysis.runs), default=0) for profile in profiles]
    sources = {} if options.no_source else read_sources(locations, newest)
    try:
        page = render_page(profiles, sources)
    except OSError as error:
        raise CozError(messages.template_missing(reason_of(error))) from None
    output = Path(options.output)
    try:
        write_page(page, options.output, options.force)
    except NotOurPageError:
        raise CozError(messages.not_our_page(options.output)) from None
    shared.write(f"{printable(str(output))}\n")
    for profile in profiles:
        for warning in profile.analysis.warnings:
            shared.print_warnings([shared.about(profile.name, warning) if len(profiles) > 1 else warning])
    if len(page) > LARGE:
        shared.print_warnings([messages.page_large(len(page))])
    if not options.no_open and _has_display() and not _open(output):
        shared.print_warnings([messages.not_opened(options.output)])
    return 0


def _load(groups: Sequence[Sequence[str]], options: argparse.Namespace) -> list[PageProfile]:
    """What was asked for of each; one of two may lack it.

    Raises:
        CozError: all lack it.
    """
    from cozcli.analysis.analyse import analyse, select
    from cozcli.analysis.input.locations import point_named
    from cozcli.analysis.rank.result_filter import ResultFilter
    from cozcli.reports.page import PageProfile

    result_filter = ResultFilter(options.min_points, options.line, options.progress_point)
    profiles: list[PageProfile] = []
    missing: list[CozError] = []
    for name, files in zip(_names(groups), groups, strict=True):
        profile = load_profile(list(files))
        analysis = shared.naming(name, analyse, profile) if len(groups) > 1 else analyse(profile)
        try:
            analysis = select(analysis, result_filter)
        except CozError as error:
            missing.append(error)
            warnings = (*analysis.warnings, error.problem)
            points = {each.point for each in analysis.all_results} | {e.point for e in analysis.scalability}
            point = point_named(options.progress_point, points)
            analysis = replace(analysis, results=(), pairs=(), warnings=warnings, selected_point=point)
        profiles.append(PageProfile(name, analysis, 0))
    if len(missing) == len(groups):
        raise missing[0]
    return profiles


def _names(groups: Sequence[Sequence[str]]) -> list[str]:
    """What the page calls each: by the files' names, or as given, where those do not tell them apart."""
    names = [", ".join(Path(file).name for file in files) for files in groups]
    return names if len(set(names)) == len(names) else [", ".join(files) for files in groups]


def _cut(profiles: Sequence[PageProfile], top: int | None) -> list[PageProfile]:
    """The leading results of each, and in each what leads in the other."""
    prefixes = _prefixes([profile.analysis.results for profile in profiles])
    chosen = {
        _key(result, prefix)
        for profile, prefix in zip(profiles, prefixes, strict=True)
        for result in profile.analysis.results[:top]
    }
    cut = []
    for profile, prefix in zip(profiles, prefixes, strict=True):
        results = profile.analysis.results
        shown = tuple(result for result in results if _key(result, prefix) in chosen)
        analysis = replace(profile.analysis, results=shown)
        cut.append(replace(profile, analysis=analysis, left_out=len(results) - len(shown)))
    return cut


def _prefixes(results: Sequence[Sequence[LineResult]]) -> list[str]:
    """What the page cuts off locations of each: the same of both, if they share a file."""
    from cozcli.analysis.input.locations import common_directory, file_of

    locations = [[result.location for result in of] for of in results]
    files = [{file_of(result.location, result.function) for result in of} - {""} for of in results]
    shared_files = set.intersection(*files)
    whole = [location for of in locations for location in of]
    return [common_directory(whole if shared_files else of) for of in locations]


def _key(result: LineResult, prefix: str) -> tuple[str, str, str, str, int]:
    """What the page knows a result by."""
    from cozcli.analysis.input.locations import shorten

    short = shorten(result.location, prefix)
    return result.target, short, result.point, result.kind, result.arrival_speedup


def _has_display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open(page: Path) -> bool:
    """Show the page as the desktop shows files, else by a browser that Python finds."""
    address = page.resolve().as_uri()
    opener = shutil.which("xdg-open")
    if opener is None:
        return webbrowser.open(address)
    try:
        process = subprocess.Popen(
            [opener, address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    try:
        return process.wait(PATIENCE) == 0
    except subprocess.TimeoutExpired:
        # It has become the browser.
        return True
