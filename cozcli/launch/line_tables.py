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

#: The name that stands for the main executable in binary scopes.
MAIN = "MAIN"
_NO_DEBUG_INFO = 3
_NOT_ELF = 4


class LineTable(NamedTuple):
    """One binary and the file with its table."""

    binary: str
    table: str


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
    """Tables in the order of the contract (main executable first), and what was noticed."""

    def __init__(self, helper: Path, scope: Scope) -> None:
        self.helper = helper
        self.scope = scope
        self.tables: list[LineTable] = []
        self.warnings: list[Problem] = []

    def select(self, wanted: Sequence[Wanted]) -> list[FixedTarget]:
        """What the user's names for lines and functions mean, each once.

        Raises:
            CozError: some mean nothing, or what is out of scope; without any, the scope is empty.
        """
        answers = [self._ask_scope(entry, wanted) for entry in self.tables]
        found: dict[FixedTarget, None] = {}
        missing: list[Missing] = []
        outside: list[str] = []
        for index, want in enumerate(wanted):
            choices = [answer["chosen"][index] for answer in answers]
            places = [place for choice in choices for place in choice["found"]]
            inside = [FixedTarget(want.kind, place["location"]) for place in places if place["in_scope"]]
            # A line may stand in several binaries; the first is meant. A name may be several functions'.
            found.update(dict.fromkeys(inside if want.kind == "function" else inside[:1]))
            if not places:
                nearest = _unique(near for choice in choices for near in choice["nearest"])
                missing.append(Missing(want, nearest))
            elif not inside:
                outside.append(places[0]["location"])
        if missing:
            files = _unique(file for answer in answers for file in answer.get("all_files", []))
            raise CozError(messages.fixed_not_found(missing, files))
        if outside:
            raise CozError(messages.fixed_out_of_scope(outside))
        if not wanted:
            self._check_not_empty(answers)
        return list(found)

    def source_files(self) -> tuple[frozenset[str], list[str]]:
        """Those in scope, and all that have code (of the biggest ones, at most 50 a binary)."""
        answers = [self._ask_scope(entry, ()) for entry in self.tables]
        inside = frozenset(file for answer in answers for file in answer.get("files", []))
        return inside, _unique(file for answer in answers for file in answer.get("all_files", []))

    def listed(self) -> Iterator[tuple[str, str]]:
        """Each line (or function) in scope, by binary and path: its location and its function.

        Raises:
            CozError: nothing is in scope, or the helper failed.
        """
        self._check_not_empty([self._ask_scope(entry, ()) for entry in self.tables])
        for entry in self.tables:
            arguments = [str(self.helper), "lines", "--table", entry.table, *self._patterns()]
            if self.scope.functions:
                arguments.append("--functions")
            with subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    place = json.loads(line)
                    yield place["location"], place["function"]
            if process.returncode != 0:
                raise CozError(messages.helper_failed(entry.binary, f"status {process.returncode}"))

    def _patterns(self) -> list[str]:
        return [word for pattern in self.scope.source for word in ("--source-scope", pattern)]

    def _ask_scope(self, entry: LineTable, wanted: Sequence[Wanted]) -> dict[str, Any]:
        # As they stand in the answer: lines first.
        names = [word for want in wanted for word in (f"--{want.kind}", want.text)]
        status, answer = ask_helper(self.helper, ["scope", "--table", entry.table, *self._patterns(), *names])
        if status != 0:
            raise CozError(messages.helper_failed(entry.binary, answer.get("message", f"status {status}")))
        return answer

    def _check_not_empty(self, answers: Sequence[dict[str, Any]]) -> None:
        what = "functions" if self.scope.functions else "lines"
        if not any(answer.get(what) for answer in answers):
            files = _unique(file for answer in answers for file in answer.get("all_files", []))
            raise CozError(messages.source_scope_empty(self.scope.source, files, what.rstrip("s")))


def build_tables(helper: Path, program: Path, interpreter: str, scope: Scope) -> LineTables:
    """Build the tables of every binary in scope.

    Raises:
        CozError: nothing matches, nothing has debug information, or the helper failed.
    """
    result = LineTables(helper, scope)
    options = ["--functions"] if scope.functions else []
    refusals: list[tuple[str, Problem]] = []
    for binary in binaries_in_scope(program, interpreter, scope.binary):
        status, answer = ask_helper(helper, ["build", *options, binary])
        if status == 0:
            result.tables.append(LineTable(answer.get("binary", binary), answer["table"]))
            warnings = answer.get("warnings", [])
            result.warnings += [messages.debug_info_warning(binary, text) for text in warnings]
        elif status in (_NO_DEBUG_INFO, _NOT_ELF):
            what = messages.no_functions if scope.functions else messages.no_debug_info
            refusals.append((binary, what(binary)))
        else:
            raise CozError(messages.helper_failed(binary, answer.get("message", f"status {status}")))
    if not result.tables:
        raise CozError(refusals[0][1])
    result.warnings += [messages.binary_left_out(binary, scope.functions) for binary, _ in refusals]
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
        # One that was linked by a relative path has that path; the vDSO has none.
        match = re.match(r"\s*(?:.* => )?(.*/.*) \(0x[0-9a-f]+\)$", line)
        if match:
            found[os.path.realpath(match[1])] = None
    return [path for path in found if path != os.path.realpath(interpreter)]


def ask_helper(helper: Path, arguments: Iterable[str]) -> tuple[int, dict[str, Any]]:
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
