"""What the fuzz targets begin with: small programs of every kind the helper reads, line and unwind tables."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "linetable" / "programs"
HELPER = ROOT / "build" / "libexec" / "coz-linetable"

#: Programs without anything of libc's are a few kilobytes, nearly all of it debug information.
_SMALL = ("-nostdlib", "-shared", "-fPIC", "-Wl,-z,noseparate-code", "-Wl,--build-id")
#: Name, source, flags.
_KINDS = (
    ("dwarf5", "functions.c", ("-g", "-O2")),
    ("dwarf4", "functions.c", ("-gdwarf-4", "-O2")),
    ("dwarf3", "functions.c", ("-gdwarf-3", "-O1")),
    ("inlined", "passes.cc", ("-g", "-O2")),
    ("templates", "templates.cc", ("-g", "-O1")),
    ("compressed", "functions.c", ("-g", "-O2", "-gz=zlib")),
    ("symbols", "functions.c", ("-O2",)),
    ("stripped", "functions.c", ("-O2", "-s")),
    ("assembler", "assembler.s", ("-g",)),
    ("whole", "main.c second.c", ("-g", "-O2")),
)


def make_seeds(folder: Path) -> dict[str, Path]:
    """Below `folder`, a folder for each target. What this compiler cannot make is left out; one kind it must.

    Raises:
        RuntimeError: nothing could be made.
    """
    made = {name: folder / name for name in ("debug_info", "line_table", "unwind_table")}
    for path in made.values():
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
    for name, sources, flags in _KINDS:
        program = made["debug_info"] / name
        small = () if name == "whole" else _SMALL
        compiler = "g++" if sources.endswith("cc") else "gcc"
        paths = [str(PROGRAMS / source) for source in sources.split()]
        subprocess.run(
            [compiler, *flags, *small, "-o", str(program), *paths], capture_output=True, check=False
        )
        if program.exists():
            _add_table(program, made["line_table"] / name, folder / "cache")
            _add_unwind_table(program, made["unwind_table"] / name)
    for name, path in made.items():
        if not any(path.iterdir()):
            raise RuntimeError(f"no seeds could be made for {name}")
    return made


def _add_table(program: Path, path: Path, cache: Path) -> None:
    command = [str(HELPER), "build", "--functions", "--cache-dir", str(cache), str(program)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode == 0:
        table = Path(json.loads(done.stdout)["table"]).read_bytes()
        # The first byte is the target's: 0 leaves the header as it is.
        path.write_bytes(b"\0" + table)
        path.with_name(f"{path.name}-repaired").write_bytes(b"\1" + table)


def _add_unwind_table(program: Path, path: Path) -> None:
    """As it is in memory: the index, and behind it the table."""
    sections = [f"--only-section={name}" for name in (".eh_frame_hdr", ".eh_frame")]
    command = ["objcopy", "-O", "binary", *sections, str(program), str(path)]
    subprocess.run(command, capture_output=True, check=False)
