#!/usr/bin/env python3
"""Checks the rules for documents that CONTRIBUTING.md states.

1. Links to files of the repository lead to files.
2. No line of prose has more than 120 characters; tables, code and pictures are free.
3. A decision has at most 80 lines, and docs/decisions/README.md names it.

Prints one line per violation, as file:line: what is wrong; exits with 1 if there is any.
"""

import argparse
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

MAX_WIDTH = 120
MAX_DECISION_LINES = 80
DECISIONS = pathlib.PurePath("docs/decisions")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
NO_PROSE = ("    ", "|", "![")


def documents(root: pathlib.Path) -> list[pathlib.Path]:
    """The Markdown files of the repository, but for reports that tests expect."""
    command = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return [root / name for name in listed if "golden/" not in name and (root / name).is_file()]


def broken_links(document: pathlib.Path) -> Iterator[tuple[int, str]]:
    """Relative links that lead nowhere."""
    for number, line in enumerate(document.read_text().splitlines(), 1):
        for target in LINK.findall(line):
            if "://" not in target and not (document.parent / target).exists():
                yield number, f"the link to {target} leads nowhere"


def long_lines(document: pathlib.Path) -> Iterator[tuple[int, str]]:
    """Lines of prose that are too long."""
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if len(line) > MAX_WIDTH and not line.startswith(NO_PROSE):
            yield number, f"{len(line)} characters; wrap at about 110"


def long_or_unlisted(root: pathlib.Path, document: pathlib.Path) -> Iterator[tuple[int, str]]:
    """What is wrong with a decision's record as a whole."""
    if document.parent != root / DECISIONS or document.name == "README.md":
        return
    lines = len(document.read_text().splitlines())
    if lines > MAX_DECISION_LINES:
        yield lines, f"a decision has at most {MAX_DECISION_LINES} lines"
    if f"({document.name})" not in (root / DECISIONS / "README.md").read_text():
        yield 1, f"{DECISIONS}/README.md does not name it"


def main() -> int:
    """The number of violations, at most 1."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parents[1])
    root = parser.parse_args().root.resolve()
    findings = [
        f"{document.relative_to(root)}:{number}: {problem}"
        for document in documents(root)
        for check in (broken_links, long_lines, lambda document: long_or_unlisted(root, document))
        for number, problem in check(document)
    ]
    print("\n".join(findings), end="\n" if findings else "")
    return min(len(findings), 1)


if __name__ == "__main__":
    sys.exit(main())
