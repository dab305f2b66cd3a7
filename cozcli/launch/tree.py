"""Programs that processes of a tree execute, and that are profiled with it (`--tree -b PROGRAM`).

They share memory with the launched program through a file without a name, which this process holds open while
the program runs (docs/launch_contract.md, COZ_TREE_FILE).
"""

from __future__ import annotations

import argparse
import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from cozcli.errors import CozError
from cozcli.launch import messages
from cozcli.launch.elf import ElfFile
from cozcli.launch.line_tables import executable_patterns, matches_binary
from cozcli.launch.preflight import check_program, find_program, refuse_sanitized


def executed_programs(
    options: argparse.Namespace, program: Path, elf: ElfFile, *, amplifies: bool
) -> dict[str, Path]:
    """The programs among the patterns of -b, by pattern. The launched one is among them where -b names it, so
    that it may execute itself, if nothing speaks against that.

    Args:
        elf: of the launched program. amplifies: is load amplified, which each process would do by itself?

    Raises:
        CozError: one is not to be found, or cannot be profiled, or other options forbid it.
    """
    patterns = options.binary_scope
    is_needed = bool(executable_patterns(program, elf.interpreter, patterns))
    found = {}
    for pattern in patterns:
        if not executable_patterns(program, elf.interpreter, [pattern]):
            continue
        if "%" in pattern:
            if is_needed:
                raise CozError(messages.attach.tree_wants_a_path(pattern))
            continue
        try:
            path = find_program(pattern)
        except CozError:
            if is_needed:
                raise
            continue
        if path != program:
            check_program(path)
            refuse_sanitized(path)
            found[pattern] = path
    forbidden = _forbidden(options, amplifies)
    if found and forbidden:
        raise CozError(messages.attach.tree_with(next(iter(found)), forbidden))
    own = [name for name in patterns if "%" not in name and _names(name, program)]
    if not forbidden and (found or len(own) == len(patterns)):
        found.update(dict.fromkeys(own, program))
    return found


def _names(pattern: str, program: Path) -> bool:
    return matches_binary(pattern, str(program), False) or os.path.realpath(pattern) == str(program)


def _forbidden(options: argparse.Namespace, amplifies: bool) -> str:
    """An option that would have each process do something of its own; empty: none is given."""
    given = {
        "load amplification": amplifies,
        "--granularity callpath": options.granularity == "callpath",
        "--waits": options.waits or options.fixed_wait or options.fixed_lock,
        "--progress": options.progress or options.progress_sampled or options.latency,
    }
    return next((option for option, is_given in given.items() if is_given), "")


class TreeFile:
    """The memory that is shared in one run; to be closed."""

    def __init__(self) -> None:
        """Raises OSError."""
        import resource  # which most runs need not wait for

        if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
            raise OSError(errno.EFBIG, "the size of files is limited, see ulimit -f")
        self._descriptor = os.memfd_create("coz-tree")

    def variables(self, programs: Sequence[Path]) -> Mapping[str, str]:
        """What the runtime is told. `programs`: that may share it."""
        return {
            "COZ_TREE_FILE": f"/proc/{os.getpid()}/fd/{self._descriptor}",
            "COZ_TREE_INODE": str(os.fstat(self._descriptor).st_ino),
            "COZ_TREE_PROGRAMS": "\n".join(map(str, programs)),
        }

    def close(self) -> None:
        """Programs that are started from now on run unprofiled."""
        os.close(self._descriptor)
