"""What a run left in its profile: the exit record, one line that sums it up, and what went wrong."""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence
from pathlib import Path

from cozcli.errors import Problem
from cozcli.launch import messages
from cozcli.launch.ending import Ending
from cozcli.launch.fixed_targets import MAX_REGION_NAME, FixedTarget
from cozcli.launch.job import Job
from cozcli.launch.points import BREAKPOINT, LocationPoint
from cozcli.profile.tail import ProfileTail, read_tail

#: Experiments on a line from which on a report says something of it: blocks of three, and three of them.
ENOUGH_EXPERIMENTS = 9
#: A line is a companion in every fifth to tenth combined window or so; in fewer than ten it has few data.
ENOUGH_COMBINED = 80
#: Of one processor's time: what counting may take without being mentioned.
COSTLY = 0.05


def append_ending(profile: Path, beginning: int, ending: Ending, job: Job | None = None) -> None:
    """Add the `exit` record, and before it `job`, unless the runtime wrote nothing that they could belong to.

    Raises:
        OSError: the profile cannot be read or written.
    """
    with profile.open("r+b") as stream:
        size = stream.seek(0, 2)
        if size == beginning:
            return
        stream.seek(size - 1)
        is_incomplete = stream.read(1) != b"\n"
    values = {"signal": ending.signal} if ending.signal else {"status": ending.status}
    record = json.dumps({"type": "exit", **values}) + "\n"
    if job is not None and job.rank is not None:
        place = {"type": "job", "rank": job.rank, "ranks": job.size or 0, "job": job.name, "host": job.host}
        record = json.dumps(place) + "\n" + record
    with profile.open("ab") as stream:
        stream.write((b"\n" if is_incomplete else b"") + record.encode())


def describe(profile: Path, beginning: int, tail: ProfileTail, name: str) -> str | Problem:
    """How many experiments `tail`, which begins at `beginning`, has, in one line; or why there are none.

    Raises:
        OSError: the profile cannot be read.
    """
    if not tail.experiments:
        return _explain(profile, beginning)
    everything = read_tail(profile) if beginning else tail
    return messages.run.run_summary(tail.experiments, tail.targets, name, has_few(everything))


def has_few(tail: ProfileTail) -> bool:
    """Has no line enough experiments? Combined ones count for all lines."""
    if tail.companions:
        return tail.experiments < ENOUGH_COMBINED
    return bool(tail.locations) and max(tail.locations.values()) < ENOUGH_EXPERIMENTS


def never_sampled(tail: ProfileTail, fixed: Sequence[FixedTarget]) -> list[Problem]:
    """What of the chosen targets has no sample in any run; nothing if none got to say.

    Raises:
        OSError: the profile cannot be read.
    """
    samples = tail.samples_of_runs() if fixed else []
    if not samples:
        return []
    lines = {line.location for of_run in samples for line in of_run.lines}
    # A line under a caller is that line.
    sampled = lines | {location.partition(" < ")[0] for location in lines}
    regions = {name for of_run in samples for name in of_run.regions}
    missing = [target for target in fixed if target.location not in sampled]
    unknown = [
        target.name
        for target in missing
        if target.kind == "region" and target.name[:MAX_REGION_NAME] not in regions
    ]
    others = [t.location for t in missing if t.name not in unknown or t.kind != "region"]
    problems = [messages.targets.never_entered(unknown, sorted(regions))] if unknown else []
    return problems + ([messages.targets.never_sampled(others)] if others else [])


def costly_points(tail: ProfileTail, points: Sequence[LocationPoint]) -> list[Problem]:
    """Points whose visits took so much time that the program was another one."""
    costs = {point.name: point.cost for point in points if point.cost > 0}
    samples = tail.samples if costs else None
    if samples is None or samples.duration == 0:
        return []
    # Latency points are visited at both ends.
    visits = {point.name: point.visits + point.departures for point in samples.points}
    found = []
    for name, cost in costs.items():
        share = visits.get(name, 0) * cost / samples.duration
        if share > COSTLY:
            rate = visits[name] / (samples.duration / 1e9)
            found.append(messages.points.costly_point(name, rate, cost, share))
    return found


def killed_at_breakpoint(tail: ProfileTail, ending: Ending) -> list[Problem]:
    """Has a breakpoint instruction of ours perhaps ended the profiled program, which ended like this?"""
    run = tail.run if ending.signal == signal.SIGTRAP else None
    names = [point.name for point in run.points if point.by == BREAKPOINT] if run is not None else []
    return [messages.points.killed_by_trap(names)] if names else []


def left_behind(tail: ProfileTail) -> list[Problem]:
    """Processes that were profiled with the launched one, and have outlived it."""
    samples = tail.samples
    if samples is None or not samples.processes_running:
        return []
    return [messages.run.left_behind(samples.processes_running, samples.processes)]


def _explain(profile: Path, beginning: int) -> Problem:
    from cozcli.profile.diagnosis import explain_no_experiments
    from cozcli.profile.profile import collect_runs
    from cozcli.profile.reader import ReadProblems, read_records

    problems = ReadProblems()
    with profile.open("rb") as stream:
        stream.seek(beginning)
        runs = collect_runs(read_records(stream, problems), str(profile))
    return explain_no_experiments(runs, [reason for _, reason in problems.rejected])
