"""Tables and texts by way of rich: for a terminal; or for a file or pipe, without colour and never cut."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

#: Wide enough that nothing is ever folded; tables do not grow to fill it.
UNLIMITED = 100_000


def console_for(width: int | None) -> Console:
    """Keeps what is printed on it, for `printed`. `width`: the terminal's, or None for a pipe or file."""
    terminal = width is not None
    return Console(
        file=io.StringIO(),
        width=width or UNLIMITED,
        force_terminal=terminal,
        color_system="standard" if terminal else None,
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
