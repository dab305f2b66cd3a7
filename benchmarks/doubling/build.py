"""Fetches a program's source from Debian and builds it with our wrappers, without a change of the source."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from doubling.program import BUILD, ROOT, Program

sys.path.insert(0, str(ROOT / "examples" / "case_studies"))
from debian_source import fetch
from study import call

HERE = Path(__file__).resolve().parent
#: What every build needs besides the program's own packages.
PACKAGES = ("gcc", "g++", "make", "dpkg-dev", "ca-certificates")


def prepare(program: Program) -> None:
    """Fetch and build, if that has not been done."""
    folder = BUILD / program.name
    if (folder / "built").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "build.log"
    install: list[str | Path] = [
        ROOT / "scripts/install_dependencies.sh",
        "--only",
        *PACKAGES,
        *program.packages,
    ]
    call(install, log)
    source = folder / "source"
    if not source.exists():
        fresh = folder / "source.new"
        shutil.rmtree(fresh, ignore_errors=True)
        for origin in program.origins:
            into = fresh / origin.folder
            into.mkdir(parents=True)
            fetch(origin.package, origin.checksums, into)
        fresh.rename(source)
    print(f"building {program.name}", flush=True)
    program.build(Builder(program, source, folder, log))
    (folder / "built").touch()


class Builder:
    """Compiles and links with our wrappers.

    `source` is where the program's source lies, `output` where the program goes.
    """

    def __init__(self, program: Program, source: Path, output: Path, log: Path) -> None:
        self.program = program
        self.source = source
        self.output = output
        self.log = log

    def run(self, *command: str | Path, cwd: Path | None = None) -> None:
        """Run a step; SystemExit if it fails."""
        call(command, self.log, cwd)

    @property
    def wrapping(self) -> list[str]:
        """Options of the linker: the functions that our wrappers stand for."""
        return [f"-Wl,--wrap={symbol}" for symbol in self.program.wrapped]

    def wrappers(self, flags: Sequence[str]) -> list[Path]:
        """Objects of the program's wrappers and of what all share."""
        wrapper = next((HERE / "wrappers").glob(f"{self.program.name}.c*"))
        objects = []
        for file in (wrapper, HERE / "twice.c"):
            compiler = "g++" if file.suffix == ".cc" else "gcc"
            objects.append(self.output / f"{file.stem}.wrap.o")
            options = ["-O2", "-g", "-Wall", f"-I{ROOT / 'include'}", *flags]
            self.run(compiler, *options, "-c", file, "-o", objects[-1])
        return objects

    def compile(
        self, files: Sequence[Path], flags: Sequence[str], libraries: Sequence[str], name: str
    ) -> None:
        """A program of these sources, called `name`."""
        objects = {file: self.output / "objects" / f"{number}.o" for number, file in enumerate(files)}
        (self.output / "objects").mkdir(exist_ok=True)
        linked = " ".join(map(str, [*objects.values(), *self.wrappers(flags)]))
        last = " ".join([*self.wrapping, *libraries, "-lpthread", "-ldl"])
        compiler = "gcc" if all(file.suffix == ".c" for file in files) else "g++"
        rules = [f"{self.output / name}: {linked}\n\t{compiler} -o $@ {linked} {last}"]
        for file, target in objects.items():
            one = "gcc" if file.suffix == ".c" else "g++"
            rules.append(f"{target}: {file}\n\t{one} -O2 -g -w {' '.join(flags)} -c $< -o $@")
        makefile = self.output / "Makefile"
        makefile.write_text("\n".join(rules) + "\n")
        self.run("make", "-f", makefile, f"-j{os.cpu_count()}")
