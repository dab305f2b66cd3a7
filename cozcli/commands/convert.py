"""`coz convert`: profiles for the viewer of the classic Coz."""

from __future__ import annotations

import argparse
import sys

from cozcli.commands import options as shared
from cozcli.messages import count, printable
from cozcli.profile.convert import IS_JSON, convert


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "convert",
        help="write a profile for the viewer of the classic Coz",
        description="Write the runs of profiles in the form of the classic Coz, for its viewer.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="profile to write; not an input"
    )
    parser.add_argument(
        "--to",
        choices=tuple(IS_JSON),
        default="classic",
        help="tab-separated, which all versions read, or JSON Lines, as of 0.2.5 (default: %(default)s)",
    )
    parser.add_argument("files", nargs="+", metavar="PROFILE", help="profiles to read")
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Read all, write one."""
    profile, warnings = convert(options.output, options.files, options.to)
    shared.print_warnings(warnings)
    done = f"{count(profile.experiments, 'experiment')} of {count(len(profile.runs), 'run')}"
    print(f"coz: {done} in {printable(options.output)}", file=sys.stderr)
    return 0
