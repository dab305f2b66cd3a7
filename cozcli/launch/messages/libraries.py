"""Why the libraries of a program are not known before its start, and where coz itself is."""

from __future__ import annotations

from cozcli.errors import Problem

_AS_THEY_COME = "if you trust it, coz run -b '%/libNAME.so%' finds them as they are loaded"


def unknown_loader(path: str, interpreter: str) -> Problem:
    """Another loader than the system's is not run to list libraries: it may be any program."""
    return Problem(
        f"{path} names {interpreter} as its loader, which is not one of this system's: it is not run to "
        "list the program's libraries, and those are not known before the start.",
        f"{_AS_THEY_COME}; or link the program for the system's loader.",
    )


def loader_not_asked(path: str, broken: bool) -> Problem:
    """The system's loader would run what the program names in its dynamic section."""
    reason = (
        "its dynamic section cannot be read"
        if broken
        else "it names an audit library (DT_AUDIT), which would be run by listing them"
    )
    return Problem(f"the libraries of {path} are not known before the start: {reason}.", f"{_AS_THEY_COME}.")


def libraries_unknown(path: str, interpreter: str, reason: str) -> Problem:
    """The loader gave no list."""
    return Problem(
        f"the libraries of {path} are not known before the start: {interpreter} did not list them "
        f"({reason}).",
        f"{_AS_THEY_COME}.",
    )


def runtime_missing(folder: str) -> Problem:
    """Not built."""
    return Problem(
        f"libcoz.so and coz-linetable were not found (looked in {folder} and above).",
        "build them with make in the checkout, or install coz.",
    )


def library_path_unusable(path: str) -> Problem:
    """LD_PRELOAD has no quoting."""
    return Problem(
        f"{path} cannot be preloaded: the dynamic linker splits such paths at spaces and colons.",
        "move or install coz to a directory without them.",
    )
