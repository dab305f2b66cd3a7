"""What a target gives a point where threads share the cores, but never wait for each other."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from cozcli.analysis.check.capacity import Capacity, within_capacity
from cozcli.analysis.check.closed_network import ClosedNetwork
from cozcli.analysis.check.independent_threads import Gain, IndependentThreads, independent_threads
from cozcli.analysis.result import THROUGHPUT, CurvePoint, Fit, LineResult, Mark, Phase
from cozcli.profile.records import ThreadShare, ThreadUse, ThroughputPoint

if TYPE_CHECKING:
    from cozcli.profile.profile import Run

LENGTH = 100_000
#: Three threads on two cores: each has two thirds of one. The first never waits outside.
BUSY, CORE_WAIT = (0.6, 0.6, 0.6), (0.4, 0.25, 0.3)
#: By line, the thread that runs it all the time; and all lines' part of all work.
LINES = {"a.c:1": 0, "b.c:1": 1, "c.c:1": 2}
SHARES = dict.fromkeys(LINES, 1 / 3)


def window(location: str, speedup: float, rates: Sequence[float], **others: Any) -> SimpleNamespace:
    """Threads that do not run the line pause, and have the less of the cores. rates: visits by thread."""
    delay = speedup * 0.4
    ran = [busy * (1 if thread == LINES[location] else 1 - delay) for thread, busy in enumerate(BUSY)]
    each = tuple(
        ThreadShare(thread + 1, round(LENGTH * had), round(LENGTH * waited), 50 * (thread == LINES[location]))
        for thread, (had, waited) in enumerate(zip(ran, CORE_WAIT, strict=True))
    )
    visits = round(LENGTH * float(np.dot(rates, ran)))
    effective = round(LENGTH * (1 - delay))
    usual: dict[str, Any] = {
        "location": location, "speedup": speedup, "duration": LENGTH, "effective_duration": effective,
        "delay": LENGTH - effective, "processor_time": round(LENGTH * sum(ran)),
        "core_wait": round(LENGTH * sum(CORE_WAIT)), "machine_busy": -1, "machine_stolen": -1,
        "companions": (), "arrivals": None, "threads": ThreadUse(0, each),
        "points": (ThroughputPoint("item", visits, effective),),
    }  # fmt: skip
    return SimpleNamespace(**{**usual, **others})


def runs(rates: Sequence[float] = (0.01, 0, 0), repeats: int = 5, **others: Any) -> list[Run]:
    return of([window(line, s, rates, **others) for line in LINES for s in (0.0, 0.5, 1.0)] * repeats)


def of(records: Sequence[Any]) -> list[Run]:
    return [cast("Run", SimpleNamespace(record=SimpleNamespace(cores=2), experiments=records))]


def effect(found: IndependentThreads | None, line: str, speedup: float = 0.5) -> float:
    assert found is not None
    known = found.gain(line, "item", speedup)
    assert known is not None
    assert known.high - known.low < 0.01
    return known.effect


def test_a_thread_that_makes_the_visits_gains_by_its_own_line() -> None:
    found = independent_threads(runs(), SHARES)
    assert effect(found, "a.c:1") == pytest.approx(0.5, abs=0.01)
    assert -0.01 <= effect(found, "b.c:1") < 0.15


def test_a_thread_that_never_waits_outside_leaves_others_nothing() -> None:
    found = independent_threads(runs((0, 0.01, 0)), SHARES)
    assert effect(found, "a.c:1") == pytest.approx(0.0, abs=0.01)
    assert 0.35 < effect(found, "b.c:1") < 0.5


def test_visits_of_several_threads_gain_by_the_lines_of_each() -> None:
    network = ClosedNetwork(2, np.array(BUSY), np.array(CORE_WAIT))
    found = independent_threads(runs((0.01, 0.02, 0)), SHARES)
    periods = network.periods(np.array([0.5, 0, 0]))
    assert effect(found, "a.c:1") == pytest.approx(1 - 1 / (np.dot([1, 2, 0], 1 / periods) / 3), abs=0.01)


def test_where_windows_do_not_tell_who_makes_the_visits_only_bounds_are_known() -> None:
    """All of them pause likewise, as in baselines alone."""
    found = independent_threads(of([window(line, 0.0, (0.01, 0, 0)) for line in LINES] * 5), SHARES)
    assert found is not None
    known = found.gain("a.c:1", "item", 0.5)
    assert known is not None
    assert known.low < 0.01
    assert known.high > 0.45


def test_the_mean_of_runs_counts() -> None:
    found = independent_threads(runs() + runs((0, 0.01, 0)), SHARES)
    assert found is not None
    assert found.gain("a.c:1", "item", 0.5) == pytest.approx((0.25,) * 4, abs=0.01)


def test_what_was_not_sampled_or_visited_is_not_known() -> None:
    found = independent_threads(runs(), {**SHARES, "d.c:1": 0.1})
    assert found is not None
    assert found.gain("d.c:1", "item", 0.5) is None
    assert found.gain("a.c:1", "other", 0.5) is None


def each(number: int, ran: int) -> tuple[ThreadShare, ...]:
    return tuple(ThreadShare(thread + 1, ran, 1_000, 9) for thread in range(number))


@pytest.mark.parametrize(
    "others",
    [
        {"threads": None},
        {"threads": ThreadUse(0, ())},
        {"threads": ThreadUse(6_000, each(3, 60_000))},  # they wait for each other
        {"core_wait": -1},
        {"processor_time": -1},
        {"machine_busy": 2 * LENGTH},  # another program takes turns with them
        {"threads": ThreadUse(0, each(3, 60_000))},  # too little waiting
        {"threads": ThreadUse(0, each(64, 2_000))},  # others were not read
    ],
)
def test_of_other_threads_nothing_is_known(others: dict[str, Any]) -> None:
    assert independent_threads(runs(**others), SHARES) is None


def test_without_baselines_nothing_is_known() -> None:
    records = [window(line, 0.5, (0.01, 0, 0)) for line in LINES] * 5
    assert independent_threads(of(records), SHARES) is None


def test_a_long_wait_for_a_thread_ends_in_one_of_the_windows() -> None:
    records = list(runs()[0].experiments)
    records[4] = cast("Any", window("b.c:1", 0.5, (0.01, 0, 0), threads=ThreadUse(400_000, ())))
    assert independent_threads(of(records), SHARES) is None


def test_a_short_run_without_baseline_is_left_out() -> None:
    short = of([window("a.c:1", 0.5, (0.01, 0, 0))])
    found = independent_threads(runs() + short, SHARES)
    assert effect(found, "a.c:1") == pytest.approx(0.5, abs=0.01)


def test_threads_that_come_and_go_are_not_known() -> None:
    """Half of the work is done by threads of one half of the run."""
    records = list(runs()[0].experiments)
    for number, record in enumerate(records):
        others = tuple(each._replace(thread=each.thread + 3 * (number % 2)) for each in record.threads.each)
        record.threads = ThreadUse(0, others)
    assert independent_threads(of(records), SHARES) is None


def test_visits_that_keep_a_pace_tell_of_no_thread() -> None:
    """As many in each ns of effective time, whoever pauses: something that nobody sees ties them together."""
    records = [window(line, s, (0.01, 0, 0)) for line in LINES for s in (0.0, 0.5, 1.0)] * 5
    for record in records:
        record.points = (
            ThroughputPoint("item", round(0.006 * record.effective_duration), record.effective_duration),
        )
    found = independent_threads(of(records), SHARES)
    assert found is None or found.gain("a.c:1", "item", 0.5) is None


def test_threads_that_run_the_same_targets_are_of_one_kind() -> None:
    """Four on two cores: two spend 60 % in a line and write, two spend 60 % in it and read; writers visit."""
    busy, waited = 0.5, 0.5
    records = []
    for line, own in (("crc.c:1", range(4)), ("write.c:1", range(2)), ("read.c:1", range(2, 4))):
        for speedup in (0.0, 0.5, 1.0) * 5:
            delay = 0.4 * speedup
            ran = [busy if thread in own else busy * (1 - delay) for thread in range(4)]
            part = 0.6 if line == "crc.c:1" else 0.4
            shares = tuple(
                ThreadShare(
                    thread,
                    round(LENGTH * ran[thread]),
                    round(LENGTH * waited),
                    round(100 * part) * (thread in own),
                )
                for thread in range(4)
            )
            effective = round(LENGTH * (1 - delay))
            visits = round(0.02 * LENGTH * (ran[0] + ran[1]))
            record = window("a.c:1", speedup, (0, 0, 0), threads=ThreadUse(0, shares))
            record.location, record.effective_duration = line, effective
            record.processor_time = round(LENGTH * sum(ran))
            record.core_wait = round(4 * LENGTH * waited)
            record.points = (ThroughputPoint("item", visits, effective),)
            records.append(record)
    found = independent_threads(of(records), {"crc.c:1": 0.6, "write.c:1": 0.2, "read.c:1": 0.2})
    assert effect(found, "write.c:1") == pytest.approx(0.2, abs=0.02)
    assert effect(found, "read.c:1") == pytest.approx(0.0, abs=0.02)
    assert effect(found, "crc.c:1") == pytest.approx(0.3, abs=0.02)


class _Known:
    def __init__(self, effect: float, low: float, high: float, its_pace: bool) -> None:
        self._gain, self._its_pace = Gain(effect, low, high, effect), its_pace

    def gain(self, location: str, point: str, speedup: float) -> Gain:
        return self._gain

    def sets_its_pace(self, point: str) -> bool:
        return self._its_pace


@pytest.mark.parametrize(
    ("known", "marks", "expected", "marks_after"),
    [
        (_Known(0.30, 0.30, 0.30, True), (), 0.30, ()),
        (None, (), 0.45, ()),
        (_Known(0.30, 0.1, 0.5, True), (), 0.30, ()),  # who makes the visits is not clear
        # What they wait for depends on how fast they are.
        (_Known(0.30, 0.30, 0.30, False), (Mark.LOAD,), 0.45, (Mark.LOAD,)),
        (_Known(0.30, 0.30, 0.30, True), (Mark.LOAD,), 0.30, ()),  # they wait for nothing
    ],
)
def test_cores_give_as_much_as_the_network_says(
    known: _Known | None, marks: tuple[Mark, ...], expected: float, marks_after: tuple[Mark, ...]
) -> None:
    point = CurvePoint(0.5, 0.2, 0.18, 0.22, 10)
    result = LineResult(
        location="a.c:1", function="f", point="item", kind=THROUGHPUT, slope=0.4, slope_low=0.35,
        slope_high=0.45, adjusted_low=0.35, adjusted_high=0.45, significant=True, contention=False,
        phase=Phase(), curve=(point,), fit=Fit(2, (), (), (), ()), marks=(Mark.CORES, *marks),
    )  # fmt: skip
    capacity = Capacity(1.0, 1.0, {"a.c:1": (0.9, 1e8)}, independent=cast("IndependentThreads", known))
    found = within_capacity(result, capacity)
    assert found.curve[0].effect == pytest.approx(expected, abs=1e-3)
    assert set(found.marks) == {Mark.CORES, *marks_after}
    if known is not None and expected == 0.30:
        gain = known.gain("a.c:1", "item", 0.5)
        assert found.curve[0].low < gain.low
        assert found.curve[0].high > gain.high
        assert found.slope == pytest.approx(0.6, abs=1e-3)
