"""Makes a compilation database of what `make --dry-run V=1` prints (`make compile-commands`)."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path


def entries(lines: list[str]) -> list[dict[str, str]]:
    """One entry for each line that compiles a source to an object."""
    found = []
    for line in lines:
        words = shlex.split(line) if " -c " in line else []
        if "-c" not in words or "-o" not in words:
            continue
        source, output = words[words.index("-c") + 1], words[words.index("-o") + 1]
        entry = {"directory": str(Path.cwd()), "file": source, "output": output}
        # Only the compiler of the object reads a header that was compiled beforehand.
        found.append(entry | {"command": shlex.join(words)})
    return found


if __name__ == "__main__":
    json.dump(entries(sys.stdin.read().splitlines()), sys.stdout, indent=1)
    print()
