"""The file of a suite: which programs, under which treatments.

    [suite]
    baseline = "O2"                      # a treatment; the first one if this is left out

    [treatments.O2]
    flags = "-O2"                        # any text, for {flags} below
    [treatments.O3]
    flags = "-O3"
    environment = { MODE = "fast" }      # optional, as are heap = "zero", …

    [programs.parser]
    build = "gcc {flags} -o parser.{treatment} parser.c"       # optional; a shell runs it
    command = "./parser.{treatment} big.json"
    input = "/dev/null"                  # optional
    environment = {}                     # optional

Paths are relative to the file's folder.
"""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cozcli.compare.suite import messages
from cozcli.errors import CozError, reason_of

_TREATMENT = {"environment": dict, "heap": str}
_PROGRAM = {"build": str, "command": (str, list), "input": str, "environment": dict}
_NAMED = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")


class Treatment(NamedTuple):
    """texts: what {name} stands for in commands. heap: as --heap, or None."""

    name: str
    texts: Mapping[str, str]
    environment: Mapping[str, str]
    heap: str | None


class Cell(NamedTuple):
    """A program under a treatment. build: a shell's command, or empty."""

    program: str
    treatment: Treatment
    command: Sequence[str]
    build: str
    environment: Mapping[str, str]


class Program(NamedTuple):
    """Its cells are in the order of the treatments, the baseline first."""

    name: str
    cells: Sequence[Cell]
    stdin: str


class Suite(NamedTuple):
    """What one file says."""

    folder: Path
    baseline: str
    treatments: Sequence[str]
    programs: Sequence[Program]


def read_suite(path: str) -> Suite:
    """Read the file.

    Raises:
        CozError: it cannot be read, is not TOML, or does not describe a suite.
    """
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        is_there = not isinstance(error, FileNotFoundError)
        raise CozError(messages.unreadable(path, reason_of(error), is_there)) from None
    try:
        return _suite(Path(path).resolve().parent, document)
    except ValueError as error:
        raise CozError(messages.no_suite(path, str(error))) from None


def _suite(folder: Path, document: dict[str, Any]) -> Suite:
    _check("the file", document, {"suite": dict, "treatments": dict, "programs": dict})
    head = document.get("suite", {})
    _check("[suite]", head, {"baseline": str})
    treatments = [_treatment(name, table) for name, table in document.get("treatments", {}).items()]
    if len(treatments) < 2:
        raise ValueError("two [treatments.NAME] are the least")
    if not document.get("programs"):
        raise ValueError("there is no [programs.NAME]")
    baseline = head.get("baseline", treatments[0].name)
    if baseline not in (treatment.name for treatment in treatments):
        raise ValueError(f"the baseline {baseline!r} is no treatment")
    treatments.sort(key=lambda treatment: treatment.name != baseline)
    programs = [_program(name, table, treatments) for name, table in document["programs"].items()]
    return Suite(folder, baseline, [treatment.name for treatment in treatments], programs)


def _treatment(name: str, table: Any) -> Treatment:
    where = f"[treatments.{name}]"
    if not isinstance(table, dict):
        raise ValueError(f"{where} is not a table")
    _check(where, {key: table[key] for key in table if key in _TREATMENT}, _TREATMENT)
    texts = {key: value for key, value in table.items() if key not in _TREATMENT}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise ValueError(f"{key} in {where} is not text")
    return Treatment(name, texts, _environment(where, table), table.get("heap"))


def _program(name: str, table: Any, treatments: Sequence[Treatment]) -> Program:
    where = f"[programs.{name}]"
    _check(where, table, _PROGRAM)
    if not table.get("command"):
        raise ValueError(f"{where} has no command")
    command = table["command"]
    words = shlex.split(command) if isinstance(command, str) else command
    if not all(isinstance(word, str) for word in words):
        raise ValueError(f"command in {where} is not a list of texts")
    if not words or not words[0]:
        raise ValueError(f"{where} has no command")
    cells = []
    for treatment in treatments:
        # {seed} stands for builds with other layouts (sides.py), unless a treatment means something by it.
        texts = {"seed": "{seed}", "program": name, "treatment": treatment.name, **treatment.texts}
        cells.append(
            Cell(
                name,
                treatment,
                [_filled(where, word, texts) for word in words],
                _filled(where, table.get("build", ""), texts),
                {**_environment(where, table), **treatment.environment},
            )
        )
    return Program(name, cells, table.get("input", os.devnull))


def _filled(where: str, text: str, texts: Mapping[str, str]) -> str:
    def text_of(match: re.Match[str]) -> str:
        if match[1] not in texts:
            raise ValueError(f"{match[0]} in {where} is in no treatment")
        return texts[match[1]]

    return _NAMED.sub(text_of, text)


def _environment(where: str, table: dict[str, Any]) -> dict[str, str]:
    found = table.get("environment", {})
    if not all(isinstance(value, str) for value in found.values()):
        raise ValueError(f"a variable of the environment in {where} is not text")
    return dict(found)


def _check(where: str, table: Any, known: Mapping[str, Any]) -> None:
    if not isinstance(table, dict):
        raise ValueError(f"{where} is not a table")
    for key, value in table.items():
        if key not in known:
            raise ValueError(f"{key} in {where} is not known (known: {', '.join(known)})")
        if not isinstance(value, known[key]):
            raise ValueError(f"{key} in {where} has the wrong type")
