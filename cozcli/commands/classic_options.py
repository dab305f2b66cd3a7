"""Options and variables of the classic Coz: done where we have the same by another name, else refused."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from cozcli.commands import messages
from cozcli.errors import Problem


class _Refuse(argparse.Action):
    """Ends the command; `const` says what to do instead."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: object,
        values: object,
        option_string: str | None = None,
    ) -> None:
        parser.error(f"{option_string} is an option of the classic Coz; instead: {self.const}")


def _add_refused(parser: argparse.ArgumentParser, names: Sequence[str], instead: str, **options: Any) -> None:
    parser.add_argument(
        *names, action=_Refuse, const=instead, dest=argparse.SUPPRESS, help=argparse.SUPPRESS, **options
    )


def add_to_plot(parser: argparse.ArgumentParser) -> None:
    """What `coz plot` of 0.2.5 takes."""
    parser.add_argument(
        "-i",
        "--input",
        dest="files_by_option",
        metavar="FILE",
        action="append",
        default=[],
        help="the same as FILE, as with the classic Coz",
    )
    parser.add_argument("-t", "--text", action="store_true", help="print a table instead, as coz report does")
    _add_refused(parser, ("-p", "--port"), "coz view writes a page that needs no server", nargs=1)
    _add_refused(parser, ("--no-browser",), "coz view --no-open", nargs=0)
    _add_refused(parser, ("-j", "--json"), "coz report --json > FILE", nargs=1)
    _add_refused(parser, ("-v", "--verbose"), "coz report, whose table has the intervals", nargs=0)


def add_to_run(parser: argparse.ArgumentParser) -> None:
    """What `coz run` of 0.2.5 takes besides."""
    parser.add_argument(
        "--legacy-format", dest="format", action="store_const", const="classic", help=argparse.SUPPRESS
    )
    _add_refused(parser, ("-v", "--verbose"), "coz doctor ./program says what was found", nargs=0)


def left_over(environment: Mapping[str, str]) -> list[Problem]:
    """Variables that only the classic Coz reads."""
    return [messages.preload_not_used(environment["COZ_PRELOAD"])] if environment.get("COZ_PRELOAD") else []
