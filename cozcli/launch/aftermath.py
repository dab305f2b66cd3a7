"""What a run left in its profile: the exit record, and one line that says what came of it."""

from __future__ import annotations

import json
from pathlib import Path

from cozcli.errors import Problem
from cozcli.launch import messages
from cozcli.launch.program import Ending
from cozcli.profile.diagnosis import explain_no_experiments
from cozcli.profile.profile import Run, collect_runs
from cozcli.profile.reader import ReadProblems, read_records


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
    problems = ReadProblems()
    runs = runs_since(profile, beginning, problems)
    experiments = [experiment for run in runs for experiment in run.experiments]
    if experiments:
        lines = len({experiment.location for experiment in experiments})
        return messages.run_summary(len(experiments), lines, name)
    return explain_no_experiments(runs, [reason for _, reason in problems.rejected])


def runs_since(profile: Path, beginning: int, problems: ReadProblems) -> list[Run]:
    """The runs whose records start at a position in the file; line numbers count from there."""
    with profile.open("rb") as stream:
        stream.seek(beginning)
        return collect_runs(read_records(stream, problems), str(profile))
