"""What is put into pages by their tests, here and in tests/viewer."""

from __future__ import annotations

from dataclasses import replace

from synthetic import Line, Model, many_lines, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.result import Analysis
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\"'><img src=x onerror=alert(1)>",
    "a&lt;b&quot;\\u003c\\",
    "\u2028\u2029\u0000\u0007\x1b[31m\u202e\ud800",
    "@DATA@ @SCRIPT@ \\1 $&",
    "]]>",
)


def hostile_lines() -> list[Line]:
    return [Line(f"/x/{name}.c:{i + 1}", lambda s: s / 3, name) for i, name in enumerate(HOSTILE)]


def analysis_of(lines: list[Line], blocks: int) -> Analysis:
    raw = to_bytes(Model(lines).records(blocks)).splitlines(keepends=True)
    return analyse(Profile(collect_runs(read_records(raw, ReadProblems()), "x"), ["x"]))


def five_hundred_lines() -> Analysis:
    """Of twenty speedups each. To analyse so many would take a minute; they are made of a few."""
    lines = many_lines(500)
    raw = to_bytes(Model(lines[:4], per_block=20).records(16)).splitlines(keepends=True)
    analysis = analyse(Profile(collect_runs(read_records(raw, ReadProblems()), "x"), ["x"]))
    results = tuple(
        replace(analysis.results[i % 4], location=line.location, function=line.function)
        for i, line in enumerate(lines)
    )
    return replace(analysis, results=results)
