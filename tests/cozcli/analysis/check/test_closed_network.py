"""Threads that share the cores, but never wait for each other."""

from __future__ import annotations

import numpy as np
import pytest

from cozcli.analysis.check.closed_network import ClosedNetwork


def effects(network: ClosedNetwork, saved: list[float]) -> list[float]:
    return [round(1 - period, 3) for period in network.periods(np.array(saved))]


def alike(threads: int, cores: int, busy: float, waited: float) -> ClosedNetwork:
    """busy, waited: of all threads."""
    return ClosedNetwork(cores, np.full(threads, busy / threads), np.full(threads, waited / threads))


@pytest.mark.parametrize(
    ("threads", "cores", "busy", "waited", "saved", "expected"),
    [
        # M/M/1//2, by hand: of 5 parts of the time, 2 with one thread at the core and 2 with both; afterwards
        # 1 and 0.5 of 2.5.
        (2, 1, 0.8, 0.4, 0.5, 1 / 3),
        (2, 2, 0.5, 0.0, 1.0, 0.25),  # a core for each: of a visit, a quarter is saved
        (8, 2, 2.0, 6.0, 0.3, 0.3),  # they never wait outside: all work is spread over the cores
        (8, 2, 1.0, 0.0, 0.0, 0.0),
    ],
)
def test_effects_of_alike_threads_are_those_of_the_repairman(
    threads: int, cores: int, busy: float, waited: float, saved: float, expected: float
) -> None:
    found = effects(alike(threads, cores, busy, waited), [saved] * threads)
    assert found == pytest.approx([expected] * threads, abs=2e-3)


def test_no_period_is_shorter_than_the_cores_need() -> None:
    """Measured waiting may be less than that of fair cores, and then the rest of it would be, too."""
    network = alike(16, 2, 1.99, 0.5)
    for saved in (0.0, 0.25, 0.5, 0.75):
        assert effects(network, [saved] * 16)[0] <= 1 - 0.99 * (1 - saved)


def test_a_thread_that_never_waits_outside_leaves_nothing_to_others() -> None:
    network = ClosedNetwork(1, np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    assert effects(network, [0.5, 0.0]) == [0.5, 0.0]


def test_whatever_it_saves() -> None:
    """Nor is it outside where times are not quite exact."""
    network = ClosedNetwork(2, np.array([0.78, 0.6, 0.6]), np.array([0.217, 0.397, 0.4]))
    assert effects(network, [1.0, 0.0, 0.0])[1:] == [0.0, 0.0]


def test_a_thread_that_sleeps_leaves_its_core_to_those_that_wait() -> None:
    """It is preferred, so that another has what it leaves: 1 - 0.5 before, 1 - 0.25/0.75 after."""
    network = ClosedNetwork(1, np.array([0.5, 0.5]), np.array([0.5, 0.0]))
    assert effects(network, [0.0, 0.5]) == pytest.approx([1 - 0.5 / (2 / 3), 0.25], abs=2e-3)


def test_all_have_the_same_part_of_the_cores_while_they_wait() -> None:
    """The second would need 0.1 of 0.6 less, and takes its third of the core nevertheless."""
    network = ClosedNetwork(1, np.array([1 / 3, 1 / 3, 1 / 3]), np.array([2 / 3, 0.25, 0.4]))
    assert effects(network, [0.0, 0.2, 0.0]) == pytest.approx([0.0, 0.2, 0.0], abs=2e-3)


def test_threads_that_are_not_even_share_as_they_did() -> None:
    """The second waits for as long as it computes; the first, which never sleeps, waits less."""
    network = ClosedNetwork(1, np.array([0.75, 0.25]), np.array([0.25, 0.25]))
    first, second = effects(network, [0.0, 0.5])
    assert 0.05 < first < 0.15
    assert 0.2 < second < 0.3


@pytest.mark.parametrize("threads", [36, 63])
@pytest.mark.parametrize("outside", [0.0, 1e-4, 0.5])
def test_many_threads_may_save_all_of_their_work(threads: int, outside: float) -> None:
    busy = 2 / threads
    network = ClosedNetwork(2, np.full(threads, busy), np.full(threads, 1 - busy - outside * (1 - busy)))
    assert effects(network, [0.5] * threads)[0] == pytest.approx(0.5, abs=0.2)
    assert effects(network, [1.0] * threads)[0] > 0.4


def test_waits_of_threads_that_sleep_may_stay() -> None:
    network = ClosedNetwork(1, np.array([0.75, 0.25]), np.array([0.25, 0.25]))
    saved = np.array([0.5, 0.5])
    first, second = 1 - network.if_waits_stay(network.periods(saved), saved)
    assert first == pytest.approx(0.5, abs=0.1)  # it never sleeps
    assert second == pytest.approx(0.125)


def test_more_waiting_than_cores_explain_has_another_cause() -> None:
    assert alike(4, 2, 1.8, 0.6).is_plausible
    assert not alike(4, 2, 1.8, 0.05).is_plausible
    assert not alike(2, 2, 1.6, 0.3).is_plausible  # for what, if there is a core for each?
    assert alike(2, 2, 1.6, 0.0).is_plausible
