"""Line tables of the binaries in scope, made by the native helper (docs/launch_contract.md)."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cozcli.errors import CozError, Problem
from cozcli.launch import messages

#: The name that stands for the main executable in binary scopes.
MAIN = "MAIN"
_NO_DEBUG_INFO = 3
_NOT_ELF = 4


class LineTable(NamedTuple):
    """One binary and the file with its table."""

    binary: str
    table: str


class LineTables:
    """Tables in the order of the contract (main executable first), and what was noticed."""

    def __init__(self) -> None:
        self.tables: list[LineTable] = []
        self.fixed_line = ""
        self.warnings: list[Problem] = []


def prepare(
    helper: Path,
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
    binaries = binaries_in_scope(program, interpreter, binary_scope)
    refusals: list[tuple[str, Problem]] = []
    for binary in binaries:
        status, answer = _ask(helper, ["build", binary])
        if status == 0:
            result.tables.append(LineTable(answer.get("binary", binary), answer["table"]))
            warnings = answer.get("warnings", [])
            result.warnings += [messages.debug_info_warning(binary, text) for text in warnings]
        elif status in (_NO_DEBUG_INFO, _NOT_ELF):
            refusals.append((binary, messages.no_debug_info(binary)))
        else:
            raise CozError(messages.helper_failed(binary, answer.get("message", f"status {status}")))
    if not result.tables:
        raise CozError(refusals[0][1])
    result.warnings += [messages.binary_left_out(binary) for binary, _ in refusals]
    _check_scope(helper, result, source_scope, fixed_line)
    return result


def binaries_in_scope(program: Path, interpreter: str, patterns: Sequence[str]) -> list[str]:
    """The main executable, if it matches, and the libraries that match. Without patterns: only it.

    Raises:
        CozError: no binary matches; the message names those there are.
    """
    if not patterns:
        return [str(program)]
    libraries = loaded_libraries(program, interpreter)
    chosen = [str(program)] if any(matches_binary(p, str(program), True) for p in patterns) else []
    chosen += [lib for lib in libraries if any(matches_binary(p, lib, False) for p in patterns)]
    if not chosen:
        raise CozError(messages.binary_scope_empty(patterns, [str(program), *libraries]))
    return chosen


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
    helper: Path, result: LineTables, source_scope: Sequence[str], fixed_line: str | None
) -> None:
    lines = 0
    existing: list[str] = []
    nearest: list[str] = []
    for entry in result.tables:
        arguments = ["scope", "--table", entry.table]
        for pattern in source_scope:
            arguments += ["--source-scope", pattern]
        if fixed_line is not None:
            arguments += ["--line", fixed_line]
        status, answer = _ask(helper, arguments)
        if status != 0:
            raise CozError(messages.helper_failed(entry.binary, answer.get("message", f"status {status}")))
        lines += answer.get("lines", 0)
        existing += answer.get("all_files", [])
        nearest += answer.get("nearest", [])
        if answer.get("line") and not result.fixed_line:
            result.fixed_line = answer["line"]["location"]
    # A fixed line is chosen by name, whatever the scope of the random choice.
    if fixed_line is not None:
        if not result.fixed_line:
            raise CozError(messages.line_not_found(fixed_line, _unique(nearest), _unique(existing)))
    elif lines == 0:
        raise CozError(messages.source_scope_empty(source_scope, _unique(existing)))


def _ask(helper: Path, arguments: Iterable[str]) -> tuple[int, dict[str, Any]]:
    """Run the helper; its answer is one JSON object, also when it fails."""
    try:
        process = subprocess.run(
            [str(helper), *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError as error:
        raise CozError(messages.helper_failed(str(helper), error.strerror or str(error))) from None
    answer: dict[str, Any] = {}
    try:
        parsed = json.loads(process.stdout or process.stderr or b"{}")
        answer = parsed if isinstance(parsed, dict) else {}
    except ValueError:
        pass
    if not answer and process.returncode == 0:
        raise CozError(messages.helper_failed(str(helper), "its answer cannot be read"))
    if not answer:
        answer = {"message": process.stderr.decode(errors="replace").strip() or "no message"}
    return process.returncode, answer


def _unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))
