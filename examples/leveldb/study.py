"""LevelDB: db_bench loads sorted keys. One thread writes, another turns full tables into files."""

import os
import re
from pathlib import Path

from debian_source import fetch as fetch_debian
from study import Change, Run, Study, call

#: Operations of one `fillseq`, and about how many are done in a second.
OPERATIONS, RATE = 500_000, 400_000
VALUE_SIZE = 1000


def build(source: Path, output: Path) -> None:
    """Without CMake: it would want two further libraries' sources for tests that are not built here.

    With snappy and without crc32c, as Debian builds it.
    """
    log = output.with_name("build.log")
    config = (source / "port/port_config.h.in").read_text()
    for name, value in {"FDATASYNC": 1, "FULLFSYNC": 0, "O_CLOEXEC": 1, "CRC32C": 0, "SNAPPY": 1}.items():
        config = config.replace(f"#cmakedefine01 HAVE_{name}", f"#define HAVE_{name} {value}")
    (source / "port/port_config.h").write_text(config)
    files = [path for folder in ("db", "table", "util") for path in sorted((source / folder).glob("*.cc"))]
    skipped = re.compile(r"_test|leveldbutil|env_windows|testutil")
    files = [path for path in files if not skipped.search(path.name)]
    files += [
        source / name for name in ("helpers/memenv/memenv.cc", "util/testutil.cc", "benchmarks/db_bench.cc")
    ]
    rules = [
        f"CXXFLAGS = -std=c++17 -O2 -g -DNDEBUG -fno-exceptions -fno-rtti -DLEVELDB_PLATFORM_POSIX=1 "
        f"-DLEVELDB_COMPILE_LIBRARY -I{source} -I{source}/include",
        f"OBJECTS = {' '.join(str(path.with_suffix('.o')) for path in files)}",
        f"{output}/db_bench: $(OBJECTS)\n\tg++ -o $@ $(OBJECTS) -lsnappy -lpthread",
        "%.o: %.cc\n\tg++ $(CXXFLAGS) -c $< -o $@",
    ]
    makefile = output / "Makefile"
    makefile.write_text("\n".join(rules) + "\n")
    call(["make", "-f", makefile, f"-j{os.cpu_count()}"], log)


def workload(output: Path, scratch: Path, seconds: float) -> list[str]:
    """`fillseq` over and over, each into an empty database."""
    times = max(1, round(seconds * RATE / OPERATIONS))
    return [
        str(output / "db_bench"),
        f"--benchmarks={','.join(['fillseq'] * times)}",
        f"--num={OPERATIONS}",
        f"--value_size={VALUE_SIZE}",
        f"--db={scratch}/db",
    ]


def parse(output: str) -> Run:
    """`fillseq : M micros/op; …`, once for each time."""
    micros = [float(value) for value in re.findall(r"fillseq\s+:\s+([\d.]+) micros/op", output)]
    assert micros, output
    return Run(OPERATIONS * len(micros), OPERATIONS * sum(micros) * 1e-6)


STUDY = Study(
    name="leveldb",
    title="LevelDB 1.23",
    unit="write",
    fetch=lambda folder: fetch_debian(
        "leveldb",
        {"leveldb_1.23.orig.tar.gz": "9a37f8a6174f09bd622bc723b55881dc541cd50747cbd08831c2a82d620f6d76"},
        folder,
    ),
    build=build,
    workload=workload,
    parse=parse,
    # A full table, 4 MB of writes, is handed over. To count each write would take longer than the write.
    coz_options=("--progress", "leveldb::MemTable::MemTable"),
    changes=(
        Change(
            name="crc32c",
            patch="crc32c.diff",
            what="checksums by the processor's instruction (+14 −10 lines)",
            target="leveldb::crc32c::Extend",
            symbols=("leveldb::crc32c::Extend", "leveldb::port::AcceleratedCRC32C"),
        ),
        Change(
            name="buffered_log",
            patch="buffered_log.diff",
            what="the log is written by 64 KB, not by the record (−3 lines)",
        ),
        Change(
            name="no_compression",
            patch="no_compression.diff",
            what="first in perf's list: compression left out altogether (1 line)",
            target="leveldb::port::Snappy_Compress",
            symbols=("snappy::internal::CompressFragment",),
        ),
    ),
    repeated=20,
    packages=("libsnappy-dev", "libgmock-dev"),
    scratch_bytes=lambda _seconds: 2.0 * OPERATIONS * VALUE_SIZE,
)
