"""How targets are called where people read: each with its function once, under the heading for their kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from cozcli.analysis.result import LineResult
from cozcli.reports.base import short_function, shorten

_HEADINGS = {"line": "Line", "function": "Function", "callpath": "Call path", "region": "Region"}


def heading(results: Iterable[LineResult]) -> str:
    """Of the column of targets: `Target` where there are several kinds."""
    kinds = {result.target for result in results} or {"line"}
    return _HEADINGS.get(kinds.pop(), "Target") if len(kinds) == 1 else "Target"


def target_name(result: LineResult, prefix: str) -> str:
    """The location without the directory that all share; of a function `server.cpp:parse`, as short as in its
    own column.
    """
    location = shorten(result.location, prefix)
    if not _ends_in_its_function(result):
        return location
    return location.removesuffix(result.function) + short_function(result.function)


def naming(results: Sequence[LineResult], prefix: str) -> Callable[[str], str]:
    """The same by location, of any in the profile."""
    names = {result.location: target_name(result, prefix) for result in results}
    return lambda location: names.get(location) or shorten(location, prefix)


def has_functions(results: Iterable[LineResult]) -> bool:
    """Does a column of functions say anything?"""
    return any(result.function and not _ends_in_its_function(result) for result in results)


def function_cell(result: LineResult) -> str:
    """The function, unless the target's name has it."""
    return "" if _ends_in_its_function(result) else short_function(result.function) or "-"


def _ends_in_its_function(result: LineResult) -> bool:
    return bool(result.function) and result.location.endswith(f":{result.function}")
