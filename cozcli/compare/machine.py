"""The machine on which programs are compared."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cozcli.compare import messages
from cozcli.errors import CozError, reason_of


def check_input(path: str) -> None:
    """Refuse standard input that cannot be read, or only once.

    Raises:
        CozError: with the remedy.
    """
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            raise CozError(messages.input_read_once(path))
        with open(path, "rb"):
            pass
    except OSError as error:
        raise CozError(messages.no_input(path, reason_of(error))) from error


def choose_processors(wanted: Sequence[int] | None) -> None:
    """Run on these processors; programs inherit that."""
    allowed = sorted(os.sched_getaffinity(0))
    if wanted is None:
        if len(allowed) < 2:
            raise CozError(messages.one_processor())
        return
    if not set(wanted) <= set(allowed):
        raise CozError(messages.no_such_processors(wanted, allowed))
    os.sched_setaffinity(0, wanted)


def machine() -> dict[str, Any]:
    """What may have mattered, for the JSON."""

    def read(path: str) -> str:
        try:
            return Path(path).read_text().strip()
        except OSError:
            return ""

    return {
        "processors": sorted(os.sched_getaffinity(0)),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "randomize_va_space": read("/proc/sys/kernel/randomize_va_space"),
    }
