"""What is compared, from the words of the command line."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Sequence

from cozcli.compare import messages
from cozcli.compare.trial import Side
from cozcli.errors import STATUS_NOT_EXECUTABLE, STATUS_NOT_FOUND, CozError
from cozcli.launch.messages.program import not_executable

#: In a program's path: any text, such as the seed with which that build was linked.
_SEED = "{seed}"
#: With fewer, their own luck is most of the difference.
_MIN_BUILDS = 6
_SEPARATOR = "---"


def sides_of(first: Sequence[str], rest: Sequence[str]) -> list[Side]:
    """A and B from the command line: `A --- vs B`, or `--- A --- B`; `vs` may be left out. A `--` before the
    first one ends the options; any other is an argument.

    Raises:
        CozError: one is missing, or not executable.
    """
    first, rest = list(first), list(rest)
    if first[:1] == ["--"]:
        first = first[1:]
    if not first:
        at = rest.index(_SEPARATOR) if _SEPARATOR in rest else len(rest)
        first, rest = rest[:at], rest[at + 1 :]
    if rest[:1] == ["vs"]:
        rest = rest[1:]
    if not first or not rest:
        raise CozError(messages.no_programs())
    return [side_of("A", first), side_of("B", rest)]


def side_of(name: str, words: Sequence[str]) -> Side:
    """A side that runs these words; its program is looked for in PATH.

    Raises:
        CozError: it is missing, or has too few builds.
    """
    if _SEED not in words[0]:
        return Side(name, [program_path(words[0]), *words[1:]])
    builds = [
        path
        for path in sorted(glob.glob("*".join(map(glob.escape, words[0].split(_SEED)))))
        if os.access(path, os.X_OK)
    ]
    if len(builds) < _MIN_BUILDS:
        raise CozError(messages.too_few_builds(words[0], len(builds), _MIN_BUILDS))
    return Side(name, list(words), builds=[os.path.abspath(path) for path in builds])


def one_program(words: Sequence[str], after_separator: Sequence[str]) -> list[str]:
    """A program and its arguments from the command line. A separator before it ends the options; any other is
    an argument. Empty if there is none.
    """
    words = list(words[1:] if words[:1] == ["--"] else words)
    if not words:
        return list(after_separator)
    return [*words, _SEPARATOR, *after_separator] if after_separator else words


def program_path(name: str) -> str:
    """The file that a shell would run.

    Raises:
        CozError: there is none (status 127), or it may not be executed (126).
    """
    path = shutil.which(name)
    if path is not None:
        return path
    if "/" in name and os.path.isfile(name):
        raise CozError(not_executable(name), STATUS_NOT_EXECUTABLE)
    raise CozError(messages.not_found(name), STATUS_NOT_FOUND)
