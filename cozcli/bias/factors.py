"""What can be moved: by the environment's size, by address space randomisation, by libraries that are
preloaded.

Every run is told by a `Place`: one value for each factor that differs from where the program lies by default.
Randomisation is switched off for all runs but those that are about it, so that a place is the same whenever
it is tried. Bits of addresses from the twelfth on are not varied otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cozcli.compare.design import STACK_STEP, Layout
from cozcli.compare.layouts import Arranger
from cozcli.compare.memory_layouts import HEAP, HEAP_SEED, STACK_SEED
from cozcli.compare.personality import randomisation
from cozcli.compare.trial import Side
from cozcli.launch.layout_plan import ORIGINAL, LayoutPlan
from cozcli.launch.runtime_library import preload

#: In the order of reports.
FACTORS = ("environment", "stack", "heap", "code", "aslr")
#: Two pages: what depends on an offset in a page is seen twice.
SIZES = range(0, 8192, STACK_STEP)
#: How blocks of the heap are moved: large ones, by what costs no time.
HEAP_MODE = "offset"
_MODES = {False: HEAP_MODE, True: "shuffle,offset"}
_DIGITS = 10
#: Makes up for the shorter mode.
_FILLING = "coz_heap_filling"
#: So many seeds have as many digits as `ORIGINAL` has characters.
_CODE_SEEDS = 10 ** len(ORIGINAL)


class Place(NamedTuple):
    """environment: bytes added to it. stack, heap, code: seeds; None leaves them where they are. shuffled:
    small blocks of the heap are moved, too, which costs time by itself. randomised: by the kernel, as by
    default. allocator: a library in place of the program's, or empty."""

    environment: int = 0
    stack: int | None = None
    heap: int | None = None
    code: int | None = None
    shuffled: bool = False
    randomised: bool = False
    allocator: str = ""


class HeapLibrary(NamedTuple):
    """Moves stacks and blocks of the heap. Variables are equally long in all runs, or they would move the
    stack: those that a place has no use for get names that nothing reads.
    """

    library: Path

    def arrange(self, environment: dict[str, str], place: Place) -> None:
        """Loaded in every run, so that its own cost is in all of them; before an allocator of the user's."""
        if place.allocator:
            preload(environment, Path(place.allocator), first=True)
        preload(environment, self.library, first=True)
        mode = _MODES[place.shuffled]
        environment[_FILLING] = "x" * (len(_MODES[True]) - len(mode))
        for name, value, is_used in (
            (HEAP, mode, place.heap is not None),
            (HEAP_SEED, f"{place.heap or 0:0{_DIGITS}}", place.heap is not None),
            (STACK_SEED, f"{place.stack or 0:0{_DIGITS}}", place.stack is not None),
        ):
            environment[name if is_used else name.lower()] = value


class CodeLibrary(NamedTuple):
    """Moves functions; where a place does not, their copies lie as the linker left the originals.

    Variables are equally long in all runs, or they would move the stack. unmoved: nothing is copied, so that
    code has its names; all else lies as it does otherwise.
    """

    plan: LayoutPlan
    unmoved: bool = False

    def arrange(self, environment: dict[str, str], place: Place) -> None:
        """Loaded in every run, so that its own cost is in all of them."""
        preload(environment, self.plan.library)
        seed = ORIGINAL if place.code is None else f"{place.code % _CODE_SEEDS:0{len(ORIGINAL)}}"
        for name, value in self.plan.variables(seed).items():
            environment[name.lower() if self.unmoved else name] = value


class _Arranged(NamedTuple):
    """One run's variables, for `cozcli.compare.trial`."""

    libraries: Sequence[HeapLibrary | CodeLibrary]
    place: Place

    def arrange(self, environment: dict[str, str], layout: Layout) -> None:
        for library in self.libraries:
            library.arrange(environment, self.place)


class Movers(NamedTuple):
    """What there is for the program. heap: for stack and heap, None without it. code: for functions, None if
    the program's cannot be moved. moves_blocks: does `heap` move blocks, and not only stacks?"""

    heap: HeapLibrary | None
    can_switch_randomisation: bool
    code: CodeLibrary | None = None
    moves_blocks: bool = True

    def factors(self) -> list[str]:
        """Those that can be varied, in the order of FACTORS."""
        available = {
            "environment": self.can_switch_randomisation,
            "stack": self.can_switch_randomisation and self.heap is not None,
            "heap": self.heap is not None and self.moves_blocks,
            "code": self.code is not None,
            "aslr": self.can_switch_randomisation,
        }
        return [factor for factor in FACTORS if available[factor]]

    def side(self, command: Sequence[str], place: Place) -> Side:
        """The program as it runs at that place, with `layout(place)`."""
        libraries = [each for each in (self.heap, self.code) if each is not None]
        arrangers: Sequence[Arranger] = [_Arranged(libraries, place)]
        return Side("the program", list(command), arrangers=arrangers)


def layout(place: Place) -> Layout:
    """What `cozcli.compare.trial` wants to know."""
    return Layout(place.environment)


def find_movers(library: Path | None) -> Movers:
    """Try what works here. library: of heap and stacks, if it is installed."""
    heap = HeapLibrary(library) if library is not None and library.is_file() else None
    try:
        with randomisation(False):
            pass
    except OSError:
        return Movers(heap, False)
    return Movers(heap, True)
