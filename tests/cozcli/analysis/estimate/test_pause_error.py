"""What pauses change besides is part of intervals."""

from __future__ import annotations

import math
from typing import Any

import pytest
from combined_profiles import Measurement, Program
from synthetic import to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.estimate.pause_error import PAUSE_ERROR, TIMES_OF_LATENCY, pause_error
from cozcli.analysis.estimate.shape import effect_at
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records


def profile(threads: int) -> Profile:
    records: list[dict[str, Any]] = Measurement().records(Program("join", 10), 400)
    for record in records:
        if record["type"] == "samples":
            record["threads"] = threads
    lines = to_bytes(records).splitlines(keepends=True)
    return Profile(collect_runs(read_records(lines, ReadProblems()), "p"), ["p"])


def halves(of: Profile, of_windows_only: bool) -> dict[str, tuple[float, float]]:
    """By location: half of the interval at 50 %, and the share of the time."""
    found = {}
    for result in analyse(of, of_windows_only=of_windows_only).results:
        effect = effect_at(result, 0.5)
        assert effect is not None
        assert result.share is not None
        found[result.location] = effect.half, result.share
    return found


def test_intervals_grow_by_a_part_of_what_is_sped_up() -> None:
    several = profile(2)
    narrow, wide = halves(several, of_windows_only=True), halves(several, of_windows_only=False)
    largest = max(wide, key=lambda location: wide[location][1])
    half, share = wide[largest]
    added = math.sqrt(half**2 - narrow[largest][0] ** 2)
    assert added == pytest.approx(1.96 * PAUSE_ERROR * 0.5 * share, rel=0.1)
    smallest = min(wide, key=lambda location: wide[location][1])
    assert wide[smallest][0] - narrow[smallest][0] < 0.0005


def test_intervals_of_latencies_grow_more_by_what_is_left_of_them() -> None:
    records: list[dict[str, Any]] = Measurement().records(Program("join", 10), 400)
    for record in records:
        if record["type"] == "samples":
            record["threads"] = 2
        for point in record.get("points", ()):
            number, elapsed = point.pop("visits"), point["elapsed"]
            point |= {"kind": "latency", "arrivals": number, "departures": number, "in_progress": 2.0}
            point["elapsed"] = elapsed
    lines = to_bytes(records).splitlines(keepends=True)
    of = Profile(collect_runs(read_records(lines, ReadProblems()), "p"), ["p"])
    narrow, wide = (
        {result.location: result for result in analyse(of, of_windows_only=only).results}
        for only in (True, False)
    )
    largest = max(wide, key=lambda location: wide[location].share or 0.0)
    before, after = effect_at(narrow[largest], 0.5), effect_at(wide[largest], 0.5)
    assert before is not None
    assert after is not None
    added = math.sqrt(after.half**2 - before.half**2)
    dose = 0.5 * (wide[largest].share or 0.0)
    expected = 1.96 * PAUSE_ERROR * TIMES_OF_LATENCY * dose * (1 - after.effect)
    assert added == pytest.approx(expected, rel=0.15)


def test_one_thread_pauses_for_nobody() -> None:
    alone = profile(1)
    assert halves(alone, of_windows_only=True) == halves(alone, of_windows_only=False)


def test_runs_that_tell_nothing_of_threads_do_not_count() -> None:
    assert pause_error([*profile(0).runs]) == PAUSE_ERROR
    assert pause_error([*profile(0).runs, *profile(1).runs]) == 0
    assert pause_error([*profile(1).runs, *profile(2).runs]) == PAUSE_ERROR
