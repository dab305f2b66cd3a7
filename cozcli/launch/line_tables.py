"""Line tables of the binaries in scope, made by the native helper (docs/launch_contract.md)."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from cozcli.errors import CozError, Problem
from cozcli.launch import messages
from cozcli.launch.helper import NO_DEBUG_INFO, NOT_ELF, Helper

#: The name that stands for the main executable in binary scopes.
MAIN = "MAIN"


class LineTable(NamedTuple):
    """One binary and the file with its table."""

    binary: str
    table: str


class LineTables:
    """Tables in the order of the contract (main executable first), and what was noticed.

    `later`: the binary patterns that may match what the program loads later; `examined`: the binaries
    that have been decided upon. `fixed_line`: as it is called in a table, or empty while no table has it.
    """

    def __init__(self) -> None:
        self.tables: list[LineTable] = []
        self.fixed_line = ""
        self.warnings: list[Problem] = []
        self.later: list[str] = []
        self.examined: set[str] = set()


def prepare(
    helper: Helper,
    program: Path,
    interpreter: str,
    source_scope: Sequence[str],
    binary_scope: Sequence[str],
    fixed_line: str | None,
) -> LineTables:
    """Build tables for every binary in scope and check that scope and line name something.

    Raises:
        CozError: nothing matches, nothing has debug information, or the helper failed.
    """
    result = LineTables()
    libraries = loaded_libraries(program, interpreter) if binary_scope else []
    binaries = binaries_in_scope(program, libraries, binary_scope)
    result.examined = {str(program), *libraries, os.path.realpath(interpreter)}
    result.later = [p for p in binary_scope if may_match_later(p, binaries)]
    if not binaries and not result.later:
        raise CozError(messages.binary_scope_empty(binary_scope, [str(program), *libraries]))
    refusals: list[tuple[str, NoLinesError]] = []
    for binary in binaries:
        try:
            table, warnings = build_table(helper, binary)
        except NoLinesError as error:
            refusals.append((binary, error))
            continue
        result.tables.append(table)
        result.warnings += warnings
    if refusals and not result.tables:
        raise refusals[0][1]
    result.warnings += [messages.binary_left_out(binary, error.noticed) for binary, error in refusals]
    if not binaries:
        result.warnings.append(messages.binary_scope_empty_yet(binary_scope, [str(program), *libraries]))
    _check_scope(helper, result, source_scope, fixed_line)
    return result


class NoLinesError(CozError):
    """A binary without debug information; `noticed` has the helper's warnings."""

    def __init__(self, binary: str, noticed: list[str]) -> None:
        super().__init__(messages.no_debug_info(binary, noticed))
        self.noticed = noticed


def build_table(helper: Helper, binary: str) -> tuple[LineTable, list[Problem]]:
    """The table of a binary, and what the helper noticed.

    Raises:
        NoLinesError: it has no debug information, or is no ELF file.
        CozError: the helper failed.
    """
    status, answer = helper.build(binary)
    if status in (NO_DEBUG_INFO, NOT_ELF):
        raise NoLinesError(binary, answer.get("warnings", []))
    if status != 0 or not isinstance(answer.get("table"), str):
        raise CozError(messages.helper_failed(binary, answer.get("message", f"status {status}")))
    warnings = [messages.debug_info_warning(binary, text) for text in answer.get("warnings", [])]
    return LineTable(answer.get("binary", binary), answer["table"]), warnings


def binaries_in_scope(program: Path, libraries: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Of the main executable and its libraries those that match. Without patterns: only the former."""
    if not patterns:
        return [str(program)]
    chosen = [str(program)] if any(matches_binary(p, str(program), True) for p in patterns) else []
    return chosen + [lib for lib in libraries if any(matches_binary(p, lib, False) for p in patterns)]


def may_match_later(pattern: str, binaries: Iterable[str]) -> bool:
    """Can a library that is loaded after the start match? Not if the pattern names what is there."""
    return pattern != MAIN and ("%" in pattern or pattern not in binaries)


def matches_binary(pattern: str, path: str, is_main: bool) -> bool:
    """`MAIN`, or a path in which `%` stands for any text."""
    if pattern == MAIN:
        return is_main
    expression = ".*".join(re.escape(part) for part in pattern.split("%"))
    return re.fullmatch(expression, path, re.DOTALL) is not None


def loaded_libraries(program: Path, interpreter: str) -> list[str]:
    """The libraries that the dynamic linker would load, as real paths, without running the program."""
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    try:
        answer = subprocess.run(
            [interpreter, "--list", str(program)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=environment,
        )
    except OSError:
        return []
    found: dict[str, None] = {}
    for line in answer.stdout.decode(errors="surrogateescape").splitlines():
        match = re.match(r"\s*(?:.* => )?(/.*) \(0x[0-9a-f]+\)$", line)
        if match:
            found[os.path.realpath(match[1])] = None
    return [path for path in found if path != os.path.realpath(interpreter)]


def _check_scope(
    helper: Helper, result: LineTables, source_scope: Sequence[str], fixed_line: str | None
) -> None:
    lines = 0
    existing: list[str] = []
    nearest: list[str] = []
    for entry in result.tables:
        status, answer = helper.scope(entry.table, source_scope, fixed_line)
        if status != 0:
            raise CozError(messages.helper_failed(entry.binary, answer.get("message", f"status {status}")))
        lines += answer.get("lines", 0)
        existing += answer.get("all_files", [])
        nearest += answer.get("nearest", [])
        if answer.get("line") and not result.fixed_line:
            result.fixed_line = answer["line"]["location"]
    # A fixed line is chosen by name, whatever the scope of the random choice.
    if fixed_line is not None:
        if result.fixed_line:
            return
        if not result.later:
            raise CozError(messages.line_not_found(fixed_line, _unique(nearest), _unique(existing)))
        result.warnings.append(messages.line_not_found_yet(fixed_line, result.later))
    elif lines == 0 and result.tables:
        problem = messages.source_scope_empty(source_scope, _unique(existing))
        if not result.later:
            raise CozError(problem)
        result.warnings.append(messages.source_scope_empty_yet(source_scope, result.later))


def _unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))
