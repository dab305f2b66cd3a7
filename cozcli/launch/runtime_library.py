"""Where the runtime library and the helper are: in a checkout, installed, or where a test says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from cozcli.errors import CozError
from cozcli.launch import messages

#: The library and the helper, relative to a checkout, an installation's prefix, or the package.
_LAYOUTS = (
    ("build/lib/libcoz.so", "build/libexec/coz-linetable"),
    ("lib/coz/libcoz.so", "libexec/coz/coz-linetable"),
    ("lib/libcoz.so", "libexec/coz-linetable"),
    ("native/libcoz.so", "native/coz-linetable"),  # of a wheel, below the package itself
)


class Installation(NamedTuple):
    """The two native parts."""

    library: Path
    helper: Path


def find_installation() -> Installation:
    """Look below COZ_HOME if it is set, else below this package and each folder above it.

    Raises:
        CozError: they are not there, or the dynamic linker could not be given the library's path.
    """
    home = os.environ.get("COZ_HOME")
    roots = [Path(home)] if home else list(Path(__file__).resolve().parents[1:])
    for root in roots:
        for library, helper in _LAYOUTS:
            found = Installation(root / library, root / helper)
            if os.path.isfile(found.library) and os.path.isfile(found.helper):
                # LD_PRELOAD is a list separated by colons or spaces, without any quoting.
                if any(c in str(found.library) for c in ": \t\n"):
                    raise CozError(messages.libraries.library_path_unusable(str(found.library)))
                return Installation(found.library.resolve(), found.helper.resolve())
    raise CozError(messages.libraries.runtime_missing(str(roots[0])))


def preload(environment: dict[str, str], library: Path, first: bool = False) -> None:
    """Load a library into the program: behind those that are preloaded already, or before them."""
    before = environment.get("LD_PRELOAD", "")
    order = (str(library), before) if first else (before, str(library))
    environment["LD_PRELOAD"] = ":".join(filter(None, order))
