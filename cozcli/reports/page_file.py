"""The file of a page, which replaces a page of ours but no other file. Needs the standard library only."""

from __future__ import annotations

import re
from pathlib import Path

from cozcli.output_file import writing

#: By which a page of ours is known, within so many bytes from its beginning.
_GENERATOR, _HEAD = re.compile(rb'<meta name="generator" content="coz (view|compare)">'), 2000


class NotOurPageError(Exception):
    """A file is in the way that is not a page of ours."""


def write_page(page: str, name: str | Path, force: bool) -> None:
    """Write the file in one step: whoever looks sees the old page or the new one.

    Only a page of ours is overwritten, unless `force`.

    Raises:
        NotOurPageError: another file is there.
        CozError: it cannot be written, or another user's link or file is there.
    """
    # A symbolic link stays one; what it points to is written.
    with writing(name, lambda target: check_overwriting(target, force)) as temporary:
        temporary.write_text(page, encoding="utf-8")


def check_overwriting(target: Path, force: bool) -> None:
    """Refuse what is no page of ours; `force`: not.

    Raises:
        NotOurPageError: another file is there.
    """
    # What is no regular file is not replaced even by force (`replacing`).
    if force or not target.is_file():
        return
    with open(target, "rb") as file:
        if not _GENERATOR.search(file.read(_HEAD)):
            raise NotOurPageError
