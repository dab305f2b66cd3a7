"""What a doubling consists of: a real program, its regions, and the cases that are measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doubling.build import Builder

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "doubling"


@dataclass(frozen=True)
class Origin:
    """One of Debian's source packages. `folder`: where it is unpacked, below the program's source."""

    package: str
    checksums: Mapping[str, str]
    folder: str = "."


@dataclass(frozen=True)
class Case:
    """A region that runs twice, or as often as `runs` says, in a program of so many threads.

    `threads`: as the workload takes it; `all_threads`: what they are, for the table. `quota`: processors that
    a control group allows; None: all of the machine's.
    """

    region: str
    threads: int
    all_threads: str
    quota: float | None = None
    runs: int = 2

    @property
    def name(self) -> str:
        """REGION/THREADS, with /QUOTA where there is one."""
        return f"{self.region}/{self.threads}" + ("" if self.quota is None else f"/{self.quota:g}")


@dataclass(frozen=True)
class Work:
    """What a command works on: the program's folder, a scratch folder, threads, and seconds (about)."""

    folder: Path
    scratch: Path
    threads: int
    seconds: float

    def times(self, a_second: float) -> int:
        """How often something is done of which `a_second` are done in one."""
        return max(1, round(self.seconds * a_second))

    def input(self, rate: float) -> str:
        """A file with as much text as is worked through at `rate` bytes a second."""
        path = self.scratch / f"input-{self.times(rate)}"
        if not path.exists():
            text = (self.folder / "text").read_bytes()
            with path.open("wb") as out:
                for at in range(0, self.times(rate), len(text)):
                    out.write(text[: self.times(rate) - at])
        return str(path)


@dataclass(frozen=True)
class Program:
    """A real program.

    `build` makes it and what it works on. `wrapped`: the symbols that `wrappers/NAME.c` stands for.
    `coz_options`: further options of the profile. `written`: the file in the scratch folder that must be the
    same whether a region runs once or twice; "": what the program prints must be; None: neither is.
    `times_longer`: how many times as long as usual the runs of pairs are, where a run begins differently.
    """

    name: str
    title: str
    origins: tuple[Origin, ...]
    build: Callable[[Builder], None]
    workload: Callable[[Work], Sequence[str]]
    wrapped: tuple[str, ...]
    cases: tuple[Case, ...]
    packages: tuple[str, ...] = ()
    coz_options: tuple[str, ...] = ()
    written: str | None = ""
    times_longer: float = 1
