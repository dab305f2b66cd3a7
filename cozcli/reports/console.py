"""Tables and texts by way of rich: for a terminal; or for a file or pipe, without colour and never cut."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from typing import Literal

from rich.console import Console
from rich.table import Table

#: Wide enough that nothing is ever folded; tables do not grow to fill it.
UNLIMITED = 100_000


def color_system() -> Literal["standard"] | None:
    """Of a terminal: none where it cannot show colours, or nobody wants them."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "") in ("", "dumb", "unknown")
    return None if is_plain else "standard"


def console_for(width: int | None) -> Console:
    """Keeps what is printed on it, for `printed`. `width`: the terminal's, or None for a pipe or file."""
    terminal = width is not None
    return Console(
        file=io.StringIO(),
        width=width or UNLIMITED,
        height=25,  # without it, rich takes a simple terminal for one of 80 columns
        force_terminal=terminal,
        color_system=color_system() if terminal else None,
        highlight=False,
        legacy_windows=False,
    )


def printed(console: Console) -> str:
    """All that was printed on a console of `console_for`."""
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    return text if console.is_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def plain_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column set to the left, the others to the right; no line feed at the end."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = console_for(None)
    console.print(table)
    return printed(console).removesuffix("\n")
