"""Plans by which the functions of a program are moved when it starts, made by the native helper."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cozcli.errors import CozError, reason_of
from cozcli.launch import messages
from cozcli.launch.elf import read_elf, read_shebang
from cozcli.launch.helper import Helper, failure
from cozcli.launch.runtime_library import find_installation, preload

LIBRARY = "libcoz-layout.so"
#: What the library reads.
PLAN, SEED, FILE = "COZ_LAYOUT_PLAN", "COZ_LAYOUT_SEED", "COZ_LAYOUT_FILE"
INTERVAL, REPORT = "COZ_LAYOUT_INTERVAL", "COZ_LAYOUT_REPORT"
#: In place of a seed: copies that lie as the linker left the originals.
ORIGINAL = "original"
#: The status with which the library ends a program that it could not move.
STATUS_GAVE_UP = 125
_REFUSED = 7
_LINE = re.compile(
    r"^process ([0-9]+) (?:other|moved .* in ([0-9]+) ns, processor ([0-9]+) ns)$", re.MULTILINE
)


class Pinned(NamedTuple):
    """Code that stays. function: empty if it has no name; address: in the file's own address space."""

    function: str
    address: int
    bytes: int
    reason: str


class Unit(NamedTuple):
    """What moves as one. address: in the file's own address space. functions: names, none if stripped."""

    number: int
    address: int
    bytes: int
    functions: Sequence[str]


class LayoutPlan(NamedTuple):
    """pinned: the largest first; pinned_count: of all, should some not be listed. kept_entries: functions
    that are moved, but whose pointers lead to the original, as there is no room for a jump. interval: ms
    after which calls lead to another layout, again and again; 0: they never do. units: pieces that move as
    one, mostly a function each. file: the binary's device and inode.
    """

    binary: str
    path: str
    library: Path
    text_bytes: int
    movable_bytes: int
    functions: int
    kept_entries: int
    pinned_count: int
    pinned: Sequence[Pinned]
    interval: int = 0
    units: int = 0
    file: str = ""

    @property
    def movable(self) -> float:
        """Share of the bytes of code; fill between functions doesn't count."""
        return self.movable_bytes / self.text_bytes if self.text_bytes else 0.0

    def variables(self, seed: int | str, report: str = "") -> dict[str, str]:
        """What the library needs. report: a file for `LayoutReport`."""
        switched = {INTERVAL: str(self.interval)} if self.interval else {}
        told = {REPORT: report} if report else {}
        return {PLAN: self.path, SEED: str(seed), FILE: self.file, **told, **switched}


class LayoutReport(NamedTuple):
    """What the library did in a run.

    moved: in how many processes. others: in how many it found another program. replaced: does a process go on
    as another program, whose functions stay? seconds, processor_seconds: that moving took, in the first
    process and in all.
    """

    moved: int = 0
    others: int = 0
    replaced: bool = False
    seconds: float = 0.0
    processor_seconds: float = 0.0

    @classmethod
    def read(cls, text: str) -> LayoutReport:
        """text: of the file that the library told."""
        lines = [(process, took, ran) for process, took, ran in _LINE.findall(text)]
        moved = [line for line in lines if line[1]]
        others = {process for process, took, _ in lines if not took}
        return cls(
            len(moved),
            len(others),
            not others.isdisjoint(process for process, _, _ in moved),
            int(moved[0][1]) * 1e-9 if moved else 0.0,
            sum(int(ran) for _, _, ran in moved) * 1e-9,
        )


def plan_layout(program: Path, interval: int = 0) -> LayoutPlan:
    """The plan for an executable, from the cache or new. interval: of the plan.

    Raises:
        CozError: its functions cannot be moved, and why; or the helper failed.
    """
    installation = find_installation()
    library = installation.library.with_name(LIBRARY)
    if not library.is_file():
        raise CozError(messages.layout.no_library(str(library)))
    _check_kind(program)
    status, answer = Helper(installation.helper).ask(["layout", str(program)])
    if status == _REFUSED:
        raise CozError(messages.layout.refused(answer["message"], answer.get("remedy", "")))
    if status != 0:
        raise CozError(failure(str(program), status, answer))
    status_of_file = os.stat(program)
    return LayoutPlan(
        answer["binary"],
        answer["plan"],
        library,
        answer["text_bytes"],
        answer["movable_bytes"],
        answer["functions"],
        answer["kept_entries"],
        answer["pinned_count"],
        [Pinned(p["function"], p["address"], p["bytes"], p["reason"]) for p in answer["pinned"]],
        interval,
        answer["units"],
        f"{status_of_file.st_dev} {status_of_file.st_ino}",
    )


def describe_units(plan: LayoutPlan, numbers: Sequence[int]) -> list[Unit]:
    """Their functions, in the order of numbers.

    Raises:
        CozError: the helper failed.
    """
    options = [word for number in sorted(numbers) for word in ("--unit", str(number))]
    status, answer = Helper(find_installation().helper).ask(["layout", *options, plan.binary])
    if status != 0:
        raise CozError(failure(plan.binary, status, answer))
    return [Unit(each["unit"], each["address"], each["bytes"], each["functions"]) for each in answer["units"]]


def _check_kind(program: Path) -> None:
    """What the helper cannot tell: scripts, and programs of another C library."""
    try:
        elf, script = read_elf(program), read_shebang(program)
    except OSError as error:
        raise CozError(messages.layout.unreadable(str(program), reason_of(error))) from error
    if script is not None:
        raise CozError(messages.layout.is_script(str(program), script))
    if elf is not None and "musl" in os.path.basename(elf.interpreter):
        raise CozError(messages.layout.is_musl(str(program)))


def preloaded(
    plan: LayoutPlan, seed: int | str, environment: Mapping[str, str], report: str = ""
) -> dict[str, str]:
    """The environment of a run of the plan's program."""
    made = {**environment, **plan.variables(seed, report)}
    preload(made, plan.library)
    return made
