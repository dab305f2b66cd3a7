#!/usr/bin/env python3
"""fetch.py FOLDER: puts the suites there, with Debian's sources of their programs, and inputs.

No foreign source is kept in this repository. Sources that are there already are not fetched again.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "case_studies"))

from debian_source import fetch_all  # noqa: E402

PACKAGES = ("bzip2", "expat", "libdeflate", "lua5.4", "lz4", "lzip", "mujs", "zlib", "zopfli")
#: Of Debian 12.
CHECKSUMS = {
    "bzip2_1.0.8.orig.tar.gz": "ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269",
    "expat_2.5.0.orig.tar.gz": "ab00ee05c7067fd10a35c5d2a4922ebba746ddd50ff83b79c828da17bbdf1757",
    "libdeflate_1.14.orig.tar.gz": "89e7df898c37c3427b0f39aadcf733731321a278771d20fc553f92da8d4808ac",
    "lua5.4_5.4.4.orig.tar.gz": "164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61",
    "lz4_1.9.4.orig.tar.gz": "0b0e3aa07c8c063ddf40b082bdf7e37a1562bda40a0ff5272957f3e987e0e54b",
    "lzip_1.23.orig.tar.xz": "d269d8e204579cb7047d6187bce741acb484a27e24cf24f20cf017c48574147c",
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
    with open(folder / "lines.xml", "w", encoding="ascii") as file:
        file.write("<lines>\n")
        for number, line in enumerate(lines):
            shown = escape("".join(each if " " <= each <= "~" else " " for each in line))
            file.write(f'<line number="{number}" length="{len(line)}">{shown}</line>\n')
        file.write("</lines>\n")


def main() -> int:
    """The status of the process."""
    folder = Path(sys.argv[1]).resolve()
    done = folder / ".complete"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("hardening.toml", "levels.toml", "build.sh", "tree.lua", "tree.js"):
        shutil.copy2(HERE / name, folder)
    if not done.exists():
        for package in PACKAGES:
            (folder / package).mkdir(parents=True, exist_ok=True)
        fetch_all(PACKAGES, CHECKSUMS, lambda package: folder / package, folder)
        write_inputs(folder)
        done.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
