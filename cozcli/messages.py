"""How messages are worded, and the texts that several packages need.

Each package has the texts of its own problems in its module or package `messages`; only there is a `Problem`
made. A text says what happened and what follows from it, its hint what to do.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Sequence

from cozcli.errors import Problem

#: How many line numbers, files, … a message names before it says "and N more".
NAMED = 5


def printable(text: str) -> str:
    """Show control characters and lone surrogates as escapes: a profile may hold anything."""
    return "".join(c if c.isprintable() or c == " " else repr(c)[1:-1] for c in text)


def count(number: int, noun: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def seconds(nanoseconds: int) -> str:
    """A duration as a person would say it."""
    if nanoseconds < 1_000_000:
        return "less than 1 ms"
    if nanoseconds < 1_000_000_000:
        return f"{nanoseconds / 1e6:.0f} ms"
    if nanoseconds < 120_000_000_000:
        return f"{nanoseconds / 1e9:.1f} s"
    return f"{nanoseconds / 60e9:.1f} min"


def duration(nanoseconds: float) -> str:
    """A time of nanoseconds to seconds, to three digits."""
    rounded = float(f"{nanoseconds:.3g}")
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if rounded >= size:
            return f"{significant(nanoseconds / size, 3)} {unit}"
    return f"{nanoseconds:.0f} ns"


def significant(value: float, digits: int) -> str:
    """`12,350`, `0.0123`: rounded to so many digits, and never with an exponent."""
    if not math.isfinite(value):
        return str(value)
    places = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
    text = f"{round(value, places):,.{max(places, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def output_full(reason: str) -> Problem:
    """Of standard output."""
    return Problem(
        f"standard output cannot be written ({reason}), so that what it has got is not complete.",
        "make room, or write to another place.",
    )


def listed(items: Sequence[object], named: int = NAMED) -> str:
    """`a, b and 3 more`."""
    texts = [str(item) for item in items]
    if len(texts) <= named:
        return ", ".join(texts)
    return f"{', '.join(texts[:named])} and {len(texts) - named} more"


def signal_name(number: int) -> str:
    """`SIGSEGV`; most real-time signals have no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def starts_others(command: str) -> str:
    """What to do about a program that only starts the one which does the work."""
    return f"name the compiled program that it starts: coz run -b NAME --- {command}"


def packages_missing(python: str, packages: Sequence[str]) -> Problem:
    """`coz report` and `coz plot` need more than Python itself."""
    debian = " ".join(f"python3-{name}" for name in packages)
    return Problem(
        f"the Python interpreter {python} lacks {', '.join(packages)}, which this command needs.",
        f"on Debian: apt-get install {debian}; or name an interpreter that has them: COZ_PYTHON=….",
    )


def cannot_write(path: str, reason: str) -> Problem:
    """The system refused to write a file."""
    return Problem(f"{path} cannot be written ({reason}).", "name another file or folder.")


def output_of_another_user(path: str) -> Problem:
    """An output's name is taken by another user's file or link in a folder like /tmp."""
    return Problem(
        f"{path} belongs to another user, in a folder that everybody may write to: "
        "it is not followed or written.",
        "name another file with -o, in a folder of your own.",
    )
