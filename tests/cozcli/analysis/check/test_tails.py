"""Quantiles in a whole analysis and its reports: a profile whose operations have identities."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cozcli.analysis.analyse import analyse
from cozcli.analysis.result import Analysis, Mark
from cozcli.profile.profile import Profile, load_profile
from cozcli.reports.json_report import JsonReport
from cozcli.reports.page import PageProfile, render_page
from cozcli.reports.text import TextReport

WINDOW = 400_000_000
MS = 1e6


def bucket_of(duration: float) -> int:
    octave = int(np.log2(duration / 1024))
    return 1 + 64 * octave + int(64 * (duration / (1024 * 2**octave) - 1))


def histogram(rng: np.random.Generator, slow: float) -> list[list[int]]:
    """400 operations of about 1 ms, and 40 that take longer by `slow`."""
    durations = [MS * np.exp(0.1 * rng.standard_normal()) + (slow if i % 11 == 0 else 0) for i in range(440)]
    numbers, counts = np.unique([bucket_of(duration) for duration in durations], return_counts=True)
    return [[int(number), int(n)] for number, n in zip(numbers, counts, strict=True)]


def records(lost: int = 0) -> list[dict[str, Any]]:
    """Line 1 is the slow path; line 2 has no effect."""
    rng = np.random.default_rng(1)
    found: list[dict[str, Any]] = [
        {"type": "run", "format": "coz-profile", "version": 1, "program": "/src/server", "period": 1_000_000}
    ]
    for block in range(24):
        line = 1 + block % 2
        for speedup in (0.0, 0.25, 0.5):
            slow = 9 * MS * (1 - speedup if line == 1 else 1)
            mean = (1 + slow / MS / 11) * np.exp(0.01 * rng.standard_normal())
            point = {
                "name": "request", "kind": "latency", "arrivals": 440, "departures": 440, "elapsed": WINDOW,
                "in_progress": 440 * mean * MS / WINDOW, "durations": histogram(rng, slow),
            }  # fmt: skip
            found.append(
                {
                    "type": "experiment", "block": block, "location": f"/src/a.c:{line}", "speedup": speedup,
                    "start": len(found) * WINDOW, "duration": WINDOW, "effective_duration": WINDOW,
                    "delay": 0, "points": [point],
                }
            )  # fmt: skip
    total = {"name": "request", "kind": "latency", "arrivals": 31680, "departures": 31680, "lost": lost}
    found.append({"type": "samples", "run_time": 72 * WINDOW, "total": 1000, "points": [total]})
    return found


@pytest.fixture
def analysis(tmp_path) -> Analysis:
    return analyse(profile_of(tmp_path, records()))


def profile_of(folder, found: list[dict[str, Any]]) -> Profile:
    path = folder / "profile.coz"
    path.write_text("".join(json.dumps(record) + "\n" for record in found))
    return load_profile([str(path)])


def test_json_has_quantiles_of_latency_results(analysis: Analysis) -> None:
    results = json.loads(JsonReport().render(analysis))["results"]
    (slow,) = [result for result in results if result["location"] == "/src/a.c:1"]
    p50, _, p99 = slow["quantiles"]
    assert (p50["q"], p99["q"]) == (0.5, 0.99)
    assert set(p99["curve"][0]) == {"speedup", "effect", "low", "high", "experiments"}
    (at_half,) = [point for point in p99["curve"] if point["speedup"] == 0.5]
    assert at_half["effect"] == pytest.approx(0.45, abs=0.03)
    assert p99["significant"]
    assert not p50["significant"]
    # Of less than five sampling periods.
    assert [quantile["blurred"] for quantile in slow["quantiles"]] == [True, True, False]
    (none,) = [result for result in results if result["location"] == "/src/a.c:2"]
    assert not any(quantile["significant"] for quantile in none["quantiles"])


def test_the_table_is_followed_by_targets_that_move_a_tail(analysis: Analysis) -> None:
    lines = TextReport().render(analysis).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Quantiles of the latency"))
    assert lines[start + 1].startswith("  a.c:1, request, at 50%: p50 ")
    assert ", p99 +4" in lines[start + 1]
    assert lines[start + 1].count("(blurred)") == 2
    assert not lines[start + 1].endswith("(blurred)")
    assert lines[start + 2] == ""


def test_doubts_about_a_target_are_told_beside_its_tail_or_end_it(analysis: Analysis) -> None:
    def lines_with(mark: Mark) -> list[str]:
        results = tuple(replace(result, marks=(mark,)) for result in analysis.results)
        text = TextReport().render(replace(analysis, results=results))
        return [line for line in text.splitlines() if ", request, at 50%" in line]

    (line,) = lines_with(Mark.CORES)
    assert line.endswith(" (too few cores)")
    assert lines_with(Mark.UNSTABLE) == []


def test_the_page_has_quantiles(analysis: Analysis) -> None:
    page = render_page([PageProfile("profile.coz", analysis)], {})
    assert '"name":"p99"' in page
    assert '"name":"p50 (blurred)"' in page


def test_operations_that_were_lost_are_told(tmp_path) -> None:
    (told,) = [w for w in analyse(profile_of(tmp_path, records(lost=7))).warnings if "followed" in w.text]
    assert "7 of 31,680 operations of 'request'" in told.text


@pytest.mark.parametrize(
    "durations", [[[5000, 1]], [[1, 0]], [[1, -1]], [[1, 1.5]], [[1]], "none", [[1, True]]]
)
def test_durations_that_cannot_be_true_leave_the_window_without(tmp_path, durations: object) -> None:
    found = records()
    found[1]["points"][0]["durations"] = durations
    profile = profile_of(tmp_path, found)
    assert profile.experiments == 72
    (point,) = profile.runs[0].experiments[0].points
    assert point.durations == ()  # type: ignore[union-attr]
