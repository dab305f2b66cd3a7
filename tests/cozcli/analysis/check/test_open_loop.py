"""Whose pace is its own, and whose is not: on windows of programs of which it is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from cozcli.analysis.check.cores import limited_by_cores
from cozcli.analysis.check.open_loop import open_loop_marks
from cozcli.analysis.input.windows import Window
from cozcli.analysis.result import Mark, Phase
from cozcli.profile.profile import Run
from cozcli.profile.records import ExperimentRecord, RunRecord, ThroughputPoint

DURATION = 150_000_000
SPEEDUPS = (0.0, 0.1, 0.25, 0.4, 0.0, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Line:
    """It runs for `share` of the time. `loss`: of the logarithm of the real pace, by that of the delay."""

    share: float
    loss: Callable[[float], float]
    #: Before its location, of a wait.
    kind: str = ""


def hidden(share: float, spare: float = math.inf) -> Line:
    """Its delays go into time that others have to spare: this part of the whole; then the pace falls."""
    limit = -math.log1p(-spare) if spare < 1 else math.inf
    return Line(share, lambda u: max(0.0, u - limit))


def slowing(share: float, beta: float = 1.0) -> Line:
    """Its delays slow the program down: by so much of each."""
    return Line(share, lambda u: beta * u)


def windows_of(
    lines: list[Line], busy: float, seed: int, blocks: int = 14, noise: float = 0.05
) -> dict[str, list[Window]]:
    """Of this number of blocks, two in three of them on the first line."""
    rng = np.random.default_rng(seed)
    locations = [f"{line.kind}/a.c:{number}" for number, line in enumerate(lines)]
    found: dict[str, list[Window]] = {location: [] for location in locations}
    for block in range(blocks):
        number = 0 if block % 3 else block // 3 % len(lines)
        drift = 0.03 * rng.standard_normal()
        for speedup in SPEEDUPS:
            part = min(lines[number].share * speedup * rng.uniform(0.9, 1.1), 0.97)
            pace = math.exp(drift + noise * rng.standard_normal() - lines[number].loss(-math.log1p(-part)))
            delay = int(part * DURATION)
            record = ExperimentRecord(
                location=locations[number], function="work", speedup=speedup, block=block,
                duration=DURATION, effective_duration=DURATION - delay, delay=delay,
                processor_time=int(busy * DURATION), core_wait=0,
                points=(ThroughputPoint("turn", round(10_000 * pace), DURATION - delay),),
            )  # fmt: skip
            found[record.location].append(Window(0, block, record))
    return found


def marks_of(
    lines: list[Line], busy: float, unsteady: tuple[int, ...] = (), **options: float
) -> list[Mark | None]:
    """Of twenty profiles of the program."""
    found = []
    for seed in range(20):
        windows = windows_of(lines, busy, seed, **options)
        phases = {target: Phase(estimate=1.0) for target in windows}
        marks = open_loop_marks(windows, phases, [(f"/a.c:{number}", "turn") for number in unsteady])
        assert set(marks) <= {"turn"}
        found.append(marks.get("turn"))
    return found


@pytest.mark.parametrize(
    ("lines", "busy"),
    [
        pytest.param([hidden(1.0, 0.4), slowing(0.6)], 1.6, id="two stages, the second at the limit"),
        # A small line: with all lines in one regression, the first hides it.
        pytest.param([hidden(1.0), slowing(0.3)], 1.3, id="a helper that is waited for"),
        pytest.param([hidden(1.0), slowing(0.3), slowing(0.5)], 1.8, id="three stages"),
        pytest.param([hidden(0.5), slowing(0.2)], 0.7, id="a device, and a thread beside"),
        pytest.param([slowing(0.75, 1 / 3)] * 2, 2.0, id="pool of two threads and two lines"),
        pytest.param([slowing(0.97, 0.8)] * 5, 8.0, id="pool of eight threads and five lines"),
        pytest.param([hidden(0.6), hidden(0.4)], 1.0, id="serial"),
        pytest.param([hidden(0.5, 0.2), hidden(0.5, 0.2)] + [slowing(0.4)] * 2, 1.8, id="barriers"),
        pytest.param([hidden(0.9), slowing(0.12)], 1.5, id="lock"),
        pytest.param([hidden(0.4), hidden(0.6, 0.3), slowing(0.3)], 1.3, id="fork and join"),
        # What a long queue has hidden comes out under the next speedup.
        pytest.param([slowing(0.95, -0.7)], 1.7, id="pace that rises with delays"),
    ],
)
def test_programs_that_limit_themselves_have_no_mark(lines: list[Line], busy: float) -> None:
    assert marks_of(lines, busy) == [None] * 20
    assert marks_of(lines, busy, blocks=40) == [None] * 20


@pytest.mark.parametrize(
    ("lines", "busy", "mark"),
    [
        pytest.param([hidden(0.8), hidden(0.8)], 1.6, Mark.LOAD, id="two threads"),
        pytest.param([hidden(0.5)] * 3, 1.5, Mark.LOAD, id="half load, three threads"),
        # Longer delays than there is time to spare do slow it down.
        pytest.param([hidden(0.8, 0.2)] * 3, 2.4, Mark.LOAD, id="80 % load, three threads"),
        pytest.param([hidden(0.5, 0.2), hidden(0.3, 0.2)], 0.8, Mark.MAYBE_LOAD, id="80 % load, two lines"),
        pytest.param([hidden(0.8)], 0.8, Mark.MAYBE_LOAD, id="80 % load, one thread"),
        pytest.param([hidden(0.15)], 0.15, Mark.MAYBE_LOAD, id="light load"),
        pytest.param([hidden(0.3), hidden(0.3)], 0.6, Mark.MAYBE_LOAD, id="device"),
    ],
)
def test_a_pace_from_outside_is_marked(lines: list[Line], busy: float, mark: Mark) -> None:
    # Regular visits: their number varies less than where threads wait for each other.
    found = marks_of(lines, busy, blocks=24, noise=0.03)
    assert found.count(mark) >= 19
    assert set(found) <= {mark, None}


def test_a_line_that_slows_the_program_down_refutes_by_itself() -> None:
    """The others, alone, look like an open loop."""
    others = [hidden(0.7), hidden(0.7)]
    assert marks_of(others, 1.6) == [Mark.LOAD] * 20
    assert marks_of([*others, slowing(0.3)], 1.6, blocks=24) == [None] * 20
    # But chance does not: forty lines of an open loop, three blocks each.
    assert marks_of([hidden(0.3)] * 40, 8.0, blocks=360).count(None) <= 2


def test_waiting_for_a_lock_does_not_count_beside_the_lines_of_its_holder() -> None:
    """Who waits and who holds the lock, which is shared by all, run at the same time."""
    holder, waiting = hidden(0.9), Line(0.8, lambda u: 0.0, kind="lock ")
    assert marks_of([holder, waiting], 1.9) == [None] * 20
    assert marks_of([holder, hidden(0.8)], 1.9) == [Mark.LOAD] * 20


def test_queues_that_have_not_settled_show_nothing() -> None:
    """They hide a delay for a while: neither does it slow the program down yet, nor is the time to spare."""
    lines = [hidden(0.9), hidden(0.7), hidden(0.1)]
    assert marks_of(lines, 1.7) == [Mark.LOAD] * 20
    assert marks_of(lines, 1.7, unsteady=(0,)) == [None] * 20
    assert marks_of(lines, 1.7, unsteady=(0, 1, 2)) == [None] * 20


def test_five_blocks_tell_where_the_pace_hardly_varies() -> None:
    """A run of 15 s has hardly more; lines of different lengths share their information unevenly."""
    lines = [hidden(0.35), hidden(0.15)]
    assert marks_of(lines, busy=0.4, blocks=5, noise=0.003).count(Mark.MAYBE_LOAD) >= 19


@pytest.mark.parametrize(
    ("had", "waited", "busy", "limited"),
    [
        (1.96, 0.0, 0.0, True),  # the program fills the cores by itself
        (1.84, 0.14, 1.99, True),  # a client on the same machine has the rest
        (1.84, 0.01, 1.99, False),  # for which nobody waits
        (0.60, 3.00, 0.70, False),  # many threads wake up at once, but cores are idle
        (1.50, 0.00, 1.60, False),
    ],
)
def test_busy_cores_set_the_pace(had: float, waited: float, busy: float, limited: bool) -> None:
    """Processor time of the program, time for which it waited for cores, and what all programs had."""
    record = ExperimentRecord(
        location="/a.c:1", function="work", speedup=0.0, block=0, duration=DURATION,
        effective_duration=DURATION, delay=0, processor_time=int(had * DURATION),
        core_wait=int(waited * DURATION), machine_busy=int(busy * DURATION), points=(),
    )  # fmt: skip
    run = Run(RunRecord(cores=2), "", (record,))
    assert limited_by_cores([Window(0, 0, record)], [run]) == limited
