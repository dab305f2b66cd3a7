"""Texts that `coz run` shows: what happened, what follows, and what to do.

`messages.scope.no_debug_info(…)`: a module is imported when it is first used, since most runs go well.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from cozcli.launch.messages import attach as attach
    from cozcli.launch.messages import job as job
    from cozcli.launch.messages import layout as layout
    from cozcli.launch.messages import libraries as libraries
    from cozcli.launch.messages import points as points
    from cozcli.launch.messages import program as program
    from cozcli.launch.messages import run as run
    from cozcli.launch.messages import scope as scope
    from cozcli.launch.messages import targets as targets


def __getattr__(name: str) -> ModuleType:
    """Import one of the modules above."""
    if name.startswith("_"):
        raise AttributeError(name)
    return import_module(f"{__name__}.{name}")
