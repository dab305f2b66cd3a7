"""Texts about moving the functions of a program."""

from __future__ import annotations

from cozcli.errors import Problem
from cozcli.messages import printable


def no_library(path: str) -> Problem:
    """libcoz-layout.so is missing."""
    return Problem(
        f"{printable(path)} is not there, so that functions cannot be moved.",
        "run make in the checkout, or install coz again.",
    )


def refused(message: str, remedy: str) -> Problem:
    """The helper says why."""
    return Problem(f"functions cannot be moved: {printable(message)}.", f"{remedy}." if remedy else "")


def unreadable(program: str, reason: str) -> Problem:
    """The file cannot be opened."""
    return Problem(
        f"{printable(program)} cannot be read ({reason}).", "make it readable, or correct the name."
    )


def is_script(program: str, interpreter: str) -> Problem:
    """A script has no code of its own."""
    return Problem(
        f"functions cannot be moved: {printable(program)} is a script for {printable(interpreter)}.",
        "name the interpreter as the program, and the script as its first argument.",
    )


def is_musl(program: str) -> Problem:
    """The library is for glibc."""
    return Problem(
        f"functions cannot be moved: {printable(program)} uses musl, and the library that moves them glibc.",
        "build it for glibc.",
    )
