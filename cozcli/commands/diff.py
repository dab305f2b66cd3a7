"""`coz diff`: what changed between two profiles."""

from __future__ import annotations

import argparse

from cozcli.analysis import PACKAGES
from cozcli.commands import options as shared
from cozcli.profile.messages import run_in_both
from cozcli.profile.profile import load_profile


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "diff",
        help="say what changed between two profiles",
        description="Compare the effects of each line in two profiles, as of a program before and after a "
        "change. Lines are matched by file and number, and where these moved, by function.",
        allow_abbrev=False,
    )
    parser.add_argument("before", metavar="A", help="the profile before")
    parser.add_argument("after", metavar="B", help="the profile after")
    parser.add_argument(
        "--line",
        metavar="PATTERN",
        help="only this line: FILE:LINE, FILE, a function, or a pattern with %% for any text",
    )
    parser.add_argument("--progress-point", metavar="NAME", help="only effects on this progress point")
    shared.add_forms(parser, {name: f"{what} instead of a table" for name, what in shared.FORMS.items()})
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Read and analyse both, match, print."""
    shared.require_packages(*PACKAGES, *([] if options.form else ["rich"]))
    from cozcli.analysis.analyse import analyse
    from cozcli.analysis.compare import (
        baseline_periods,
        choose,
        common_loads,
        compare,
        lowest_common_loads,
        unrelated,
    )
    from cozcli.reports import diff_reports
    from cozcli.reports.diff_words import Sides

    names = (options.before, options.after)
    profiles = [load_profile([name]) for name in names]
    before, after = (
        shared.naming(name, analyse, profile) for name, profile in zip(names, profiles, strict=True)
    )
    # Under another load a point has another period.
    loads = lowest_common_loads(profiles[0].runs, profiles[1].runs, common_loads(before, after))
    periods = [
        baseline_periods([run for run in profile.runs if run.arrival_speedup == load], analysis.results)
        for profile, analysis, load in zip(profiles, (before, after), loads, strict=True)
    ]
    everything = compare(before, after)
    comparison = choose(everything, options.line, options.progress_point)
    chosen = [each for change in comparison.changes for each in (change.before, change.after)]
    wanted = {result.point for result in (*chosen, *comparison.only_before, *comparison.only_after)}
    sides = Sides(
        names,
        (before, after),
        {name: (a, periods[1][name]) for name, a in periods[0].items() if name in periods[1].keys() & wanted},
    )
    match options.form:
        case "json":
            text = diff_reports.render_json(comparison, sides)
        case "csv":
            text = diff_reports.render_csv(comparison)
        case "markdown":
            text = diff_reports.render_markdown(comparison, sides)
        case _:
            text = diff_reports.render_text(comparison, sides, shared.terminal_width())
    shared.write(text)
    runs_before = {run.identity for run in profiles[0].runs} - {None}
    if any(run.identity in runs_before for run in profiles[1].runs):
        shared.print_warnings([run_in_both(*names)])
    if (problem := unrelated(everything, before, after)) is not None:
        shared.print_warnings([problem])
    for name, analysis in zip(names, (before, after), strict=True):
        shared.print_warnings(shared.about(name, warning) for warning in analysis.warnings)
    return 0
