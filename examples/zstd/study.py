"""zstd unpacks: one thread reads, one decodes, one writes."""

from pathlib import Path

from debian_source import fetch as fetch_debian
from study import BEFORE, Change, Study, call

#: What an archive is made of: zstd's own text, so many times, at a distance that zstd does not see over.
COPIES = 8
#: Archives unpacked in a second, about.
RATE = 14
ARCHIVE = "archive.zst"
SHA256 = "8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953"


def build(source: Path, output: Path) -> None:
    """With threads, and for its own format alone. The unchanged zstd makes the archive for all variants."""
    log = output.with_name("build.log")
    folders = ("lib/common", "lib/compress", "lib/decompress", "lib/dictBuilder", "programs")
    files = [path for folder in folders for path in sorted((source / folder).glob("*.[cS]"))]
    settings = ["-DZSTD_MULTITHREAD", "-DBACKTRACE_ENABLE=0", "-DZSTD_LEGACY_SUPPORT=0"]
    includes = [f"-I{source}/lib", f"-I{source}/lib/common"]
    program = output / "zstd"
    call(["gcc", "-O2", "-g", *settings, *includes, "-o", program, *files, "-lpthread"], log)
    if output.name != BEFORE:
        return
    kinds = {".c", ".h", ".cpp", ".hpp", ".md", ".html", ".py"}
    texts = [path for path in sorted(source.rglob("*")) if path.suffix in kinds and path.is_file()]
    text = b"".join(path.read_bytes() for path in texts)
    unpacked = output / "text"
    unpacked.write_bytes(text * COPIES)
    call([program, "-q", "-f", "-3", unpacked, "-o", output.with_name(ARCHIVE)], log)
    unpacked.unlink()


def workload(output: Path, scratch: Path, seconds: float) -> list[str]:
    """Unpack an archive, over and over: each time over what was there."""
    archive = scratch / ARCHIVE
    archive.write_bytes(output.with_name(ARCHIVE).read_bytes())
    return [str(output / "zstd"), "-d", "-q", "-f", *[str(archive)] * max(1, round(seconds * RATE))]


def count(command: list[str]) -> int:
    """Archives."""
    return command.count(command[-1])


STUDY = Study(
    name="zstd",
    title="zstd 1.5.4",
    unit="archive",
    fetch=lambda folder: fetch_debian(
        "libzstd",
        {"libzstd_1.5.4+dfsg2.orig.tar.xz": SHA256},
        folder,
    ),
    build=build,
    workload=workload,
    count=count,
    repeated=20,
    scratch_bytes=lambda _seconds: 100e6,
    # A block is handed to the thread that writes. Functions: decoding is spread over a hundred lines.
    coz_options=("--progress", "AIO_WritePool_enqueueAndReacquireWriteJob", "--granularity", "function"),
    changes=(
        Change(
            name="no_check",
            patch="no_check.diff",
            what="the checksum is not looked at, as by `--no-check` (1 line)",
            target="ZSTD_XXH64_update",
            others=("XXH64_round",),
            removed=True,
        ),
        Change(
            name="no_write",
            patch="no_write.diff",
            what="nothing is written (1 line)",
            target="AIO_fwriteSparse",
            removed=True,
        ),
    ),
)
