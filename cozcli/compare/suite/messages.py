"""Texts of `coz compare --suite`: what it refuses."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.errors import Problem
from cozcli.messages import listed, printable


def unreadable(path: str, reason: str, is_there: bool) -> Problem:
    """The file is missing, or no TOML."""
    hint = "correct it, and try again." if is_there else "check the name."
    return Problem(f"{printable(path)} cannot be read: {printable(reason)}.", hint)


def no_suite(path: str, reason: str) -> Problem:
    """TOML, but not of a suite."""
    return Problem(
        f"{printable(path)} does not describe a suite: {printable(reason)}.",
        'it needs [treatments.NAME] twice or more, and [programs.NAME] with command = "./{program} …".',
    )


def build_failed(program: str, treatment: str, command: str, status: int, errors: str) -> Problem:
    """A command that builds a program."""
    last = f"; its last words: {printable(errors.splitlines()[-1])}" if errors.strip() else ""
    return Problem(
        f"building {printable(program)} for {printable(treatment)} ended with status {status}{last}.",
        f"nothing was measured; run it by itself: {printable(command)}",
    )


def too_few_for_so_many(pairs: int, cells: int, needed: int) -> Problem:
    """Not even pairs that all agree would be enough, adjusted for the number of comparisons."""
    return Problem(
        f"{pairs} pairs cannot show any difference among {cells} comparisons.",
        f"allow {needed} pairs or more with -n.",
    )


def programs_left_out(names: Sequence[str], least: int) -> Problem:
    """Of a suite that was interrupted, or in which programs failed."""
    return Problem(
        f"nothing is told of {listed(names)}: fewer than {least} pairs were measured.",
        "gates look at all programs: let each have its pairs, and see that its runs end with status 0.",
    )


def programs_beside_suite() -> Problem:
    """--suite, and two commands."""
    return Problem(
        "with --suite the programs are those of the file, and there are others on the command line.",
        "leave one of them out.",
    )
