"""Patterns by which users name lines."""

from __future__ import annotations

import pytest

from cozcli.analysis.input.locations import matches_line


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("queue.cpp:10", True),
        ("src/queue.cpp:10", True),
        ("/src/queue.cpp:10", True),
        ("queue.cpp", True),
        ("ueue.cpp:10", False),
        ("queue.cpp:1", False),
        ("%queue%", True),
        ("queue%", False),
        ("%:10", True),
        ("produce", True),
        ("prod", False),
    ],
)
def test_line_patterns(pattern: str, matches: bool) -> None:
    assert matches_line(pattern, "/src/queue.cpp:10", "produce(int)") is matches
