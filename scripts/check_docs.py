#!/usr/bin/env python3
"""Checks the rules for documents that CONTRIBUTING.md states.

1. Links to files of the repository lead to files; so do names of source files and documents in backticks.
2. No line of prose has more than 120 characters: Markdown, man pages, and comments of sources. Tables, code
   and pictures are free.
3. A decision has at most 80 lines, and docs/decisions/README.md names it; the README has at most 150.
4. All Markdown together has at most 43,800 words. What stands between spaces and has a letter or a digit is a
   word, in tables and code, too. Reports that tests expect (golden/) do not count.

Prints one line per violation, as file:line: what is wrong; exits with 1 if there is any.
"""

import argparse
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence

MAX_WIDTH = 120
MAX_DECISION_LINES = 80
MAX_README_LINES = 150
MAX_WORDS = 43_800
DECISIONS = pathlib.PurePath("docs/decisions")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
NO_PROSE = ("    ", "|", "![")
WORD = re.compile(r"\S*\w\S*")
#: A file of the repository, as a document names it. Names of C++ files may be those of a reader's program.
NAMED_FILE = re.compile(
    r"`((?:[\w-]+/)*[\w-]+\.(?:py|h|md|ts|mk|html|toml|map)|(?:[\w-]+/)+[\w-]+\.(?:cpp|c|sh))`"
)
#: Files that are named without being there: of the reader's, or one of many.
NAMED_ELSEWHERE = {"coz.toml", "src/queue.cpp", "examples/NAME/study.py"}
#: What begins a comment, by the file's suffix. A line of code with a comment behind it is code.
COMMENTS = {
    **dict.fromkeys((".h", ".hpp", ".c", ".cpp", ".cc", ".ts", ".mjs", ".css"), ("//", "/*", "*")),
    **dict.fromkeys((".py", ".sh", ".mk", ".toml", ".txt", ".in", ".map", ""), ("#", "/*")),
}


def listed(root: pathlib.Path) -> list[pathlib.Path]:
    """The files of the repository, with those that are not committed yet."""
    command = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    return [root / name for name in names if name and "golden/" not in name and (root / name).is_file()]


def missing_files(document: pathlib.Path, files: Sequence[pathlib.Path]) -> Iterator[tuple[int, str]]:
    """Names in backticks that no file of the repository has, or ends with."""
    for number, line in enumerate(document.read_text().splitlines(), 1):
        for name in () if line.startswith("    ") else NAMED_FILE.findall(line):
            known = any(str(file).endswith(f"/{name}") for file in files)
            if not known and name not in NAMED_ELSEWHERE:
                yield number, f"there is no file {name}"


def broken_links(document: pathlib.Path) -> Iterator[tuple[int, str]]:
    """Relative links that lead nowhere."""
    for number, line in enumerate(document.read_text().splitlines(), 1):
        for target in LINK.findall(line):
            if "://" not in target and not (document.parent / target).exists():
                yield number, f"the link to {target} leads nowhere"


def is_prose(file: pathlib.Path, line: str) -> bool:
    """Is it a line of a document, or a comment?"""
    if file.suffix == ".md":
        return not line.startswith(NO_PROSE)
    return file.suffix == ".1" or line.lstrip().startswith(COMMENTS[file.suffix])


def long_lines(file: pathlib.Path) -> Iterator[tuple[int, str]]:
    """Lines of prose that are too long."""
    if file.suffix not in (".md", ".1", *COMMENTS):
        return
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
        if len(line) > MAX_WIDTH and is_prose(file, line):
            yield number, f"{len(line)} characters; wrap at about 110"


def long_or_unlisted(root: pathlib.Path, document: pathlib.Path) -> Iterator[tuple[int, str]]:
    """What is wrong with the README or a decision's record as a whole."""
    if document == root / "README.md":
        lines = len(document.read_text().splitlines())
        if lines > MAX_README_LINES:
            yield lines, f"the README has at most {MAX_README_LINES} lines"
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
    files = listed(root)
    documents = [file for file in files if file.suffix == ".md"]
    findings = [
        f"{file.relative_to(root)}:{number}: {problem}"
        for file in files
        for number, problem in long_lines(file)
    ]
    for document in documents:
        problems = [
            *broken_links(document),
            *missing_files(document, files),
            *long_or_unlisted(root, document),
        ]
        findings += [f"{document.relative_to(root)}:{number}: {problem}" for number, problem in problems]
    words = sum(len(WORD.findall(document.read_text())) for document in documents)
    if words > MAX_WORDS:
        findings.append(f"docs/README.md:1: Markdown has {words:,} words, {MAX_WORDS:,} are the limit")
    print("\n".join(findings), end="\n" if findings else "")
    return min(len(findings), 1)


if __name__ == "__main__":
    sys.exit(main())
