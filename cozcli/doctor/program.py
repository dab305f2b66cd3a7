"""Findings about a program, without running it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cozcli.doctor.finding import OK, PROBLEM, WARNING, Finding, of_problem
from cozcli.doctor.machine import SANITIZERS
from cozcli.errors import CozError, Problem
from cozcli.launch.elf import NAMES_WITHIN, contains_any
from cozcli.launch.helper import Helper
from cozcli.launch.libraries import loaded_libraries
from cozcli.launch.line_tables import LineTables, NoLinesError, Scope, build_tables
from cozcli.launch.preflight import SANITIZER_MARKS, check_program, find_program
from cozcli.messages import count

#: Names that the macros look up, in coz.h of this Coz and of the classic one.
POINT_MARKS = (b"_coz_get_point\0", b"_coz_get_counter\0")
REGION_MARK = b"_coz_get_region\0"


def examine_program(name: str, helper: Helper, scope: Scope) -> list[Finding]:
    """All findings, as far as one does not make the others pointless."""
    try:
        program = find_program(name)
        elf = check_program(program)
    except CozError as error:
        return [of_problem(PROBLEM, "program", error.problem)]
    libraries, problems = loaded_libraries(program, elf.interpreter)
    findings = [
        Finding(OK, "program", f"{program} is dynamically linked, for this machine, without privileges")
    ]
    findings += [of_problem(WARNING, "libraries", problem) for problem in problems]
    findings += _sanitizers(program, libraries)
    try:
        tables = build_tables(helper, program, elf.interpreter, scope)
    except NoLinesError as error:
        missing = of_problem(PROBLEM, "debug information", error.problem)
        return [*findings, missing, _points([str(program)])]
    except CozError as error:
        return [*findings, of_problem(PROBLEM, "debug information", error.problem)]
    return [*findings, *_scope(tables, problems), _points([entry.binary for entry in tables.tables])]


def _scope(tables: LineTables, told: Sequence[Problem]) -> list[Finding]:
    try:
        size, files = tables.size()
    except CozError as error:
        return [of_problem(PROBLEM, "scope", error.problem)]
    what = "function" if tables.scope.functions else "line"
    where = f" of {count(files, 'file')}" if files else ""
    text = f"{count(size, what)}{where} can be selected; frame pointers are not needed"
    return [
        Finding(OK, "debug information", text),
        *(
            of_problem(WARNING, "debug information", warning)
            for warning in tables.warnings
            if warning not in told
        ),
    ]


def _points(binaries: Sequence[str]) -> Finding:
    if any(contains_any(Path(binary), POINT_MARKS) for binary in binaries):
        return Finding(OK, "progress points", "the program has marks (COZ_PROGRESS, COZ_BEGIN or the like)")
    has_regions = any(contains_any(Path(binary), (REGION_MARK,)) for binary in binaries)
    regions = " It has regions, but they are no progress." if has_regions else ""
    return Finding(
        WARNING,
        "progress points",
        f"no marks were compiled into the program, so that coz would not know what progress is.{regions}",
        "name a line or function that is reached once for each unit of work, as the body of the main loop: "
        "coz run --progress FILE:LINE (coz lines PROGRAM lists what there is); or include coz.h and write "
        "COZ_PROGRESS; there.",
    )


def _sanitizers(program: Path, libraries: Sequence[str]) -> list[Finding]:
    dynamic = [library for library in libraries if SANITIZERS.search(library)]
    if not dynamic and not contains_any(program, SANITIZER_MARKS, NAMES_WITHIN):
        return []
    return [
        Finding(
            PROBLEM,
            "sanitizers",
            "built with a sanitizer, which replaces what Coz has to see, and changes what is slow.",
            "profile a build without -fsanitize.",
        )
    ]
