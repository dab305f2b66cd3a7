"""Patterns by which users name lines."""

from __future__ import annotations

import pytest

from cozcli.analysis.input.locations import common_directory, line_number, matches_line, point_named, shorten


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


FUNCTION = "/src/a.cpp:ns::parse(std::string const&)"


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("a.cpp", True),
        ("src/a.cpp", True),
        ("a.cpp:ns::parse", True),
        ("ns::parse", True),
        ("parse", True),
        ("a.cpp:ns", False),
    ],
)
def test_patterns_for_a_function_that_is_a_target(pattern: str, matches: bool) -> None:
    assert matches_line(pattern, FUNCTION, "ns::parse(std::string const&)") is matches


@pytest.mark.parametrize(
    ("pattern", "function"),
    [
        ("parse", "(anonymous namespace)::parse(int)"),
        ("f<int>", "void f<int>(int)"),
        ("Foo::operator()", "Foo::operator()(int) const"),
    ],
)
def test_functions_are_named_as_reports_show_them(pattern: str, function: str) -> None:
    assert matches_line(pattern, "/src/a.cpp:10", function)


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [("a.c:10", True), ("a.c", True), ("b.c:2", False), ("a.c:10 < b.c:2", True), ("a.c:10 < b.c:3", False)],
)
def test_a_call_path_is_named_by_its_line_or_by_both(pattern: str, matches: bool) -> None:
    assert matches_line(pattern, "/s/a.c:10 < /s/b.c:2", "f") is matches


@pytest.mark.parametrize(
    ("pattern", "matches"), [("b.c:2", True), ("wait b.c:2", True), ("lock b.c:2", False), ("wait", False)]
)
def test_a_wait_is_named_with_its_kind_or_without(pattern: str, matches: bool) -> None:
    assert matches_line(pattern, "wait /src/app/b.c:2", "") is matches


def test_files_may_be_named_like_waits() -> None:
    assert matches_line("lock free/q.c", "/s/lock free/q.c:3", "push")


def test_a_wait_is_as_short_as_its_line() -> None:
    locations = ["/src/app/a.c:1", "wait /src/app/io/b.c:2", "wait (all sleep)"]
    prefix = common_directory(locations)
    assert prefix == "/src/app/"
    assert [shorten(each, prefix) for each in locations] == ["a.c:1", "wait io/b.c:2", "wait (all sleep)"]
    assert matches_line("b.c:2", "wait /src/app/io/b.c:2", "")


def test_functions_of_templates_are_found_without_arguments() -> None:
    for pattern in ("f", "ns::f", "a.cpp:f", "f<A<int> >"):
        assert matches_line(pattern, "/a.cpp:3", "void ns::f<A<int> >(int)"), pattern
    assert not matches_line("", "/a.cpp:3", "(anonymous namespace)::f")


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("run", True),
        ("First::run", True),
        ("a.cpp:run", True),
        ("src/a.cpp:First::run", True),
        ("a.cpp:(anonymous namespace)::First::run", True),
        ("b.cpp:run", False),
        ("a.cpp:irst::run", False),
        ("Second::run", False),
        ("a.cpp:", False),
    ],
)
def test_functions_are_found_by_the_end_of_their_names(pattern: str, matches: bool) -> None:
    function = "(anonymous namespace)::First::run"
    assert matches_line(pattern, f"/src/a.cpp:{function}", function) is matches


def test_callers_out_of_scope_and_slashes_in_names_share_no_folder() -> None:
    assert common_directory(["/src/app/a.c:1 < ?", "/src/app/b.c:2 < /src/app/a.c:9"]) == "/src/app/"
    assert common_directory(["/s/v.cpp:V::operator/(V const&)"]) == "/s/"
    assert common_directory(["/work:1/a.c:3", "/work:1/b.c:f"]) == "/work:1/"


def test_a_number_of_absurd_length_is_no_line() -> None:
    assert line_number("a.c:12") == 12
    assert line_number("a.c:" + 5000 * "1") == 0


@pytest.mark.parametrize(
    ("wanted", "point"),
    [
        ("frame", "frame"),
        ("game.cpp:29", "/src/game.cpp:29"),
        ("src/game.cpp:29", "/src/game.cpp:29"),
        ("game.cpp:Game::step", "/src/game.cpp:Game::step(int)"),
        ("util.cpp:7", "util.cpp:7"),  # two
        ("ame.cpp:29", "ame.cpp:29"),
        (None, None),
    ],
)
def test_progress_points_at_lines_are_named_by_the_end_of_their_path(
    wanted: str | None, point: str | None
) -> None:
    known = ["frame", "/src/game.cpp:29", "/src/game.cpp:Game::step(int)", "/a/util.cpp:7", "/b/util.cpp:7"]
    assert point_named(wanted, known) == point
