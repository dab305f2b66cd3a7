"""Text cut to a room in a picture."""

from __future__ import annotations

import bisect
from collections.abc import Callable

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath


def elide(text: str, room: float, size: float, weight: str = "normal") -> str:
    """Shorten to `room` points, from the left: the end of a path or function tells most."""
    if text_width(text, size, weight) <= room:
        return text

    def ending(kept: int) -> str:
        return "…" + text[len(text) - kept :]

    most = _most(range(4, len(text)), lambda kept: text_width(ending(kept), size, weight) <= room)
    return ending(4 if most is None else most)


def elide_end(text: str, room: float, size: float, weight: str = "normal") -> str:
    """Shorten to `room` points, from the right: a command begins with the program."""
    if text_width(text, size, weight) <= room:
        return text

    def beginning(kept: int) -> str:
        return text[:kept].rstrip() + " …"

    most = _most(range(4, len(text)), lambda kept: text_width(beginning(kept), size, weight) <= room)
    return beginning(4 if most is None else most)


def elide_path(text: str, room: float, size: float, weight: str = "normal") -> str:
    """Shorten to `room` points in the middle: the beginning says where, and the end of a path which line.

    Whole folders go first, the innermost before others; then what stands in the middle of what is left.
    """
    if text_width(text, size, weight) <= room:
        return text
    *folders, last = text.split("/")

    def in_folders(kept: int) -> str:
        return "/".join([*folders[:kept], "…", last])

    most = _most(range(1, len(folders)), lambda kept: text_width(in_folders(kept), size, weight) <= room)
    if most is not None:
        return in_folders(most)
    rest = f"…/{last}" if folders else text

    def ends(kept: int) -> str:
        # The end, with the number of the line, is the longer part.
        return rest[: kept // 3] + "…" + rest[len(rest) - (kept - kept // 3) :]

    most = _most(range(2, len(rest) - 1), lambda kept: text_width(ends(kept), size, weight) <= room)
    return "…" if most is None else ends(most)


def text_width(text: str, size: float, weight: str = "normal") -> float:
    """Width in points."""
    font = FontProperties(family="sans-serif", size=size, weight=weight)
    return float(TextToPath().get_text_width_height_descent(text, font, False)[0])


def _most(counts: range, fits: Callable[[int], bool]) -> int | None:
    """The highest of `counts` that fits, or None.

    By bisection: to measure thousands of characters, one fewer each time, took minutes.
    """
    unfit = bisect.bisect_left(counts, True, key=lambda kept: not fits(kept))
    return counts[unfit - 1] if unfit else None
