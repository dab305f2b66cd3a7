"""The environment of the profiled program (docs/launch_contract.md)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from cozcli import __version__
from cozcli.errors import CozError
from cozcli.launch import messages
from cozcli.launch.fixed_targets import FixedTarget
from cozcli.launch.line_tables import LineTable
from cozcli.launch.points import LocationPoint
from cozcli.launch.runtime_library import preload

#: Everything the runtime reads. What an outer `coz run` or a shell left there must not reach it.
VARIABLES = (
    "COZ_BINARY_SCOPE",
    "COZ_BUSY_PAUSES",
    "COZ_CLAIMS",
    "COZ_COMPANIONS",
    "COZ_EARLIER_SAMPLES",
    "COZ_FORKED",
    "COZ_FORKED_INODE",
    "COZ_FORKED_PIPE",
    "COZ_PROCESS",
    "COZ_PROGRAM",
    "COZ_OUTPUT",
    "COZ_JOINT",
    "COZ_JOINT_FOLLOWS",
    "COZ_LINE_TABLES",
    "COZ_SOURCE_SCOPE",
    "COZ_FIXED_TARGETS",
    "COZ_FIXED_SPEEDUP",
    "COZ_SPEEDUPS",
    "COZ_STOP_AFTER",
    "COZ_END_TO_END",
    "COZ_ARRIVAL_SPEEDUP",
    "COZ_ARRIVAL_RATE",
    "COZ_GRANULARITY",
    "COZ_PERIOD",
    "COZ_POINTS",
    "COZ_POINT_TOTALS",
    "COZ_SAMPLING",
    "COZ_SEED",
    "COZ_TABLE_SOCKET",
    "COZ_TREE",
    "COZ_TREE_FILE",
    "COZ_TREE_INODE",
    "COZ_TREE_PROGRAMS",
    "COZ_VERSION",
    "COZ_WAITS",
    "COZ_WARMUP",
)

#: The kernel takes no more than 128 KiB for a variable, with its name and a NUL.
MAX_VALUE = (128 << 10) - 100


class Settings(NamedTuple):
    """A run, as decided before its start.

    `period`, `warmup`, `stop_after`: nanoseconds; None: the runtime's choice.
    """

    library: Path
    program: Path
    output: Path
    tables: tuple[LineTable, ...]
    seed: int
    source_scope: Sequence[str] = ()
    binary_scope: Sequence[str] = ()
    fixed: Sequence[FixedTarget] = ()
    fixed_speedup: int | None = None
    #: Which waits are targets: sites, classes, or none.
    waits: str = ""
    #: Are forked children profiled with the program?
    tree: bool = False
    #: Programs that are profiled if processes of the tree execute them.
    tree_programs: tuple[Path, ...] = ()
    speedups: Sequence[int] = ()
    #: Limit of the companions' dose, per cent.
    companions: float = 0.0
    end_to_end: bool = False
    period: int | None = None
    sampling: str = "auto"
    granularity: str = "line"
    points: Sequence[LocationPoint] = ()
    warmup: int = 0
    stop_after: int = 0
    #: Of extensions (extension.py), and of --joint.
    variables: Mapping[str, str] = MappingProxyType({})


def make_environment(settings: Settings, inherited: Mapping[str, str]) -> dict[str, str]:
    """The inherited environment with the runtime's variables; COZ_PROCESS is left to the child.

    Raises:
        CozError: more was chosen than an environment can hold.
    """
    environment = preloaded(settings.library, inherited)
    environment.update(runtime_variables(settings))
    return environment


def preloaded(library: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    """The inherited environment with the runtime library, and without any of its variables."""
    environment = {key: value for key, value in inherited.items() if key not in VARIABLES}
    preload(environment, library)
    return environment


def runtime_variables(settings: Settings) -> dict[str, str]:
    """What the runtime reads in the profiled process, but for COZ_PROCESS and COZ_TABLE_SOCKET.

    Raises:
        CozError: more was chosen than an environment can hold.
    """
    targets = "\n".join(f"{target.kind}\t{target.name}" for target in settings.fixed)
    if len(os.fsencode(targets)) > MAX_VALUE:
        raise CozError(messages.targets.too_many_fixed(len(settings.fixed)))
    always = {
        "COZ_PROGRAM": str(settings.program),
        "COZ_OUTPUT": str(settings.output),
        "COZ_LINE_TABLES": "\n".join(f"{entry.binary}\t{entry.table}" for entry in settings.tables),
        "COZ_SAMPLING": settings.sampling,
        "COZ_GRANULARITY": settings.granularity,
        "COZ_SEED": str(settings.seed),
        "COZ_VERSION": __version__,
    }
    if_given = {
        "COZ_WAITS": settings.waits,
        "COZ_TREE": "1" if settings.tree else "",
        "COZ_SOURCE_SCOPE": "\n".join(settings.source_scope),
        "COZ_BINARY_SCOPE": "\n".join(settings.binary_scope),
        "COZ_FIXED_TARGETS": targets,
        "COZ_POINTS": "\n".join(point.encode() for point in settings.points),
        # 0 is a speedup like any other: only None means "not given".
        "COZ_FIXED_SPEEDUP": "" if settings.fixed_speedup is None else str(settings.fixed_speedup),
        "COZ_SPEEDUPS": ",".join(map(str, settings.speedups)),
        "COZ_COMPANIONS": f"{settings.companions:g}" if settings.companions else "",
        "COZ_END_TO_END": "1" if settings.end_to_end else "",
        "COZ_WARMUP": str(settings.warmup or ""),
        "COZ_STOP_AFTER": str(settings.stop_after or ""),
        "COZ_PERIOD": "" if settings.period is None else str(settings.period),
    }
    return {**always, **{name: text for name, text in if_given.items() if text}, **settings.variables}


def random_seed() -> int:
    """A seed when none is given; it is recorded in the profile, so the run can be repeated."""
    return int.from_bytes(os.urandom(8), "little")
