"""coz.toml: a project's scopes, progress points and other options of `coz run`, by their long names.

    [run]
    source-scope = ["src/%"]
    progress = ["frames.cpp:12"]
    companions = 10

The file is looked for in the current folder and upwards, then from the program's folder upwards. An option
on the command line replaces the file's; `coz lines` and `coz doctor` take what they share with `coz run`.
Names of files are relative to the file's folder.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cozcli.commands import messages
from cozcli.commands.options import below, print_warnings
from cozcli.errors import CozError
from cozcli.launch.preflight import find_program

NAME = "coz.toml"
TABLE = "run"
#: Commands that read it.
COMMANDS = ("run", "lines", "doctor")
OFF = "--no-config"
#: What other commands do not take of an option that they have.
_OF_RUN_ONLY = ("granularity", "callpath")
#: Values that are names of files.
_FILES = {"FILE"}
#: Where the patterns of options go whose `./` is the file's folder.
_SCOPES = {"source_scope", "binary_scope"}


def project_options(
    parser: argparse.ArgumentParser, arguments: Sequence[str], program: Sequence[str]
) -> tuple[list[str], Path | None]:
    """The options of coz.toml that the command takes and `arguments` do not have, as a command line has them.

    Returns:
        Them, and the file; none where there is no file, or it is not wanted.

    Raises:
        CozError: the file cannot be read, or has something in it that is no option.
    """
    if OFF in arguments:
        return [], None
    path = find_file(_here()) or find_file(_program(parser, arguments, program))
    if path is None:
        return [], None
    table = _read(path)
    known = _actions(parser)
    given = {_part_set(action) for name, action in known.items() if _is_given(name, action, arguments)}
    groups = [
        {_part_set(action) for action in group._group_actions} for group in parser._mutually_exclusive_groups
    ]
    replaced = given.union(*(group for group in groups if group & given))
    is_run = parser.prog.split()[-1] == TABLE
    words: list[str] = []
    for key, value in table.items():
        action = known.get(f"--{key}")
        if action is None:
            if is_run:
                raise CozError(messages.config_unknown(str(path), key, [name[2:] for name in known]))
        elif _part_set(action) in replaced:
            continue
        elif is_run or (key, value) != _OF_RUN_ONLY:
            words += _words(path, key, value, action)
    _check(path, parser, words)
    return words, path


def _part_set(action: argparse.Action) -> object:
    """What an option sets. Options that set the same replace each other; of a list, each sets its part."""
    return action if isinstance(action, argparse._AppendAction) else action.dest


def find_file(start: Path | None) -> Path | None:
    """The nearest coz.toml in a folder or one above it.

    One that another user has put there is left alone, with a warning.
    """
    for folder in () if start is None else (start, *start.parents):
        path = folder / NAME
        try:
            owner = path.stat().st_uid
        except OSError:
            continue
        if owner in (0, os.geteuid()):
            return path
        print_warnings([messages.config_of_another_user(str(path))])
    return None


def _program(
    parser: argparse.ArgumentParser, arguments: Sequence[str], program: Sequence[str]
) -> Path | None:
    words = program
    if not words and parser.prog.split()[-1] != TABLE:
        # `coz lines PROGRAM` and `coz doctor PROGRAM` have it without dashes.
        words = parser.parse_known_args(arguments[1:])[0].words
    if not words:
        return None
    try:
        return find_program(words[0]).parent
    except CozError:  # the command itself says so
        return None


def _read(path: Path) -> Mapping[str, Any]:
    import tomllib  # which runs without a file need not wait for

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CozError(messages.config_unreadable(str(path), str(error))) from None
    for name, value in document.items():
        if name != TABLE or not isinstance(value, dict):
            raise CozError(messages.config_unknown_table(str(path), name, TABLE))
    table: Mapping[str, Any] = document.get(TABLE, {})
    return table


def _actions(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    return {
        name: action
        for name, action in parser._option_string_actions.items()
        if action.dest not in ("help", argparse.SUPPRESS) and name != OFF
    }


def _is_given(name: str, action: argparse.Action, arguments: Sequence[str]) -> bool:
    if name.startswith("--"):
        return any(word == name or word.startswith(f"{name}=") for word in arguments)
    takes_value = action.nargs != 0
    return any(word == name or (takes_value and word[:2] == name) for word in arguments)


def _words(path: Path, key: str, value: object, action: argparse.Action) -> Iterator[str]:
    if isinstance(value, bool) or action.nargs == 0:
        if not isinstance(value, bool) or action.nargs != 0:
            raise CozError(
                messages.config_invalid(
                    str(path),
                    key,
                    "true or false is wanted"
                    if action.nargs == 0
                    else "it is not true or false that is wanted",
                )
            )
        if value:
            yield f"--{key}"
        return
    values = value if isinstance(value, list) else [value]
    if len(values) != 1 and not isinstance(action, argparse._AppendAction):
        raise CozError(messages.config_invalid(str(path), key, "one value is wanted, not a list"))
    for one in values:
        if not isinstance(one, str | int | float):
            raise CozError(messages.config_invalid(str(path), key, "text or a number is wanted"))
        text = str(one)
        if action.metavar in _FILES:
            folder = str(path.parent)
            # A % begins a placeholder in the name that the user wrote, but not in the folder's path.
            text = os.path.join(folder.replace("%", "%%") if action.dest == "output" else folder, text)
        elif action.dest in _SCOPES:
            text = below(str(path.parent), text)
        yield f"--{key}={text}"


def _here() -> Path | None:
    """The current folder, unless it has been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


class _InvalidError(Exception):
    """What argparse says of the file's options."""


def _check(path: Path, parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """See that values are good, so that what is wrong is said of the file, not of the command line."""

    def refuse(message: str) -> None:
        raise _InvalidError(message)

    error, parser.error = parser.error, refuse  # type: ignore[method-assign, assignment]
    try:
        parser.parse_known_args(list(words))
    except _InvalidError as invalid:
        raise CozError(messages.config_refused(str(path), str(invalid))) from None
    finally:
        parser.error = error  # type: ignore[method-assign]
