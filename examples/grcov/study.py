"""grcov, which puts coverage together: tracefiles of many executables, merged into one map."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from study import Change, Study, call

VERSION = "0.10.7"
#: What its dependencies need.
RUST = (1, 88)
TRACEFILES = 100
#: That parse and merge, beside the one that reads: no more busy threads than cores, as predictions ask for
#: and as is grcov's own choice where there are two.
THREADS = max(1, min(2, (os.cpu_count() or 2) - 1))


def fetch(folder: Path) -> None:
    """By cargo, which checks the registry's checksum: `cargo info` leaves the package in cargo's cache."""
    log = folder.with_name("fetch.log")
    found = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(int(part) for part in found.split()[1].split(".")[:2]) < RUST:
        raise SystemExit(
            f"grcov {VERSION} needs Rust {RUST[0]}.{RUST[1]}, and this is {found.strip()}. "
            "Debian 12 has newer ones among its security updates (apt-get install cargo-web), "
            "else: https://rustup.rs"
        )
    call(["cargo", "info", f"grcov@{VERSION}"], log, cwd=folder)
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    packages = sorted((cargo / "registry/cache").glob(f"*/grcov-{VERSION}.crate"))
    if not packages:
        raise SystemExit(f"cargo has not left grcov-{VERSION}.crate in {cargo}/registry/cache; see {log}")
    call(["tar", "-xf", packages[0], "-C", folder, "--strip-components=1"], log)
    call(["cargo", "vendor", "--locked", "vendor"], log, cwd=folder)


def build(source: Path, output: Path) -> None:
    """As released, but with debug information, and without the linker's optimisation, which takes minutes.

    The tracefiles are made of the sources of grcov's dependencies, once for all variants.
    """
    log = output.with_name("build.log")
    settings = ["profile.release.debug=1", "profile.release.lto='off'", "profile.release.strip='none'"]
    options = [word for setting in settings for word in ("--config", setting)]
    target = output.with_name("target")
    arguments = ["--release", "--locked", "--bin", "grcov", "--target-dir", str(target)]
    call(["cargo", "build", *options, *arguments], log, cwd=source)
    shutil.copy(target / "release/grcov", output / "grcov")
    work = output.with_name("work")
    if not work.is_dir():
        maker = Path(__file__).with_name("make_tracefiles.py")
        call([sys.executable, maker, source / "vendor", work.with_name("work.new"), str(TRACEFILES)], log)
        work.with_name("work.new").rename(work)


def workload(output: Path, scratch: Path, _seconds: float) -> list[str]:
    """All tracefiles, once; `coz run --duration` repeats it."""
    work = output.with_name("work")
    grcov = [str(output / "grcov"), str(work / "tracefiles"), "-s", str(work / "src")]
    return [*grcov, "--threads", str(THREADS), "-t", "files", "-o", str(scratch / "files")]


STUDY = Study(
    name="grcov",
    title=f"grcov {VERSION}",
    unit="tracefile",
    fetch=fetch,
    build=build,
    workload=workload,
    count=lambda _command: TRACEFILES,
    repeated=1,
    # Debian 12's own cargo is of 2022. cargo-web is the one that it builds Firefox with.
    packages=() if shutil.which("cargo") else ("cargo-web",),
    coz_options=("--progress", "grcov::parser::parse_lcov"),
    changes=(
        Change(
            name="parse",
            patch="parse.diff",
            what="a record's lines are put into the map at once, not searched for one by one",
            target="grcov::parser::parse_lcov",
            symbols=("grcov::parser::line_counts", "grcov::parser::line_counts::{{closure}}"),
            with_callees=True,
        ),
        Change(
            name="merge",
            patch="merge.diff",
            what="two records' lines are merged in their order",
            target="grcov::merge_results",
            with_callees=True,
        ),
        Change(name="unlock", patch="unlock.diff", what="paths are looked up before the lock is taken"),
    ),
)
