"""pbzip2: two threads compress blocks of one file, a third writes them in order."""

import re
from pathlib import Path

from debian_source import fetch as fetch_debian
from study import BUILD, Change, Run, Study, call

#: Bytes a second that two threads compress, about: decides how large an input is made.
RATE = 20_000_000


def fetch(folder: Path) -> None:
    """pbzip2, and the library that does its work, below it; and text to compress."""
    sums = {"pbzip2_1.1.13.orig.tar.gz": "bca3d7b50e4e5f963c82cb9626bb72e4062d83bc2b8b028eee22efdcda972b9b"}
    fetch_debian("pbzip2", sums, folder)
    (folder / "bzip2").mkdir()
    sums = {"bzip2_1.0.8.orig.tar.gz": "ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269"}
    fetch_debian("bzip2", sums, folder / "bzip2")


def build(source: Path, output: Path) -> None:
    """pbzip2 with the library linked in, so that its lines are in scope."""
    log = output.with_name("build.log")
    library = [source / "bzip2" / f"{name}.c" for name in _LIBRARY]
    for file in library:
        call(["gcc", "-O2", "-g", "-c", file, "-o", file.with_suffix(".o")], log)
    program = sorted(source.glob("*.cpp"))
    options = ["-O2", "-g", "-w", "-D_LARGEFILE64_SOURCE", "-D_FILE_OFFSET_BITS=64", f"-I{source}/bzip2"]
    objects = [file.with_suffix(".o") for file in library]
    call(["g++", *options, "-o", output / "pbzip2", *program, *objects, "-lpthread"], log)


_LIBRARY = ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib")


def workload(output: Path, scratch: Path, seconds: float) -> list[str]:
    """Compress sources, repeated for as long as asked for: each block is compressed for itself."""
    text = b"".join(path.read_bytes() for path in sorted((BUILD.parent / "libcoz").rglob("*.*")))
    text += b"".join(path.read_bytes() for path in sorted((output / "source").rglob("*.[ch]*")))
    data = scratch / "input"
    with data.open("wb") as out:
        for _ in range(max(1, round(seconds * RATE / len(text)))):
            out.write(text)
    return [str(output / "pbzip2"), "-p2", "-k", "-f", "-v", str(data)]


def parse(output: str) -> Run:
    """`Input Size: N bytes` and `Wall Clock: S seconds`."""
    size = re.search(r"Input Size: (\d+) bytes", output)
    seconds = re.search(r"Wall Clock: ([\d.]+) seconds", output)
    assert size, output
    assert seconds, output
    return Run(int(size[1]) / 1e6, float(seconds[1]))


STUDY = Study(
    name="pbzip2",
    title="pbzip2 1.1.13",
    unit="MB",
    fetch=fetch,
    build=build,
    workload=workload,
    parse=parse,
    repeated=20,
    scratch_bytes=lambda seconds: 1.5 * RATE * seconds,
    coz_options=("--progress", "pbzip2.cpp:1734"),
    changes=(
        Change(
            name="two_rounds",
            patch="two_rounds.diff",
            what="two rounds of choosing Huffman tables instead of four (1 line)",
            target="sendMTFValues",
            others=("BZ2_hbMakeCodeLengths",),
            # The compiler puts sendMTFValues into the former.
            symbols=("BZ2_compressBlock", "sendMTFValues", "BZ2_hbMakeCodeLengths"),
        ),
    ),
)
