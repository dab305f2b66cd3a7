"""Names of what was sped up: FILE:LINE, FILE:FUNCTION, LINE < CALLER, a region's name, or a wait."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

#: Between a line and its caller, before the name of a region, before the line or function that waits, and
#: before what names all waits of a class.
CALLED_FROM, REGION, WAIT, WAITS = " < ", "region ", "wait ", "wait ("


def common_directory(locations: Sequence[str]) -> str:
    """The directory, with its final slash, that all locations share; empty if only the root.

    Regions and classes of waits have names instead of paths.
    """
    paths = [place.removeprefix(WAIT) for place in locations if not place.startswith((REGION, WAITS))]
    folders = {os.path.dirname(part) for location in paths for part in location.split(CALLED_FROM)}
    if not folders or not all(folder.startswith("/") for folder in folders):
        return ""
    shared = os.path.commonpath(folders)
    return shared + "/" if shared not in ("", "/") else ""


def shorten(location: str, prefix: str) -> str:
    """A location without the directory that all share."""
    if location.startswith(WAIT):
        return WAIT + location.removeprefix(WAIT).removeprefix(prefix)
    return CALLED_FROM.join(part.removeprefix(prefix) for part in location.split(CALLED_FROM))


def matches_line(pattern: str, location: str, function: str) -> bool:
    """Does a user's pattern name this line?

    `%` stands for any text and must then cover the whole location. Without it a pattern names a line
    by the end of its path (`queue.cpp:10`, `src/queue.cpp:10`), a file (`queue.cpp`), or a function.
    """
    if "%" in pattern:
        expression = ".*".join(re.escape(part) for part in pattern.split("%"))
        return re.fullmatch(expression, location, re.DOTALL) is not None
    path = location.rpartition(":")[0]
    return any(("/" + text).endswith("/" + pattern.lstrip("/")) for text in (location, path)) or (
        bool(function) and pattern in (function, function.partition("(")[0])
    )
