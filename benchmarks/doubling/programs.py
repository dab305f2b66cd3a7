"""The real programs: how each is built, what it works on, and the cases."""

from __future__ import annotations

import re
from pathlib import Path

from doubling.build import Builder
from doubling.program import ROOT, Case, Origin, Program, Work

#: Bytes of the text that programs pack.
TEXT_BYTES = 20_000_000


def text(folder: Path) -> None:
    """Text to pack: sources, repeated at a distance that none of the programs sees over."""
    kinds = {".c", ".h", ".cc", ".cpp", ".py", ".md"}
    roots = [folder / "source", *(ROOT / name for name in ("libcoz", "cozcli", "docs", "linetable"))]
    files = [path for root in roots for path in sorted(root.rglob("*")) if path.suffix in kinds]
    data = b"".join(path.read_bytes() for path in files if path.is_file())
    (folder / "text").write_bytes((data * (TEXT_BYTES // len(data) + 1))[:TEXT_BYTES])


def build_pbzip2(builder: Builder) -> None:
    """With the library linked in, whose sorting is wrapped."""
    names = ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib")
    files = [builder.source / "bzip2" / f"{name}.c" for name in names]
    files += sorted(builder.source.glob("*.cpp"))
    options = ["-D_LARGEFILE64_SOURCE", "-D_FILE_OFFSET_BITS=64", f"-I{builder.source}/bzip2"]
    builder.compile(files, options, [], "pbzip2")
    text(builder.output)


PBZIP2 = Program(
    name="pbzip2",
    title="pbzip2 1.1.13",
    origins=(
        Origin(
            "pbzip2",
            {"pbzip2_1.1.13.orig.tar.gz": "bca3d7b50e4e5f963c82cb9626bb72e4062d83bc2b8b028eee22efdcda972b9b"},
        ),
        Origin(
            "bzip2",
            {"bzip2_1.0.8.orig.tar.gz": "ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269"},
            "bzip2",
        ),
    ),
    build=build_pbzip2,
    # Blocks of 100 kB, so that there are many units.
    workload=lambda work: [
        str(work.folder / "pbzip2"),
        f"-p{work.threads}",
        "-1",
        "-b1",
        "-c",
        "-k",
        work.input(28e6),
    ],
    wrapped=("BZ2_blockSort",),
    cases=(
        Case("sort", 2, "2 of a pool, reader, writer"),
        Case("sort", 8, "8 of a pool, reader, writer"),
        Case("sort", 4, "4 of a pool, reader, writer", quota=1.0),
    ),
)


def build_lbzip2(builder: Builder) -> None:
    """By its own Makefile. Its gnulib is older than libc, of which it wants to know the flags of streams."""
    linked = " ".join([*builder.wrapping, *map(str, builder.wrappers([]))])
    flags = "-O2 -g -w -D_IO_ftrylockfile -D_IO_ERR_SEEN=0x20 -D_IO_IN_BACKUP=0x100"
    builder.run(builder.source / "configure", f"CFLAGS={flags}", cwd=builder.source)
    builder.run("make", f"LIBS={linked} -ldl", cwd=builder.source)
    builder.run("cp", builder.source / "src/lbzip2", builder.output)
    text(builder.output)


LBZIP2 = Program(
    name="lbzip2",
    title="lbzip2 2.5",
    origins=(
        Origin(
            "lbzip2",
            {"lbzip2_2.5.orig.tar.bz2": "eec4ff08376090494fa3710649b73e5412c3687b4b9b758c93f73aa7be27555b"},
        ),
    ),
    build=build_lbzip2,
    workload=lambda work: [
        str(work.folder / "lbzip2"),
        f"-n{work.threads}",
        "-1",
        "-c",
        "-k",
        work.input(28e6),
    ],
    wrapped=("divbwt", "_exit"),
    cases=(
        Case("sort", 2, "2 that take any task, reader, writer"),
        Case("sort", 4, "4 that take any task, reader, writer"),
    ),
)


def build_bgzip(builder: Builder) -> None:
    """The few files of htslib that packing needs."""
    settings = {
        "config.h": ("HAVE_LIBDEFLATE 1", "HAVE_DRAND48 1", "HAVE_EXTERNAL_LIBHTSCODECS 1"),
        "version.h": ('HTS_VERSION_TEXT "1.16"',),
        "config_vars.h": tuple(f'HTS_{name} ""' for name in ("CC", "CPPFLAGS", "CFLAGS", "LDFLAGS", "LIBS")),
    }
    for name, lines in settings.items():
        (builder.output / name).write_text("".join(f"#define {line}\n" for line in lines))
    names = (
        "bgzip",
        "bgzf",
        "hfile",
        "hts",
        "kstring",
        "thread_pool",
        "hts_os",
        "textutils",
        "cram/pooled_alloc",
    )
    files = [builder.source / f"{name}.c" for name in names]
    options = ["-ffunction-sections", "-fdata-sections", f"-I{builder.output}", f"-I{builder.source}"]
    libraries = [
        "-no-pie",
        "-Wl,--gc-sections",
        "-Wl,--unresolved-symbols=ignore-all",
        "-ldeflate",
        "-lz",
        "-lm",
    ]
    builder.compile(files, options, libraries, "bgzip")
    text(builder.output)


BGZIP = Program(
    name="bgzip",
    title="bgzip 1.16",
    origins=(
        Origin(
            "htslib",
            {
                "htslib_1.16+ds.orig.tar.bz2": (
                    "2d10941e47cf0c05d1496e73e2beaef39e7584eb326367476b12cad04e7794be"
                )
            },
        ),
    ),
    packages=("libdeflate-dev", "libhtscodecs-dev", "zlib1g-dev"),
    build=build_bgzip,
    workload=lambda work: [
        str(work.folder / "bgzip"),
        f"-@{work.threads}",
        "-c",
        work.input(120e6),
    ],
    wrapped=("libdeflate_deflate_compress",),
    cases=(
        Case("deflate", 2, "2 of a pool, reader, writer"),
        Case("deflate", 8, "8 of a pool, reader, writer"),
    ),
)


def build_mksquashfs(builder: Builder) -> None:
    """For zstd alone; it packs 128 KB at a time."""
    source = builder.source / "squashfs-tools"
    names = re.findall(r"^MKSQUASHFS_OBJS = ((?:.*\\\n)*.*)", (source / "Makefile").read_text(), re.M)
    files = [source / word.replace(".o", ".c") for word in names[0].replace("\\", " ").split()]
    options = ["-D_FILE_OFFSET_BITS=64", "-D_LARGEFILE_SOURCE", "-D_GNU_SOURCE", "-DZSTD_SUPPORT"]
    options += [
        "-DCOMP_DEFAULT='\"zstd\"'",
        "-DVERSION='\"4.5.1\"'",
        "-DDATE='\"\"'",
        "-DREPRODUCIBLE_DEFAULT",
    ]
    builder.compile([*files, source / "zstd_wrapper.c"], options, ["-lzstd", "-lm"], "mksquashfs")
    text(builder.output)


MKSQUASHFS = Program(
    name="mksquashfs",
    title="mksquashfs 4.5.1",
    origins=(
        Origin(
            "squashfs-tools",
            {
                "squashfs-tools_4.5.1.orig.tar.gz": (
                    "277b6e7f75a4a57f72191295ae62766a10d627a4f5e5f19eadfbc861378deea7"
                )
            },
        ),
    ),
    packages=("libzstd-dev",),
    build=build_mksquashfs,
    workload=lambda work: [
        str(work.folder / "mksquashfs"),
        work.input(60e6),
        str(work.scratch / "image"),
        *("-noappend", "-no-progress", "-quiet", "-no-duplicates"),
        *("-mkfs-time", "0", "-all-time", "0", "-Xcompression-level", "9"),
        *("-processors", str(work.threads)),
    ],
    wrapped=("ZSTD_compressCCtx",),
    cases=(
        Case("compress", 2, "2 + 2 of pools, reader, main, writer"),
        Case("compress", 8, "8 + 8 of pools, reader, main, writer"),
    ),
    written="image",
)


def build_zstd(builder: Builder) -> None:
    """With threads, for its own format, without assembler; and an archive of a part of the text."""
    folders = ("lib/common", "lib/compress", "lib/decompress", "lib/dictBuilder", "programs")
    files = [path for folder in folders for path in sorted((builder.source / folder).glob("*.c"))]
    options = ["-DZSTD_MULTITHREAD", "-DBACKTRACE_ENABLE=0", "-DZSTD_LEGACY_SUPPORT=0", "-DZSTD_DISABLE_ASM"]
    options += [f"-I{builder.source}/lib", f"-I{builder.source}/lib/common"]
    builder.compile(files, options, [], "zstd")
    text(builder.output)
    program, packed = builder.output / "zstd", builder.output / "archive.zst"
    builder.run(program, "-q", "-f", "-3", builder.output / "text", "-o", packed)


def unzstd(work: Work) -> list[str]:
    """The archive over and over: each time over what was there."""
    archive = work.scratch / "archive.zst"
    if not archive.exists():
        archive.write_bytes((work.folder / "archive.zst").read_bytes())
    return [str(work.folder / "zstd"), "-d", "-q", "-f", *[str(archive)] * work.times(40)]


ZSTD = Program(
    name="zstd",
    title="zstd 1.5.4",
    origins=(
        Origin(
            "libzstd",
            {
                "libzstd_1.5.4+dfsg2.orig.tar.xz": (
                    "8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953"
                )
            },
        ),
    ),
    build=build_zstd,
    workload=unzstd,
    wrapped=("HUF_decompress4X_hufOnly_wksp", "ZSTD_XXH64_update"),
    cases=(
        Case("literals", 3, "a pipeline: read, decode, write", runs=6),
        Case("checksum", 3, "a pipeline: read, decode, write", runs=6),
    ),
    written="archive",
)


def build_leveldb(builder: Builder) -> None:
    """Without CMake, as the case study does; and a database of one level."""
    source = builder.source
    config = (source / "port/port_config.h.in").read_text()
    for name, value in {"FDATASYNC": 1, "FULLFSYNC": 0, "O_CLOEXEC": 1, "CRC32C": 0, "SNAPPY": 1}.items():
        config = config.replace(f"#cmakedefine01 HAVE_{name}", f"#define HAVE_{name} {value}")
    (source / "port/port_config.h").write_text(config)
    files = [path for folder in ("db", "table", "util") for path in sorted((source / folder).glob("*.cc"))]
    skipped = re.compile(r"_test|leveldbutil|env_windows|testutil")
    files = [path for path in files if not skipped.search(path.name)]
    more = ("helpers/memenv/memenv.cc", "util/testutil.cc", "benchmarks/db_bench.cc")
    files += [source / name for name in more]
    options = ["-std=c++17", "-DNDEBUG", "-fno-exceptions", "-fno-rtti", "-DLEVELDB_PLATFORM_POSIX=1"]
    options += ["-DLEVELDB_COMPILE_LIBRARY", f"-I{source}", f"-I{source}/include"]
    builder.compile(files, options, ["-lsnappy"], "db_bench")
    fill = ["--benchmarks=fillrandom,compact", "--num=500000", f"--db={builder.output}/db"]
    builder.run(builder.output / "db_bench", *fill)


LEVELDB = Program(
    name="leveldb",
    title="LevelDB 1.23",
    origins=(
        Origin(
            "leveldb",
            {"leveldb_1.23.orig.tar.gz": "9a37f8a6174f09bd622bc723b55881dc541cd50747cbd08831c2a82d620f6d76"},
        ),
    ),
    packages=("libsnappy-dev", "libgmock-dev"),
    build=build_leveldb,
    # Almost without a cache of blocks, so that each reading unpacks one.
    workload=lambda work: [
        str(work.folder / "db_bench"),
        *("--benchmarks=readrandom", "--use_existing_db=1", "--num=500000", "--cache_size=100000"),
        f"--threads={work.threads}",
        f"--reads={work.times(220_000 / work.threads)}",
        f"--db={work.folder}/db",
    ],
    wrapped=(
        "_ZN7leveldb9ReadBlockEPNS_16RandomAccessFileERKNS_11ReadOptionsERKNS_11BlockHandleEPNS_13BlockContentsE",
    ),
    cases=(
        Case("read", 2, "2 that read one database"),
        Case("read", 8, "8 that read one database"),
    ),
    written=None,
    # A run begins by mapping all pages of the database.
    times_longer=6,
)

PROGRAMS = (PBZIP2, LBZIP2, BGZIP, MKSQUASHFS, ZSTD, LEVELDB)
