#!/usr/bin/env python3
"""fetch.py FOLDER: puts the suites there, with Debian's sources of their programs, and inputs.

No foreign source is kept in this repository. Sources that are there already are not fetched again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "case_studies"))

from debian_source import fetch_all  # noqa: E402

PACKAGES = (
    "bzip2",
    "expat",
    "libdeflate",
    "libzstd",
    "lua5.4",
    "lz4",
    "lzip",
    "md4c",
    "mujs",
    "zlib",
    "zopfli",
)
#: Of Debian 12.
CHECKSUMS = {
    "bzip2_1.0.8.orig.tar.gz": "ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269",
    "expat_2.5.0.orig.tar.gz": "ab00ee05c7067fd10a35c5d2a4922ebba746ddd50ff83b79c828da17bbdf1757",
    "libdeflate_1.14.orig.tar.gz": "89e7df898c37c3427b0f39aadcf733731321a278771d20fc553f92da8d4808ac",
    "libzstd_1.5.4+dfsg2.orig.tar.xz": "8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953",
    "lua5.4_5.4.4.orig.tar.gz": "164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61",
    "lz4_1.9.4.orig.tar.gz": "0b0e3aa07c8c063ddf40b082bdf7e37a1562bda40a0ff5272957f3e987e0e54b",
    "lzip_1.23.orig.tar.xz": "d269d8e204579cb7047d6187bce741acb484a27e24cf24f20cf017c48574147c",
    "md4c_0.4.8.orig.tar.gz": "4a457df853425b6bb6e3457aa1d1a13bccec587a04c38c622b1013a0da41439f",
    "mujs_1.3.2.orig.tar.xz": "4886593fc688b0cdccd31e5ecbe5afe7ad1bee23aa69e667b871afd5dfc640c3",
    "zlib_1.2.13.dfsg.orig.tar.bz2": "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1",
    "zopfli_1.0.3.orig.tar.gz": "e955a7739f71af37ef3349c4fa141c648e8775bceb2195be07e86f8e638814bd",
}
#: Bytes of inputs, so that a run takes 30 to 80 ms.
SIZES = {"large": 3_000_000, "medium": 1_800_000, "small": 700_000, "tiny": 60_000}


def write_inputs(folder: Path) -> None:
    """Text is the sources' own."""
    names = sorted(path for package in PACKAGES for path in (folder / package).rglob("*.c"))
    text = b"".join(path.read_bytes() for path in names)
    for name, size in SIZES.items():
        (folder / name).write_bytes(text[:size])
    lines = text[: SIZES["large"]].decode("ascii", "replace").splitlines()
    with open(folder / "text.md", "w", encoding="ascii") as file:
        for number, line in enumerate(lines):
            shown = "".join(each if " " <= each <= "~" else " " for each in line.strip())
            file.write(
                f"## Line *{number}*\n\n{shown}\n\n- `{number}`\n\n" if number % 3 == 0 else f"{shown}\n"
            )
    with open(folder / "lines.xml", "w", encoding="ascii") as file:
        file.write("<lines>\n")
        for number, line in enumerate(lines):
            shown = escape("".join(each if " " <= each <= "~" else " " for each in line))
            file.write(f'<line number="{number}" length="{len(line)}">{shown}</line>\n')
        file.write("</lines>\n")


def write_suites(folder: Path) -> None:
    """Those that have the programs of hardening.toml."""
    programs = "".join((HERE / "hardening.toml").read_text().partition("\n[programs.")[1:])
    suites = {name: (HERE / f"{name}.toml").read_text() + programs for name in ("levels", "cfi")}
    suites["levels-clang"] = suites["levels"].replace('built = "', 'built = "clang-')
    for name, text in suites.items():
        (folder / f"{name}.toml").write_text(text)


def main() -> int:
    """The status of the process."""
    folder = Path(sys.argv[1]).resolve()
    done, wanted = folder / ".complete", " ".join([*PACKAGES, "sqlite"])
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("hardening.toml", "build.sh", "queries.c", "tree.lua", "tree.js"):
        shutil.copy2(HERE / name, folder)
    write_suites(folder)
    if not done.exists() or done.read_text() != wanted:
        for package in PACKAGES:
            (folder / package).mkdir(parents=True, exist_ok=True)
        fetch_all(PACKAGES, CHECKSUMS, lambda package: folder / package, folder)
        subprocess.run([HERE.parent / "sqlite/fetch.sh", folder / "sqlite"], check=True)
        write_inputs(folder)
        done.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
