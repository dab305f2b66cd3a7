#!/usr/bin/env python3
"""Prints which package of cozcli imports which, and how often; then circles, if there are any.

With the name of a package (as cozcli.launch), the same for its files. `make lint` checks the rules
(pyproject.toml, `lint-imports`); this is for reading. Needs import-linter's library: build/venv/bin/python.
"""

import argparse
import collections
import pathlib
import sys

import grimp

ROOT = pathlib.Path(__file__).resolve().parent.parent


def edges(graph: grimp.ImportGraph, package: str) -> dict[str, collections.Counter[str]]:
    """Of the children of a package: which imports which, and by how many imports."""
    children = sorted(graph.find_children(package))
    members = {member: child for child in children for member in {child, *graph.find_descendants(child)}}
    found: dict[str, collections.Counter[str]] = {child: collections.Counter() for child in children}
    for importer, child in members.items():
        for imported in graph.find_modules_directly_imported_by(importer):
            other = members.get(imported)
            if other is not None and other != child:
                found[child][other] += 1
    return found


def circles(found: dict[str, collections.Counter[str]]) -> list[list[str]]:
    """Groups in which each reaches each."""
    reached = {}
    for start in found:
        seen: set[str] = set()
        todo = list(found[start])
        while todo:
            child = todo.pop()
            if child not in seen:
                seen.add(child)
                todo += found[child]
        reached[start] = seen
    groups = {
        frozenset(b for b in found if b in reached[a] and a in reached[b]) for a in found if a in reached[a]
    }
    return [sorted(group) for group in groups]


def main() -> int:
    """Print, and return 1 if there is a circle."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("package", nargs="?", default="cozcli")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="another checkout")
    options = parser.parse_args()
    sys.path.insert(0, str(options.root))
    found = edges(grimp.build_graph("cozcli", cache_dir=None), options.package)
    for child, others in found.items():
        shown = ", ".join(f"{_short(other)} ({number})" for other, number in sorted(others.items()))
        print(f"{_short(child):20} {shown or '-'}")
    found_circles = circles(found)
    for group in found_circles:
        print(f"circle: {', '.join(map(_short, group))}")
    return 1 if found_circles else 0


def _short(module: str) -> str:
    return module.rpartition(".")[2]


if __name__ == "__main__":
    sys.exit(main())
