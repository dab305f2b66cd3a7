"""A comparison as a page: one HTML file without script that needs no network, and nothing beside it.

Figures are pictures inside it, in two themes, of which the browser takes its user's. Commands and names of a
suite may hold anything; all text is escaped, and the page's policy loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import matplotlib

from cozcli.compare import messages
from cozcli.compare.drawing import Table
from cozcli.compare.figure import draw_suite, panels
from cozcli.errors import CozError
from cozcli.messages import printable
from cozcli.reports.page_file import NotOurPageError, write_page
from cozcli.reports.theme import DARK, LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #222; --soft: #5b636d; --edge: #ddd; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181d; --ink: #e8e8e8; --soft: #a6abb3; --edge: #33373f; }
}
body { margin: 0 auto; max-width: 1080px; padding: 20px 24px 40px; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, "Noto Sans", "DejaVu Sans", sans-serif; }
h1 { font-size: 22px; margin: 0 0 10px; overflow-wrap: anywhere; }
h2 { font-size: 16px; margin: 28px 0 8px; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 0.92em; overflow-wrap: anywhere; }
p { margin: 6px 0; overflow-wrap: anywhere; }
.soft, figcaption { color: var(--soft); font-size: 13px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 14px 0; }
th, td { padding: 4px 16px 4px 0; border-bottom: 1px solid var(--edge); text-align: right;
  white-space: nowrap; }
th { color: var(--soft); font-size: 13px; }
th:first-child, td:first-child { text-align: left; }
.figures { display: grid; gap: 22px 28px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); }
figure { margin: 0; }
.figures img { width: 100%; height: auto; }
.wide img { display: block; }
@media print { figure, tr { break-inside: avoid; } }
"""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{hash}'; img-src data:">
<meta name="generator" content="coz compare">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def write(document: dict[str, Any], sentences: str, tables: Sequence[Table], path: str) -> None:
    """Write the page of a document of `coz compare --json`, with what the text report says.

    Raises:
        CozError: it cannot be written.
    """
    try:
        write_page(render(document, sentences, tables), path, force=False)
    except NotOurPageError:
        raise CozError(messages.not_our_page(path)) from None


def render(document: dict[str, Any], sentences: str, tables: Sequence[Table]) -> str:
    """The page."""
    first, *others = sentences.splitlines()
    parts = [f"<h1>{_text(first)}</h1>", *(f"<p>{_text(line)}</p>" for line in others)]
    for side in document.get("sides", [])[:2]:
        parts.append(f"<p>{_text(side['name'])}: <code>{_text(' '.join(side['command']))}</code></p>")
    parts += map(_table, tables)
    if "programs" in document:
        picture = _picture(lambda theme: draw_suite(document, theme), "Ratios with intervals")
        parts.append(f'<div class="wide">{picture}</div>')
    else:
        figures = "".join(
            f"<figure>{_picture(draw, title)}<figcaption>{_text(caption)}</figcaption></figure>"
            for title, caption, draw in panels(document)
        )
        parts.append(f'<div class="figures">{figures}</div>')
    parts.append(f"<h2>How it was measured</h2>{_measured(document)}")
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    title = _text(f"coz compare: {first}")
    return _PAGE.format(hash=f"sha256-{digest}", title=title, style=_STYLE, body="\n".join(parts))


def _text(text: str) -> str:
    return escape(printable(text))


def _table(table: Table) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{_text(cell)}</{tag}>" for cell in cells) + "</tr>"

    title = f"<h2>{_text(table.title)}</h2>" if table.title else ""
    rows = "".join(row(cells, "td") for cells in table.rows)
    return f'{title}<div class="wide"><table>{row(table.headings, "th")}{rows}</table></div>'


def _picture(draw: Callable[[Theme], Figure], title: str) -> str:
    """Both themes, of which a browser shows one."""
    light, dark = (_address(draw, theme) for theme in (LIGHT, DARK))
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img alt="{_text(title)}" src="{light}"></picture>'
    )


def _address(draw: Callable[[Theme], Figure], theme: Theme) -> str:
    file = io.BytesIO()
    with matplotlib.rc_context(theme.style()):
        draw(theme).savefig(file, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode()


def _measured(document: dict[str, Any]) -> str:
    """The figures by which it can be repeated and doubted."""
    facts = {
        "coz": document["coz"],
        "margin": f"{100 * document['margin']:g} %",
        "layout seed": document["layout_seed"],
        "layout": document["layout"],
        "heap": document["heap"],
        "stacks": document["stack"],
        **{name.replace("_", " "): value for name, value in document["machine"].items() if value != ""},
    }
    return (
        '<p class="soft">'
        + "; ".join(f"{_text(f'{name}: {value}')}" for name, value in facts.items())
        + "</p>"
    )
