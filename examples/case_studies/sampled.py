"""What a function takes together with what it calls in libraries: by the samples of causal profiles.

perf's list is flat. Where most of a function's time is in instances of a library's generic code, as of Rust's
maps, these have other names after the change. The causal profiler gives that time to the function that called
them.
"""

from __future__ import annotations

import json
from pathlib import Path

from perf import Samples


def read(profile: Path) -> Samples:
    """All runs of a profile (docs/profile_format.md) by functions; its first point counts the units."""
    functions: dict[str, int] = {}
    units = 0.0
    for line in profile.read_text().splitlines():
        record = json.loads(line)
        if record["type"] != "samples" or not record["final"]:
            continue
        units += record["points"][0]["visits"]
        for entry in record["lines"]:
            functions[entry["function"]] = functions.get(entry["function"], 0) + entry["count"]
    if not functions or not units:
        raise SystemExit(f"{profile} has no samples, or no visits")
    return Samples(functions, units)
