"""Findings about a program, without running it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cozcli.doctor import messages
from cozcli.doctor.finding import OK, PROBLEM, WARNING, Finding, of_problem
from cozcli.doctor.machine import SANITIZERS
from cozcli.errors import CozError, Problem
from cozcli.launch import messages as launch_messages
from cozcli.launch.elf import NAMES_WITHIN, contains_any
from cozcli.launch.helper import Helper
from cozcli.launch.libraries import loaded_libraries
from cozcli.launch.line_tables import LineTables, NoLinesError, Scope, build_tables
from cozcli.launch.preflight import SANITIZER_NAMES, check_program, find_program, has_static_openmp

#: Names that the macros look up, in coz.h of this Coz and of the classic one.
POINT_NAMES = (b"_coz_get_point\0", b"_coz_get_counter\0")
REGION_NAME = b"_coz_get_region\0"


def examine_program(name: str, helper: Helper, scope: Scope) -> list[Finding]:
    """All findings, as far as one does not make the others pointless."""
    aside: list[Finding] = []
    try:
        program, aside = _find(name)
        elf = check_program(program)
    except CozError as error:
        return [*aside, of_problem(PROBLEM, "program", error.problem)]
    libraries, problems = loaded_libraries(program, elf.interpreter)
    findings = [*aside, of_problem(OK, "program", messages.program_fits(str(program)))]
    findings += [of_problem(WARNING, "libraries", problem) for problem in problems]
    findings += _sanitizers(program, libraries)
    findings += _openmp(program)
    try:
        tables = build_tables(helper, program, elf.interpreter, scope)
    except NoLinesError as error:
        missing = of_problem(PROBLEM, "debug information", error.problem)
        return [*findings, missing, _points([str(program)])]
    except CozError as error:
        return [*findings, of_problem(PROBLEM, "debug information", error.problem)]
    return [*findings, *_scope(tables, problems), _points([entry.binary for entry in tables.tables])]


def _find(name: str) -> tuple[Path, list[Finding]]:
    """The program. A file in the current folder that is not on PATH is looked at, too: it is what is meant.

    Raises:
        CozError: there is no such program.
    """
    try:
        return find_program(name), []
    except CozError as error:
        if "/" in name or not os.path.isfile(name):
            raise
        try:
            program = find_program(f"./{name}")
        except CozError:  # it may not be executed
            program = Path(name).resolve()
        return program, [of_problem(PROBLEM, "program", error.problem)]


def _scope(tables: LineTables, said: Sequence[Problem]) -> list[Finding]:
    try:
        size, files = tables.size()
    except CozError as error:
        return [of_problem(PROBLEM, "scope", error.problem)]
    what = "function" if tables.scope.functions else "line"
    return [
        of_problem(OK, "debug information", messages.scope(what, size, files)),
        *(
            of_problem(WARNING, "debug information", warning)
            for warning in tables.warnings
            if warning not in said
        ),
    ]


def _points(binaries: Sequence[str]) -> Finding:
    if any(contains_any(Path(binary), POINT_NAMES) for binary in binaries):
        return of_problem(OK, "progress points", messages.has_macros())
    has_regions = any(contains_any(Path(binary), (REGION_NAME,)) for binary in binaries)
    return of_problem(WARNING, "progress points", messages.no_macros(has_regions))


def _openmp(program: Path) -> list[Finding]:
    if not has_static_openmp(program):
        return []
    return [of_problem(WARNING, "OpenMP", launch_messages.program.static_openmp(str(program)))]


def _sanitizers(program: Path, libraries: Sequence[str]) -> list[Finding]:
    dynamic = [library for library in libraries if SANITIZERS.search(library)]
    if not dynamic and not contains_any(program, SANITIZER_NAMES, NAMES_WITHIN):
        return []
    return [of_problem(PROBLEM, "sanitizers", messages.sanitized())]
