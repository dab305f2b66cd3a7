"""Line tables of the binaries in scope, made by the native helper (docs/launch_contract.md)."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cozcli.errors import CozError, Problem
from cozcli.launch import messages
from cozcli.launch.fixed_targets import FixedTarget, Missing, Wanted
from cozcli.launch.helper import NO_DEBUG_INFO, NOT_ELF, Helper, failure
from cozcli.launch.libraries import Libraries, loaded_libraries

#: The name that stands for the main executable in binary scopes.
MAIN = "MAIN"


class LineTable(NamedTuple):
    """One binary and the file with its table; what is in scope there (an answer), if that was asked."""

    binary: str
    table: str
    in_scope: dict[str, Any] | None = None


class Scope(NamedTuple):
    """What may be selected: patterns of source files and of binaries, and whether lines or functions."""

    source: Sequence[str] = ()
    binary: Sequence[str] = ()
    granularity: str = "line"

    @property
    def functions(self) -> bool:
        """Are functions what is selected?"""
        return self.granularity == "function"


class LineTables:
    """Tables in the order of the contract (main executable first), and what was noticed.

    `later`: the binary patterns that may match what the program loads later; `examined`: the binaries
    that have been decided upon; `awaited`: the lines that none of them has, which may come later.
    """

    def __init__(self, helper: Helper, scope: Scope) -> None:
        self.helper = helper
        self.scope = scope
        self.tables: list[LineTable] = []
        self.warnings: list[Problem] = []
        self.later: list[str] = []
        self.examined: set[str] = set()
        self.awaited: list[Wanted] = []

    def select(self, wanted: Sequence[Wanted], *, may_await: bool = True) -> list[FixedTarget]:
        """What the user's names for lines and functions mean, each once; but for the lines that are awaited.

        Args:
            may_await: lines may be in what the program loads later.

        Raises:
            CozError: some mean nothing, several lines, or what is out of scope; without any, the scope is
                empty.
        """
        answers = [self._ask_scope(entry, wanted) for entry in self.tables]
        found: dict[FixedTarget, None] = {}
        missing: list[Missing] = []
        outside: list[str] = []
        ambiguous: list[tuple[str, str, Sequence[str]]] = []
        for index, want in enumerate(wanted):
            choices = [answer["chosen"][index] for answer in answers]
            locations = [location for choice in choices for location in choice["found"]]
            # The same line may stand in several binaries. A name may be several functions'.
            here = list(dict.fromkeys(each["location"] for each in locations if each["in_scope"]))
            if want.kind == "line" and want.text in here:
                here = [want.text]
            inside = [FixedTarget(want.kind, name) for name in here]
            if want.kind == "line" and len(inside) > 1:
                ambiguous.append((want.text, want.origin, [target.name for target in inside]))
            found.update(dict.fromkeys(inside))
            if not locations:
                nearest = _unique(near for choice in choices for near in choice["nearest"])
                missing.append(Missing(want, nearest))
            elif not inside:
                outside.append(locations[0]["location"])
        if may_await and self.later and all(miss.wanted.kind == "line" for miss in missing):
            self.awaited = [miss.wanted for miss in missing]
            self.warnings += [messages.targets.line_not_found_yet(w.text, self.later) for w in self.awaited]
        elif missing:
            files = _unique(file for answer in answers for file in answer.get("all_files", []))
            kind = missing[0].wanted.kind
            names = [(miss.wanted.text, miss.wanted.origin, miss.nearest) for miss in missing]
            raise CozError(messages.targets.fixed_not_found(kind, names, files))
        if ambiguous:
            raise CozError(messages.targets.fixed_ambiguous(ambiguous))
        if outside:
            raise CozError(messages.targets.fixed_out_of_scope(outside))
        if not wanted:
            self._check_not_empty(answers)
        return list(found)

    def source_files(self) -> tuple[frozenset[str], list[str]]:
        """Those in scope, and all that have code (of the biggest ones, at most 50 a binary)."""
        answers = [self._ask_scope(entry, ()) for entry in self.tables]
        inside = frozenset(file for answer in answers for file in answer.get("files", []))
        return inside, _unique(file for answer in answers for file in answer.get("all_files", []))

    def size(self) -> tuple[int, int]:
        """How many lines (or functions) are in scope, and in how many files.

        Raises:
            CozError: none is, or the helper failed.
        """
        answers = [self._ask_scope(entry, ()) for entry in self.tables]
        self._check_not_empty(answers)
        what = "functions" if self.scope.functions else "lines"
        files = {file for answer in answers for file in answer.get("files", [])}
        return sum(answer.get(what, 0) for answer in answers), len(files)

    def listed(self) -> Iterator[tuple[str, str]]:
        """Each line (or function) in scope, by binary and path: its location and its function.

        Raises:
            CozError: nothing is in scope, or the helper failed.
        """
        self._check_not_empty([self._ask_scope(entry, ()) for entry in self.tables])
        for entry in self.tables:
            arguments = [str(self.helper.path), "lines", "--table", entry.table, *self._patterns()]
            if self.scope.functions:
                arguments.append("--functions")
            with subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    place = json.loads(line)
                    yield place["location"], place["function"]
            if process.returncode != 0:
                raise CozError(messages.scope.helper_failed(entry.binary, f"status {process.returncode}"))

    def _patterns(self) -> list[str]:
        return [word for pattern in self.scope.source for word in ("--source-scope", pattern)]

    def _ask_scope(self, entry: LineTable, wanted: Sequence[Wanted]) -> dict[str, Any]:
        if entry.in_scope is not None and not wanted:
            return entry.in_scope
        status, answer = self.helper.scope(entry.table, self.scope.source, wanted)
        if status != 0:
            raise CozError(failure(entry.binary, status, answer))
        return answer

    def _check_not_empty(self, answers: Sequence[dict[str, Any]]) -> None:
        what = "functions" if self.scope.functions else "lines"
        if any(answer.get(what) for answer in answers):
            return
        if self.later:
            if self.tables:
                problem = messages.scope.source_scope_empty_yet(
                    self.scope.source, self.later, what.rstrip("s")
                )
                self.warnings.append(problem)
        else:
            files = _unique(file for answer in answers for file in answer.get("all_files", []))
            raise CozError(messages.scope.source_scope_empty(self.scope.source, files, what.rstrip("s")))


def build_tables(
    helper: Helper, program: Path, interpreter: str, scope: Scope, more_may_come: bool = False
) -> LineTables:
    """Build the tables of every binary in scope. `more_may_come`: the program will run, and load others.

    Raises:
        CozError: nothing matches, nothing has debug information, or the helper failed.
    """
    result = LineTables(helper, scope)
    libraries, problems = loaded_libraries(program, interpreter) if scope.binary else Libraries([], [])
    result.warnings += problems
    binaries = binaries_in_scope(program, libraries, scope.binary)
    result.examined = {str(program), *libraries, os.path.realpath(interpreter)}
    if more_may_come:
        result.later = [pattern for pattern in scope.binary if may_match_later(pattern, binaries)]
    if not binaries and not result.later:
        if problems:
            raise CozError(problems[0])
        raise CozError(messages.scope.binary_scope_empty(scope.binary, [str(program), *libraries]))
    refusals: list[tuple[str, NoLinesError]] = []
    for binary in binaries:
        try:
            table, warnings = build_table(helper, binary, scope.functions, scope.source)
        except NoLinesError as error:
            refusals.append((binary, error))
            continue
        result.tables.append(table)
        result.warnings += warnings
    if refusals and not result.tables:
        raise refusals[0][1]
    result.warnings += [
        messages.scope.binary_left_out(binary, scope.functions, error.noticed) for binary, error in refusals
    ]
    if not binaries:
        result.warnings.append(
            messages.scope.binary_scope_empty_yet(scope.binary, [str(program), *libraries])
        )
    return result


class NoLinesError(CozError):
    """A binary without debug information, or functions; `noticed` has the helper's warnings."""

    def __init__(self, binary: str, functions: bool, noticed: list[str]) -> None:
        what = messages.scope.no_functions if functions else messages.scope.no_debug_info
        super().__init__(what(binary, noticed))
        self.noticed = noticed


def build_table(
    helper: Helper, binary: str, functions: bool, source_scope: Sequence[str] | None = None
) -> tuple[LineTable, list[Problem]]:
    """The table of a binary, and what the helper noticed. `functions`: also those known by symbols alone.

    `source_scope`: patterns; then the table says what is in scope.

    Raises:
        NoLinesError: it has no debug information, or is no ELF file.
        CozError: the helper failed.
    """
    status, answer = helper.build(binary, source_scope)
    if status in (NO_DEBUG_INFO, NOT_ELF):
        raise NoLinesError(binary, functions, answer.get("warnings", []))
    if status != 0 or not isinstance(answer.get("table"), str):
        raise CozError(failure(binary, status, answer))
    warnings = [messages.scope.debug_info_warning(binary, text) for text in answer.get("warnings", [])]
    # Not as the answer names it: JSON holds no names but those of UTF-8.
    return LineTable(os.path.realpath(binary), answer["table"], answer.get("scope")), warnings


def binaries_in_scope(program: Path, libraries: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Of the main executable and its libraries those that match. Without patterns: only the former."""
    if not patterns:
        return [str(program)]
    chosen = [str(program)] if any(matches_binary(p, str(program), True) for p in patterns) else []
    return chosen + [lib for lib in libraries if any(matches_binary(p, lib, False) for p in patterns)]


def may_match_later(pattern: str, binaries: Iterable[str]) -> bool:
    """Can a library that is loaded after the start match? Not if the pattern names what is there."""
    if pattern == MAIN:
        return False
    return "%" in pattern or not any(matches_binary(pattern, binary, False) for binary in binaries)


def matches_binary(pattern: str, path: str, is_main: bool) -> bool:
    """`MAIN`, or a path in which `%` stands for any text; without a slash, its last component will do."""
    if pattern == MAIN:
        return is_main
    expression = ".*".join(re.escape(part) for part in pattern.split("%"))
    wholes = [path] if "/" in pattern else [path, path.rpartition("/")[2]]
    return any(re.fullmatch(expression, whole, re.DOTALL) for whole in wholes)


def executable_patterns(program: Path, interpreter: str, patterns: Sequence[str]) -> list[str]:
    """The patterns that name a program among those that `program` starts; none: it is itself meant.

    It is meant where any pattern matches it, or a library that it loads at its start. Else patterns that can
    only be libraries' names are left out: with `.so` in the last component, or `%` at both ends of a part.
    """
    if not patterns or in_scope_at_start(program, interpreter, patterns):
        return []
    return [pattern for pattern in patterns if _may_name_program(pattern)]


def in_scope_at_start(program: Path, interpreter: str, patterns: Sequence[str]) -> bool:
    """Does a pattern match the program, or a library that it loads at its start?"""
    if not patterns or MAIN in patterns:
        return bool(patterns)
    libraries = loaded_libraries(program, interpreter).paths if interpreter else []
    return bool(binaries_in_scope(program, libraries, patterns))


def _may_name_program(pattern: str) -> bool:
    name = pattern.rpartition("/")[2]
    if not name or ".so" in name:
        return False
    return not name.endswith("%") or ("/" not in pattern and not name.startswith("%"))


def _unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))
