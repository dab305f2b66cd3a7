"""FastTree, which estimates trees of descent: of many small alignments, by two OpenMP threads."""

import subprocess
import sys
from pathlib import Path

from debian_source import fetch as fetch_debian
from study import Change, Study, call

#: Of an alignment, and how many there are; about so many trees are made in a second.
SEQUENCES, SITES, ALIGNMENTS, RATE = 40, 100, 4000, 8


def build(source: Path, output: Path) -> None:
    """As its author says, with OpenMP. The library of OpenMP is linked in, so that its functions have names.

    The alignments are the same for all variants.
    """
    log = output.with_name("build.log")
    options = ["-w", "-DOPENMP", "-fopenmp", "-O3", "-g", "-finline-functions", "-funroll-loops"]
    call(["gcc", *options, "-c", source / "fasttree.c", "-o", output / "fasttree.o"], log)
    found = subprocess.run(["gcc", "-print-file-name=libgomp.a"], capture_output=True, text=True, check=True)
    libraries = [found.stdout.strip(), "-lpthread", "-ldl", "-lm"]
    call(["gcc", "-o", output / "FastTreeMP", output / "fasttree.o", *libraries], log)
    alignments = output.with_name("alignments.phy")
    if not alignments.exists():
        maker = Path(__file__).with_name("make_alignments.py")
        new = alignments.with_suffix(".new")
        call([sys.executable, maker, str(SEQUENCES), str(SITES), str(ALIGNMENTS), new], log)
        new.rename(alignments)


def workload(output: Path, _scratch: Path, seconds: float) -> list[str]:
    """So many of the alignments. The trees go nowhere."""
    number = min(max(4, round(seconds * RATE)), ALIGNMENTS)
    program = [str(output / "FastTreeMP"), "-nt", "-gtr", "-quiet", "-nopr", "-out", "/dev/null"]
    return [*program, "-n", str(number), str(output.with_name("alignments.phy"))]


def count(command: list[str]) -> int:
    """Trees."""
    return int(command[command.index("-n") + 1])


STUDY = Study(
    name="fasttree",
    title="FastTree 2.1.11",
    unit="tree",
    fetch=lambda folder: fetch_debian(
        "fasttree",
        {"fasttree_2.1.11.orig.tar.xz": "7f15713f02afb167f4f33dc067b5b2282b219b22fbaa17eb8f771a7147a05a5c"},
        folder,
    ),
    build=build,
    workload=workload,
    count=count,
    repeated=20,
    environment={"OMP_NUM_THREADS": "2"},
    coz_options=("--progress", "ReadAlignment", "--granularity", "function"),
    changes=(
        Change(
            name="no_spinning",
            patch="no_spinning.diff",
            what="high in perf's list: idle threads sleep instead of spinning (4 lines)",
            target="gomp_barrier_wait_end",
            others=("gomp_team_barrier_wait_end",),
            symbols=("gomp_team_barrier_wait_end", "gomp_barrier_wait_end"),
        ),
    ),
)
