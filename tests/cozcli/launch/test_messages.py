"""Every text of `coz run` says what to do."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable

import pytest

from cozcli.errors import Problem
from cozcli.launch import messages

#: Values for parameters, by their types; of others, nothing.
VALUES = {
    "str": "x",
    "int": 3,
    "float": 0.5,
    "bool": False,
    "Sequence[str]": ("a",),
    "int | None": 3,
    "Problem": Problem("It is so.", "change it."),
}
#: Says what a file's debug information is, in the helper's words.
WITHOUT_HINT = {"debug_info_warning"}


def problems() -> list[Callable[..., Problem]]:
    modules = [
        importlib.import_module(f"{messages.__name__}.{m.name}")
        for m in pkgutil.iter_modules(messages.__path__)
    ]
    found = [
        f
        for module in modules
        for _, f in inspect.getmembers(module, inspect.isfunction)
        if f.__module__ == module.__name__ and inspect.signature(f).return_annotation == "Problem"
    ]
    return [f for f in found if f.__name__ not in WITHOUT_HINT]


@pytest.mark.parametrize("problem", problems(), ids=lambda f: f.__name__)
def test_a_problem_has_a_hint(problem: Callable[..., Problem]) -> None:
    parameters = inspect.signature(problem).parameters.values()
    text, hint = problem(**{p.name: VALUES.get(p.annotation, ()) for p in parameters})
    assert text.endswith(".")
    assert hint
