"""What a run left in its profile: the exit record, and one line that says what came of it."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from cozcli.errors import Problem
from cozcli.launch import messages, point_messages
from cozcli.launch.fixed_targets import LONGEST_REGION, FixedTarget
from cozcli.launch.points import BREAKPOINT, PlacedPoint
from cozcli.launch.program import Ending


def append_ending(profile: Path, beginning: int, ending: Ending) -> None:
    """Add the `exit` record, unless the runtime wrote nothing that it could belong to.

    Raises:
        OSError: the profile cannot be read or written.
    """
    with profile.open("r+b") as stream:
        size = stream.seek(0, 2)
        if size == beginning:
            return
        stream.seek(size - 1)
        broken_off = stream.read(1) != b"\n"
    values = {"signal": ending.signal} if ending.signal else {"status": ending.status}
    record = json.dumps({"type": "exit", **values}) + "\n"
    with profile.open("ab") as stream:
        stream.write((b"\n" if broken_off else b"") + record.encode())


def describe(profile: Path, beginning: int, name: str) -> str | Problem:
    """What this run's records hold: how many experiments, in one line, or why there are none.

    Raises:
        OSError: the profile cannot be read.
    """
    experiments, lines = count_experiments(profile, beginning)
    if experiments:
        return messages.run_summary(experiments, lines, name, is_little(profile))
    return _explain(profile, beginning)


#: Experiments on a line from which on a report says something of it: blocks of three, and three of them.
ENOUGH_EXPERIMENTS = 9


def is_little(profile: Path) -> bool:
    """Has no line enough experiments, those of earlier runs included?

    Raises:
        OSError: the profile cannot be read.
    """
    of_lines = [location for location in _locations(profile, 0) if location]
    return bool(of_lines) and max(Counter(of_lines).values()) < ENOUGH_EXPERIMENTS


def count_experiments(profile: Path, beginning: int) -> tuple[int, int]:
    """How many experiments were recorded from a position on, and on how many lines (none: of load alone)."""
    locations = _locations(profile, beginning)
    return len(locations), len(set(locations) - {""})


def _locations(profile: Path, beginning: int) -> list[str]:
    """What each experiment from a position on was about; "" where it was load alone.

    The records are this run's own, and read without the checks of `cozcli.profile.reader`: a
    user waits for the prompt, and importing that takes longer than most profiles' counting.
    """
    locations: list[str] = []
    with profile.open("rb") as stream:
        stream.seek(beginning)
        for line in stream:
            if b'"experiment"' not in line:
                continue
            try:
                record = json.loads(line)
                if record["type"] == "experiment":
                    locations.append("" if record.get("kind") == "none" else str(record["location"]))
            except (ValueError, TypeError, KeyError, RecursionError):
                continue  # broken off, or not an experiment's record
    return locations


def never_sampled(profile: Path, beginning: int, fixed: Sequence[FixedTarget]) -> list[Problem]:
    """What of the chosen targets has no sample in this run; nothing if the run did not get to say.

    Raises:
        OSError: the profile cannot be read.
    """
    last = b""
    with profile.open("rb") as stream:
        stream.seek(beginning)
        for line in stream:
            if line.startswith(b'{"type":"samples"'):
                last = line
    try:
        record = json.loads(last)
        lines = [str(line["location"]) for line in record["lines"]]
        entered = {str(name) for name in record.get("regions", [])}
    except (ValueError, TypeError, KeyError, RecursionError):
        return []
    # A line under a caller is that line.
    sampled = {location for line in lines for location in (line, line.partition(" < ")[0])}
    missing = [target for target in fixed if target.location not in sampled]
    unknown = [t.name for t in missing if t.kind == "region" and t.name[:LONGEST_REGION] not in entered]
    others = [t.location for t in missing if t.name not in unknown or t.kind != "region"]
    problems = [messages.never_entered(unknown, sorted(entered))] if unknown else []
    return problems + ([messages.never_sampled(others)] if others else [])


#: Of one processor's time: what counting may take without being mentioned.
COSTLY = 0.05


def costly_points(profile: Path, beginning: int, points: Sequence[PlacedPoint]) -> list[Problem]:
    """Points whose visits took so much time that the program was another one.

    Raises:
        OSError: the profile cannot be read.
    """
    costs = {point.name: point.cost for point in points if point.cost > 0}
    if not costs:
        return []
    duration, visits = _last_counts(profile, beginning)
    found = []
    for name, cost in costs.items():
        share = visits.get(name, 0) * cost / duration if duration else 0.0
        if share > COSTLY:
            found.append(point_messages.costly_point(name, visits[name] / (duration / 1e9), cost, share))
    return found


def killed_at_breakpoint(profile: Path, beginning: int) -> list[Problem]:
    """Has a breakpoint instruction of ours perhaps ended the program? By this run's first and last record.

    Raises:
        OSError: the profile cannot be read.
    """
    with profile.open("rb") as stream:
        stream.seek(beginning)
        lines = stream.read().splitlines()
    try:
        first, last = json.loads(lines[0]), json.loads(lines[-1])
        names = [str(point["name"]) for point in first.get("points", []) if point["by"] == BREAKPOINT]
        is_trapped = last["type"] == "exit" and last.get("signal") == signal.SIGTRAP
    except (IndexError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []
    return [point_messages.killed_by_trap(names)] if names and is_trapped else []


def _last_counts(profile: Path, beginning: int) -> tuple[int, dict[str, int]]:
    """Of the last `samples` record: real time, and visits (of latency points both ends) by name."""
    duration, visits = 0, dict[str, int]()
    with profile.open("rb") as stream:
        stream.seek(beginning)
        for line in stream:
            if not line.startswith(b'{"type":"samples"'):
                continue
            try:
                record = json.loads(line)
                counts = [
                    (p["name"], p.get("visits", 0) + p.get("arrivals", 0) + p.get("departures", 0))
                    for p in record["points"]
                ]
                duration, visits = int(record["duration"]), dict(counts)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                continue  # broken off
    return duration, visits


def _explain(profile: Path, beginning: int) -> Problem:
    from cozcli.profile.diagnosis import explain_no_experiments
    from cozcli.profile.profile import collect_runs
    from cozcli.profile.reader import ReadProblems, read_records

    problems = ReadProblems()
    with profile.open("rb") as stream:
        stream.seek(beginning)
        runs = collect_runs(read_records(stream, problems), str(profile))
    return explain_no_experiments(runs, [reason for _, reason in problems.rejected])
