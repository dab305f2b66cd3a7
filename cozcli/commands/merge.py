"""`coz merge`: several profiles into one file."""

from __future__ import annotations

import argparse
import sys

from cozcli.commands import options as shared
from cozcli.messages import count, printable
from cozcli.profile.merge import merge
from cozcli.profile.ranks import describe_ranks


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "merge",
        help="put several profiles into one file",
        description="Write the runs of several profiles, those of the classic Coz too, into one file. "
        "Reports of that file pool them, as they do when they are given several files.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="profile to write; not an input"
    )
    parser.add_argument("files", nargs="+", metavar="PROFILE", help="profiles to read")
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Read all, write one."""
    profile, warnings = merge(options.output, options.files)
    shared.print_warnings(warnings)
    experiments = sum(len(run.experiments) for run in profile.runs)
    done = f"{count(len(profile.runs), 'run')} with {count(experiments, 'experiment')}"
    print(f"coz: {done} in {printable(options.output)}", file=sys.stderr)
    for line in describe_ranks(profile.runs):
        shared.write(f"{line}\n")
    return 0
