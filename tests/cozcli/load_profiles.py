"""Runs from records made up by tests of load."""

from __future__ import annotations

import json
from typing import Any

from cozcli.profile.profile import Run, collect_runs
from cozcli.profile.reader import ReadProblems, read_records


def runs_of(records: list[dict[str, Any]]) -> list[Run]:
    problems = ReadProblems()
    runs = collect_runs(read_records([json.dumps(r).encode() + b"\n" for r in records], problems), "made up")
    assert not problems.rejected
    return runs
