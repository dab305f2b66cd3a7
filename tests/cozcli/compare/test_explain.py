"""`coz layout replay --explain`: the search for the functions that make the difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from cozcli.compare.explain import SpreadError, narrow, ranges


def needs(*units: int) -> Callable[[Sequence[int]], bool]:
    """A layout that these units make slow together."""
    return lambda moved: set(units) <= set(moved)


@pytest.mark.parametrize("culprit", [0, 1, 499, 500, 998])
def test_one_function_is_found(culprit: int) -> None:
    assert narrow(range(999), needs(culprit)) == [culprit]


@pytest.mark.parametrize("pair", [(3, 4), (3, 900), (499, 500), (0, 998)])
def test_two_that_are_needed_together_are_found(pair: tuple[int, int]) -> None:
    assert sorted(narrow(range(999), needs(*pair))) == list(pair)


def test_four_are_found_and_five_are_too_many() -> None:
    assert sorted(narrow(range(1000), needs(1, 300, 600, 900))) == [1, 300, 600, 900]
    with pytest.raises(SpreadError):
        narrow(range(1000), needs(1, 200, 400, 600, 900))


def test_a_difference_that_all_make_together_is_spread() -> None:
    with pytest.raises(SpreadError):
        narrow(range(1000), lambda moved: len(moved) >= 600)


def test_each_step_halves_what_is_left() -> None:
    sizes: list[int] = []

    def makes_it(moved: Sequence[int]) -> bool:
        sizes.append(len(moved))
        return 700 in moved

    narrow(range(1024), makes_it)
    assert len(sizes) <= 2 * 10


def test_ranges_are_written_as_the_library_reads_them() -> None:
    assert ranges([]) == ""
    assert ranges([5]) == "5-5"
    assert ranges([9, 3, 4, 5, 8]) == "3-5,8-9"
