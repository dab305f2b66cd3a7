"""Layouts of heap and stacks: libcoz-heap.so is preloaded before the program's allocator.

The library says in a file whether it could do what it was asked for. That file is looked at after the first
run of each program, which does not count.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cozcli.compare import messages
from cozcli.compare.design import Layout
from cozcli.compare.layouts import Arranger
from cozcli.compare.trial import Side
from cozcli.errors import CozError
from cozcli.launch.elf import read_elf
from cozcli.launch.runtime_library import find_installation, preload
from cozcli.messages import printable

LIBRARY = "libcoz-heap.so"
HEAP, HEAP_SEED, STACK_SEED, REPORT = "COZ_HEAP", "COZ_HEAP_SEED", "COZ_STACK_SEED", "COZ_HEAP_REPORT"
SYSTEM = "system"
#: Seeds of heap and stacks are other numbers than the layout's, so that one can be kept while others change.
_HEAP_STREAM, _STACK_STREAM = 0x68656170, 0x737461636B
_MASK = (1 << 63) - 1


class MemoryLayouts(NamedTuple):
    """An arranger. heap: as COZ_HEAP has it, or empty; stack: are stacks moved?"""

    heap: str
    stack: bool
    library: Path

    def arrange(self, environment: dict[str, str], layout: Layout) -> None:
        """Another seed for each run."""
        # Before other libraries: an allocator that is preloaded, too, comes behind.
        preload(environment, self.library, first=True)
        if self.heap:
            environment[HEAP] = self.heap
            environment[HEAP_SEED] = str(heap_seed(layout))
        if self.stack:
            environment[STACK_SEED] = str(stack_seed(layout))


def heap_seed(layout: Layout) -> int:
    """The number by which blocks of the heap are placed."""
    return (layout.seed ^ _HEAP_STREAM) & _MASK


def stack_seed(layout: Layout) -> int:
    """The number by which stacks are placed."""
    return (layout.seed ^ _STACK_STREAM) & _MASK


def memory_layouts(heap: str | None, stack: bool) -> MemoryLayouts | None:
    """What --heap and --stack ask for; None for the system's own.

    Raises:
        CozError: the library is not there.
    """
    if heap in (None, SYSTEM) and not stack:
        return None
    library = find_installation().library.with_name(LIBRARY)
    if not library.is_file():
        raise CozError(messages.no_heap_library(str(library)))
    return MemoryLayouts("" if heap in (None, SYSTEM) else str(heap), stack, library)


def memory_layouts_of(sides: Sequence[Side]) -> MemoryLayouts | None:
    """What moves heap and stacks of these sides."""
    found = (each for side in sides for each in side.arrangers if isinstance(each, MemoryLayouts))
    return next(found, None)


def check_program(name: str, program: str) -> None:
    """Refuse what nothing can be preloaded into. Scripts pass: check_run sees their interpreters.

    Raises:
        CozError: it is static, for another machine, or has privileges.
    """
    path = Path(os.path.realpath(program))
    try:
        elf, mode = read_elf(path), path.stat().st_mode
    except OSError:
        return  # its start will say what is wrong
    if mode & (stat.S_ISUID | stat.S_ISGID) and os.geteuid() != path.stat().st_uid:
        raise CozError(messages.not_movable(name, program, "it runs with another user's rights (set-uid)"))
    if elf is None:
        return
    if not elf.interpreter:
        raise CozError(messages.not_movable(name, program, "it is linked statically"))
    if elf.bits != 64 or elf.machine != os.uname().machine:
        raise CozError(messages.not_movable(name, program, f"it is for {elf.machine}"))


def check_run(name: str, program: str, layouts: MemoryLayouts, run: Callable[[Arranger], None]) -> None:
    """Refuse a program in which the library could do nothing, as it says itself. `run`: runs it once.

    Raises:
        CozError: with the library's reason.
    """
    with tempfile.NamedTemporaryFile("r", prefix="coz-heap-") as file:
        run(_Reporting(layouts, file.name))
        said = file.read().splitlines()
    inert = [line.removeprefix("inert: ") for line in said if line.startswith("inert: ")]
    if not said or inert:
        reason = inert[0] if inert else "the library was not loaded, or its messages were lost"
        raise CozError(messages.not_movable(name, program, printable(reason)))


class _Reporting(NamedTuple):
    """The same layouts, with a report."""

    layouts: MemoryLayouts
    path: str

    def arrange(self, environment: dict[str, str], layout: Layout) -> None:
        self.layouts.arrange(environment, layout)
        environment[REPORT] = self.path
