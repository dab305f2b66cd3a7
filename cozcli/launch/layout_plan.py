"""Plans by which the functions of a program are moved when it starts, made by the native helper."""

from __future__ import annotations

import os
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
PLAN, SEED, REPORT = "COZ_LAYOUT_PLAN", "COZ_LAYOUT_SEED", "COZ_LAYOUT_REPORT"
INTERVAL = "COZ_LAYOUT_INTERVAL"
#: In place of a seed: copies that lie as the linker left the originals.
ORIGINAL = "original"
#: The status with which the library ends a program that it could not move.
STATUS_GAVE_UP = 125
_REFUSED = 7


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
    one, mostly a function each.
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

    @property
    def movable(self) -> float:
        """Share of the bytes of code; fill between functions doesn't count."""
        return self.movable_bytes / self.text_bytes if self.text_bytes else 0.0

    def variables(self, seed: int | str, report: str = "") -> dict[str, str]:
        """What the library needs. report: a file that gets a line when functions have been moved."""
        switched = {INTERVAL: str(self.interval)} if self.interval else {}
        return {PLAN: self.path, SEED: str(seed), **({REPORT: report} if report else {}), **switched}


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
