"""Pictures of comparisons: `coz compare --plot`, and `coz plot` of what `coz compare --json` printed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cozcli.commands import messages, plot
from cozcli.commands import options as shared
from cozcli.compare import messages as comparison_messages
from cozcli.errors import CozError
from cozcli.messages import cannot_write
from cozcli.output_file import writing
from cozcli.reports.page_file import NotOurPageError, check_overwriting


class Table(NamedTuple):
    """title: a heading above it; empty for none."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


def check_picture(path: str) -> None:
    """Refuse, before anything is measured, a picture that could not be drawn.

    Raises:
        CozError: an unknown kind of picture, or matplotlib is missing.
    """
    if Path(path).suffix.lower() not in plot.SUFFIXES:
        raise CozError(messages.unknown_picture_format(path))
    if os.path.isdir(path) or not os.access(Path(path).absolute().parent, os.W_OK):
        raise CozError(cannot_write(path, "the folder does not allow it, or it is a directory"))
    shared.require_packages("matplotlib")


def check_page(path: str) -> None:
    """Refuse, before anything is measured, a page that could not be written.

    Raises:
        CozError: the folder does not allow it, or another file is there.
    """
    shared.require_packages("matplotlib")
    file = Path(path)
    if os.path.isdir(file) or not os.path.isdir(file.absolute().parent):
        raise CozError(cannot_write(path, "its folder is not there, or it is a directory"))
    try:
        check_overwriting(file, force=False)
    except NotOurPageError:
        raise CozError(comparison_messages.not_our_page(path)) from None


def draw(document: dict[str, Any], path: str, theme: str = "light") -> None:
    """Draw a document of `coz compare --json`, of two programs or of a suite.

    Raises:
        CozError: it cannot be written, or is damaged.
    """
    from cozcli.compare.figure import draw_comparison, draw_into, draw_suite
    from cozcli.reports.theme import theme_named

    drawer = draw_suite if "programs" in document else draw_comparison
    with writing(path) as temporary:
        try:
            draw_into(lambda: drawer(document, theme_named(theme)), temporary, theme_named(theme))
        except (LookupError, TypeError, ValueError) as error:
            raise CozError(cannot_write(path, f"the comparison is damaged: {error!r}")) from None
