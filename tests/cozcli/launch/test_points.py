"""From the names of progress points to what counts their visits, with a stand-in for the helper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cozcli.errors import CozError
from cozcli.launch.ending import Ending
from cozcli.launch.environment import Settings, make_environment
from cozcli.launch.helper import Helper
from cozcli.launch.line_tables import LineTable, LineTables, Scope
from cozcli.launch.points import (
    AUTO,
    BREAKPOINT,
    HARDWARE,
    Chooser,
    Costs,
    LocationPoint,
    ResolvedPoint,
    WantedPoints,
    place_points,
    split_pair,
)
from cozcli.launch.run_summary import costly_points, killed_at_breakpoint
from cozcli.profile.tail import read_tail

CHEAP = Costs(4, "", 1500.0, True, 2000.0)
DEAR = Costs(4, "", 40_000.0, True, 7000.0)
NO_HARDWARE = Costs(0, "No such device", 0.0, True, 2000.0)
OTHER_MACHINE = Costs(4, "", 1500.0, False, 0.0)


def point(count: int = 1, no_instruction: str = "") -> ResolvedPoint:
    patches = ("" if no_instruction else "90//",) * count
    return ResolvedPoint("f", False, "/a.c:f", "f", "/bin/p", tuple(range(count)), patches, no_instruction)


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("a.c:3,b.c:4", ("a.c:3", "b.c:4")),
        ("f(int, long),g", ("f(int, long)", "g")),
        ("std::map<int, int>::at, h", ("std::map<int, int>::at", "h")),
        ("a", None),
        ("a,", None),
        ("a,b,c", None),
        ("f(int,long)", None),
    ],
)
def test_pairs(text: str, pair: tuple[str, str] | None) -> None:
    assert split_pair(text) == pair


@pytest.mark.parametrize(
    ("costs", "resolved", "chosen"),
    [
        (CHEAP, [point()], HARDWARE),
        (CHEAP, [point(4)], HARDWARE),
        (CHEAP, [point(5)], BREAKPOINT),
        (CHEAP, [point(3), point(2)], BREAKPOINT),
        (DEAR, [point()], BREAKPOINT),
        (DEAR, [point(no_instruction="tied")], HARDWARE),
        (NO_HARDWARE, [point()], BREAKPOINT),
        (OTHER_MACHINE, [point()], HARDWARE),
    ],
)
def test_the_means_are_chosen(costs: Costs, resolved: list[ResolvedPoint], chosen: str) -> None:
    assert Chooser(AUTO, costs).choose(resolved) == chosen


@pytest.mark.parametrize(
    ("by", "costs", "resolved", "said"),
    [
        (HARDWARE, NO_HARDWARE, [point()], "No such device"),
        (HARDWARE, CHEAP, [point(5)], "5 hardware breakpoints, and 4 can be had"),
        (BREAKPOINT, CHEAP, [point(no_instruction="tied")], "tied"),
        (BREAKPOINT, OTHER_MACHINE, [point()], "x86-64"),
        (AUTO, NO_HARDWARE, [point(no_instruction="tied")], "tied"),
        (AUTO, OTHER_MACHINE, [point(5)], "5 hardware breakpoints"),
    ],
)
def test_what_cannot_be_had_is_refused(
    by: str, costs: Costs, resolved: list[ResolvedPoint], said: str
) -> None:
    with pytest.raises(CozError) as refused:
        Chooser(by, costs).choose(resolved)
    assert said in refused.value.problem.text


def test_hardware_is_used_up() -> None:
    chooser = Chooser(AUTO, CHEAP)
    assert [chooser.choose([point(2)]) for _ in range(3)] == [HARDWARE, HARDWARE, BREAKPOINT]


def helper(folder: Path, names: list[dict[str, Any]]) -> Path:
    """Answers as `coz-linetable locations` and `breakpoints` do."""
    costs = {
        "hardware": {"free": 4, "visit": 1.0, "error": ""},
        "instruction": {"available": True, "visit": 1.0},
    }
    path = folder / "helper"
    answers = {"locations": {"names": names}, "breakpoints": costs}
    path.write_text(
        "#!/usr/bin/env python3\nimport json, sys\n"
        f"open({str(folder / 'calls')!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"
        f"print(json.dumps({answers!r}[sys.argv[1]]))\n"
    )
    path.chmod(0o755)
    return path


def found(name: str, *locations: str, nearest: tuple[str, ...] = (), problem: str = "") -> dict[str, Any]:
    address = {"address": 4096, "patch": "90//", "no_instruction": "", "no_breakpoint": problem}
    places = [{"location": where, "function": "f()", "addresses": [address]} for where in locations]
    is_line = ":" in name
    return {"name": name, "is_line": is_line, "places": places, "nearest": list(nearest)}


class Tables(LineTables):
    """One binary with one file."""

    def source_files(self) -> tuple[frozenset[str], list[str]]:
        return frozenset({"/src/a.c"}), ["/src/a.c"]


def tables(helper: Path, debuginfod: bool = False) -> LineTables:
    result = Tables(Helper(helper, debuginfod), Scope())
    result.tables.append(LineTable("/bin/p", "/t"))
    return result


def test_points_are_placed(tmp_path: Path) -> None:
    stand_in = helper(tmp_path, [found("f", "/src/a.c:f()"), found("a.c:3", "/src/a.c:3")])
    wanted = WantedPoints(progress=["f", "f"], sampled=["a.c:3"], latency=[("f", "a.c:3")])
    points = place_points(tables(stand_in), wanted)
    assert [point.encode() for point in points] == [
        "throughput\tsamples\t\t\t/src/a.c:3",
        "throughput\thardware\t/bin/p\t1000=90//\tf()",
        "begin\thardware\t/bin/p\t1000=90//\tf,a.c:3",
        "end\thardware\t/bin/p\t1000=90//\tf,a.c:3",
    ]


@pytest.mark.parametrize(
    ("answer", "wanted", "said"),
    [
        (found("f"), WantedPoints(progress=["f"]), "no function f"),
        (found("a.c:9", nearest=("/src/a.c:8",)), WantedPoints(sampled=["a.c:9"]), "no line with code a.c:9"),
        (found("f", "/a.c:f", "/b.c:f"), WantedPoints(progress=["f"]), "2 locations"),
        (found("f", "/a.c:f", problem="a loop"), WantedPoints(progress=["f"]), "a loop"),
        (found("b.h:3", "/usr/b.h:3"), WantedPoints(sampled=["b.h:3"]), "not in the source scope"),
        (found("f", "/src/a.c:f"), WantedPoints(sampled=["f"]), "is none"),
    ],
)
def test_names_that_are_not_one_place(
    tmp_path: Path, answer: dict[str, Any], wanted: WantedPoints, said: str
) -> None:
    with pytest.raises(CozError) as refused:
        place_points(tables(helper(tmp_path, [answer])), wanted)
    assert said in refused.value.problem.text
    assert refused.value.problem.hint


def test_nothing_is_asked_without_names() -> None:
    assert place_points(tables(Path("/nowhere/helper")), WantedPoints()) == []


@pytest.mark.parametrize("debuginfod", [False, True])
def test_points_are_looked_for_where_tables_are(tmp_path: Path, debuginfod: bool) -> None:
    stand_in = helper(tmp_path, [found("f", "/src/a.c:f()")])
    place_points(tables(stand_in, debuginfod), WantedPoints(progress=["f"]))
    locations = (tmp_path / "calls").read_text().splitlines()[0]
    option = "--debuginfod " if debuginfod else ""
    assert locations == f"locations {option}--location f /bin/p"


def test_the_environment_has_the_points() -> None:
    point = LocationPoint("throughput", "hardware", "/bin/p", (4096, 17), "f", ("c3//",))
    settings = Settings(Path("/l.so"), Path("/bin/p"), Path("/o"), (), 1, points=[point])
    assert make_environment(settings, {})["COZ_POINTS"] == "throughput\thardware\t/bin/p\t1000=c3//,11\tf"
    assert "COZ_POINTS" not in make_environment(settings._replace(points=()), {"COZ_POINTS": "old"})


def test_costly_points_are_told(tmp_path: Path) -> None:
    profile = tmp_path / "p.coz"
    counts = [
        {"name": "f", "kind": "throughput", "visits": 100_000},
        {"name": "g", "kind": "throughput", "visits": 10},
        {"name": "h", "kind": "latency", "arrivals": 30_000, "departures": 20_000},
    ]
    times = {"run_time": 1_000_000_000, "duration": 1_000_000_000, "total": 1}
    record = {"type": "samples", **times, "points": counts}
    profile.write_text(json.dumps(record, separators=(",", ":")) + '\n{"type":"samples","dur')
    points = [
        LocationPoint("throughput", "breakpoint", "/b", (1,), name, ("90//",), 2000.0) for name in "fgh"
    ]
    throughput, latency = costly_points(read_tail(profile), points)
    assert throughput.text.startswith("f was reached 100,000 times a second")
    assert "20%" in throughput.text
    assert latency.text.startswith("h was reached 50,000 times a second")
    assert costly_points(read_tail(profile), []) == []


@pytest.mark.parametrize(
    ("by", "signal", "told"), [("breakpoint", 5, 1), ("hardware", 5, 0), ("breakpoint", 6, 0)]
)
def test_end_by_a_breakpoint_is_told(tmp_path: Path, by: str, signal: int, told: int) -> None:
    profile = tmp_path / "profile.coz"
    run = {"type": "run", "points": [{"name": "f", "kind": "throughput", "by": by}]}
    earlier = "{}\n"
    profile.write_text(
        earlier + json.dumps(run) + "\n" + json.dumps({"type": "exit", "signal": signal}) + "\n"
    )
    ending = Ending(signal=signal)
    found = killed_at_breakpoint(read_tail(profile, len(earlier)), ending)
    assert len(found) == told
    assert all("SIGTRAP" in problem.text and " f " in problem.text for problem in found)
    assert killed_at_breakpoint(read_tail(profile, profile.stat().st_size), ending) == []
