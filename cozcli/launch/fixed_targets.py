"""What experiments are to be on, where the user chose it: lines, functions, regions, waits, locks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

#: The runtime cuts names of regions at this.
MAX_REGION_NAME = 127


class FixedTarget(NamedTuple):
    """A target as the profile names it. `kind` is line, function, region, wait or lock."""

    kind: str
    name: str

    @property
    def location(self) -> str:
        """As in results; those of lines under a caller begin with it."""
        if self.kind in ("wait", "lock"):
            return f"{self.kind} {self.name}"
        return f"region {self.name[:MAX_REGION_NAME]}" if self.kind == "region" else self.name


class Wanted(NamedTuple):
    """A line or function as the user wrote it; `origin` says where, if not on the command line."""

    kind: str
    text: str
    origin: str = ""


class Missing(NamedTuple):
    """A wanted line or function that there is not, and what comes nearest."""

    wanted: Wanted
    nearest: Sequence[str] = ()


def is_line(text: str) -> bool:
    """Is it FILE:LINE?"""
    return re.fullmatch(r"[^\n\t]+:0*[1-9][0-9]{0,8}", text) is not None
