"""Results as rows of cells, and the two forms in which tables leave for other programs: CSV and Markdown.

Names come from profiles and debug information, which may be anybody's: a spreadsheet must not take them for
formulas, nor a page for markup.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

from cozcli.messages import printable

Cell = str | int | float | bool | None

#: What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@")
#: What Markdown, or HTML within it, would take for markup.
_MARKUP = frozenset("\\`*_[]<>|~&$")


def to_csv(names: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """RFC 4180, but for line ends. Text that begins like a formula gets an apostrophe before it."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_csv_cell(cell) for cell in row] for row in rows)
    return stream.getvalue()


def to_markdown(names: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]) -> str:
    """A table as GitHub, GitLab and pandoc understand it. `right`: which columns are set to the right."""
    rule = ["---:" if is_right else "---" for is_right in right]
    table = [" | ".join(map(markdown_text, names)), " | ".join(rule)]
    table += [" | ".join(markdown_text(cell) for cell in row) for row in rows]
    return "".join(f"| {line} |\n" for line in table)


def markdown_text(text: str) -> str:
    """Text that stays what it is in Markdown."""
    return "".join(f"\\{c}" if c in _MARKUP else c for c in printable(text))


def p_text(p: float) -> str:
    """A p-value."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _csv_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        # Six significant digits, as in JSON: more is noise.
        return f"{cell:.6g}" if math.isfinite(cell) else ""
    if isinstance(cell, int):
        return str(cell)
    text = printable(cell)
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text
