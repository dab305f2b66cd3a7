"""A control group in which a command has fewer processors than the machine (cgroups 2 and 1)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
NAME = "coz-doubling"
#: Microseconds.
PERIOD = 100_000


class NoControlGroupError(Exception):
    """The machine has no control groups for processor time, or we may not make one."""


def with_quota(processors: float, root: Path = ROOT) -> Callable[[], None]:
    """What a child calls before it becomes a command, so that this has so many processors at most.

    Raises:
        NoControlGroupError: it cannot be limited here.
    """
    quota = str(round(processors * PERIOD))
    version_1 = root / "cpu"
    if (version_1 / "cpu.cfs_quota_us").exists() or (version_1 / "cpu.shares").exists():
        group = version_1 / NAME
        settings = {"cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": quota}
    elif "cpu" in _read(root / "cgroup.controllers").split():
        group = root / NAME
        settings = {"cpu.max": f"{quota} {PERIOD}"}
    else:
        raise NoControlGroupError(f"{root} has no controller of processor time")
    try:
        group.mkdir(exist_ok=True)
        for name, value in settings.items():
            (group / name).write_text(value)
    except OSError as error:
        raise NoControlGroupError(f"{group}: {error.strerror}") from error
    return lambda: _enter(group / "cgroup.procs")


def remove(root: Path = ROOT) -> None:
    """Remove the group, once nothing runs in it."""
    for group in (root / "cpu" / NAME, root / NAME):
        if group.is_dir():
            group.rmdir()


def _enter(processes: Path) -> None:
    processes.write_text(str(os.getpid()))


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
