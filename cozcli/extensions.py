"""Two hooks, by which packages add to lower layers without being known there.

`extensions()`: to runs, analyses and reports. Such a package, listed here by name, has modules with these
names:

* `run`: options of `coz run`, and what follows from them (`cozcli.launch.extension`);
* `analysis`: what all runs of a profile say as a whole (`cozcli.analysis.extension`);
* `report`: what reports show besides (`cozcli.reports.extension`).

`drawing()`: pictures of `coz plot` from documents that are no profiles.

Lower layers thus run code of a higher one, by a name that import-linter does not see: the only exception to
the layers in pyproject.toml. A command of such a package is listed in `cozcli.cli`, as all are.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

EXTENSIONS = ("cozcli.load",)

#: What draws documents that are no profiles, by their `format`: a module with `draw(document, path, theme)`.
DRAWINGS = {
    "coz-comparison": "cozcli.compare.drawing",
    "coz-comparison-suite": "cozcli.compare.drawing",
}


def drawing(name: str) -> Any:
    """That function for a format; None for others."""
    return import_module(DRAWINGS[name]).draw if name in DRAWINGS else None


def extensions(module: str) -> list[Any]:
    """That module of every extension. It is imported only now: `coz run` waits for no report."""
    return [import_module(f"{package}.{module}") for package in EXTENSIONS]
