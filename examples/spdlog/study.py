"""spdlog: threads that log to one file (requests.cpp)."""

import shutil
from pathlib import Path

from study import ROOT, Change, Study, call, printed


def fetch(folder: Path) -> None:
    """Our program, for the patch; spdlog's headers are Debian's package."""
    shutil.copy(ROOT / "examples/spdlog/requests.cpp", folder)


def build(source: Path, output: Path) -> None:
    """All of spdlog is compiled into the program, so that its lines are known."""
    definitions = ["-DSPDLOG_HEADER_ONLY", "-DSPDLOG_FMT_EXTERNAL", "-DFMT_HEADER_ONLY"]
    options = ["-std=c++20", "-O2", "-g", *definitions, f"-I{ROOT / 'include'}"]
    program = output / "requests"
    call(
        ["g++", *options, "-o", program, source / "requests.cpp", "-lpthread"], output.with_name("build.log")
    )


STUDY = Study(
    name="spdlog",
    title="spdlog 1.10",
    unit="request",
    fetch=fetch,
    build=build,
    workload=lambda output, scratch, seconds: [
        str(output / "requests"),
        str(scratch / "log"),
        str(seconds),
        "2",
    ],
    parse=printed,
    packages=("libspdlog-dev",),
    coz_options=("--source-scope", "%/spdlog/%", "--source-scope", "%/requests.cpp"),
    changes=(
        Change(
            name="own_file",
            patch="own_file.diff",
            what="each thread logs to a file of its own (+4 −2 lines)",
            target="base_sink-inl.h:28",
            lock=True,
        ),
    ),
    # Some 90 bytes for each of a million requests a second.
    scratch_bytes=lambda seconds: 1e8 * seconds,
)
