"""Patterns by which users name lines."""

from __future__ import annotations

import pytest

from cozcli.analysis.input.locations import common_directory, matches_line, shorten


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


def test_a_wait_is_as_short_as_its_line() -> None:
    locations = ["/src/app/a.c:1", "wait /src/app/io/b.c:2", "wait (all sleep)"]
    prefix = common_directory(locations)
    assert prefix == "/src/app/"
    assert [shorten(each, prefix) for each in locations] == ["a.c:1", "wait io/b.c:2", "wait (all sleep)"]
    assert matches_line("b.c:2", "wait /src/app/io/b.c:2", "")
