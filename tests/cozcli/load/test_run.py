"""Load amplification on the command line: what is understood, refused, and said afterwards."""

from __future__ import annotations

import argparse
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from cozcli.doctor.machine import Machine
from cozcli.errors import CozError, Problem
from cozcli.launch.points import LocationPoint
from cozcli.load.run import Load, arrival_rate, arrival_speedup, has_fixed_targets
from cozcli.profile.tail import read_tail


@pytest.mark.parametrize(
    ("text", "means"),
    [("750us", "750000"), ("1ms", "1000000"), ("1.5 ms", "1500000"), ("42", "42"), ("0", "0"), ("25%", "25%"),
     ("12.5 %", "12.5%"), ("2s", "2000000000")],
)  # fmt: skip
def test_an_arrival_speedup_is_understood(text: str, means: str) -> None:
    assert arrival_speedup(text) == means


@pytest.mark.parametrize("text", ["", "fast", "-1ms", "100%", "250 %", "1h", "2 hours", "nan", "7200s", "%"])
def test_what_is_no_arrival_speedup_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="'"):
        arrival_speedup(text)


@pytest.mark.parametrize(
    ("text", "means"), [("4000/s", 4000), ("4000", 4000), ("2/ms", 2000), ("90 / min", 1.5)]
)
def test_a_rate_is_understood(text: str, means: float) -> None:
    assert float(arrival_rate(text)) == pytest.approx(means)


@pytest.mark.parametrize("text", ["", "0/s", "-3/s", "4000/h", "many"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        arrival_rate(text)


@pytest.mark.parametrize("load", [Load(speedup="25%"), Load(rate="4000")])
def test_a_whole_run_leaves_nothing_in_which_to_measure_the_rate(load: Load) -> None:
    with pytest.raises(CozError, match="no part of it is left") as refused:
        load.check(end_to_end=True, sampling="auto")
    assert "--arrival-speedup 0" in refused.value.problem.hint
    load.check(end_to_end=False, sampling="auto")
    Load(speedup="750000").check(end_to_end=True, sampling="auto")


def test_without_samples_nothing_is_amplified() -> None:
    with pytest.raises(CozError, match="--sampling off"):
        Load(speedup="1").check(end_to_end=False, sampling="off")
    Load().check(end_to_end=False, sampling="off")


@pytest.mark.parametrize(
    ("load", "varies_lines"), [(Load(speedup="1"), True), (Load(rate="4"), True), (Load(), False)]
)
def test_busy_pauses_are_for_load_alone(load: Load, varies_lines: bool) -> None:
    load.check(end_to_end=False, sampling="auto", varies_lines=varies_lines)
    busy = load._replace(busy_pauses=True)
    with pytest.raises(CozError, match="--busy-pauses is for measurements of load alone"):
        busy.check(end_to_end=False, sampling="auto", varies_lines=varies_lines)


@pytest.mark.parametrize(
    ("quota", "refused"), [(None, False), (1e9, False), (0.5, True)], ids=["none", "large", "small"]
)
def test_busy_pauses_would_use_up_a_quota(
    monkeypatch: pytest.MonkeyPatch, quota: float | None, refused: bool
) -> None:
    monkeypatch.setattr(Machine, "quota", quota)
    load = Load(speedup="1", busy_pauses=True)
    with pytest.raises(CozError, match=r"allows 0\.5 processors") if refused else contextlib.nullcontext():
        load.check(end_to_end=False, sampling="auto", varies_lines=False)


@pytest.mark.parametrize("kind", ["line", "lines", "function", "region", "wait", "lock"])
def test_targets_of_the_command_line_vary_lines(kind: str) -> None:
    kinds = ("line", "lines", "function", "region", "wait", "lock")
    none = argparse.Namespace(**{f"fixed_{each}": [] for each in kinds})
    assert not has_fixed_targets(none)
    assert has_fixed_targets(argparse.Namespace(**{**vars(none), f"fixed_{kind}": ["x"]}))


def test_the_runtime_is_told_of_busy_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "quota", None)
    load = Load(speedup="1", busy_pauses=True)
    load.check(end_to_end=False, sampling="auto", varies_lines=False)
    assert load.variables == {"COZ_ARRIVAL_SPEEDUP": "1", "COZ_BUSY_PAUSES": "1"}


def samples(count: int, charged: int, *points: dict[str, Any], speedup: int = 1_000_000) -> dict[str, Any]:
    arrivals = {
        "count": count,
        "clipped": 0,
        "charged": charged,
        "intervals": count,
        "between": count * 4_000_000,
    }
    return {
        "type": "samples",
        "run_time": 9,
        "duration": 9,
        "total": 1,
        "points": list(points),
        "arrival_speedup": speedup,
        "arrivals": arrivals,
    }


def said(
    folder: Path, record: dict[str, Any], load: Load | None = None, placed: tuple[str, ...] = ()
) -> list[str]:
    profile = folder / "profile.coz"
    profile.write_text(json.dumps(record, separators=(",", ":")) + "\n")
    points = [LocationPoint("arrival", "breakpoint", "/b", (1,), name) for name in placed]
    told = (load or Load(speedup="1000000")).describe(read_tail(profile), points)
    return [t.text if isinstance(t, Problem) else t for t in told]


def test_what_a_speedup_came_to_is_said(tmp_path: Path) -> None:
    (text,) = said(tmp_path, samples(1000, 1_000_000_000))
    assert "1,000 requests arrived, every 4 ms in a thread, and each 1 ms earlier" in text
    assert "1.33 times" in text
    assert "+25%" in text


def test_at_base_load_the_time_between_requests_is_said(tmp_path: Path) -> None:
    (text,) = said(tmp_path, samples(1000, 0, speedup=0), Load(speedup="0"))
    assert "every 4 ms" in text


def test_a_speedup_that_was_too_long_is_told(tmp_path: Path) -> None:
    (text,) = said(tmp_path, samples(1000, 900_000_000))
    assert "10% of it could not be done" in text
    assert said(tmp_path, samples(1000, 970_000_000))[0].startswith("1,000 requests")


def test_a_load_at_which_the_thread_waits_no_more_is_told(tmp_path: Path) -> None:
    record = samples(1000, 3_000_000_000, speedup=3_000_000)
    record["arrivals"]["computed"] = 1000 * 3_000_000
    reached, limited = said(tmp_path, record, Load(speedup="3000000"))
    assert "(load +75%)" in reached
    assert "no more than 25% of the time between two" in limited
    record["arrivals"]["computed"] = 1000 * 500_000
    assert len(said(tmp_path, record, Load(speedup="3000000"))) == 1


def test_no_arrival_point_is_told(tmp_path: Path) -> None:
    (text,) = said(tmp_path, samples(0, 0, {"name": "done", "kind": "throughput", "visits": 9}))
    assert "no arrival point" in text


def test_arrivals_that_are_only_counted_are_told(tmp_path: Path) -> None:
    (text,) = said(tmp_path, samples(0, 0, {"name": "in", "kind": "arrival", "visits": 9}))
    assert "in only counts arrivals" in text


def test_a_place_that_never_ran_is_told(tmp_path: Path) -> None:
    (text,) = said(tmp_path, samples(0, 0, {"name": "f", "kind": "arrival", "visits": 0}), placed=("f",))
    assert "no request arrived at f" in text


def test_too_few_to_measure_are_told(tmp_path: Path) -> None:
    (text,) = said(tmp_path, samples(2, 0, speedup=0), Load(speedup="25%"))
    assert "too few" in text


def test_without_amplification_nothing_is_said(tmp_path: Path) -> None:
    assert said(tmp_path, samples(0, 0), Load()) == []
