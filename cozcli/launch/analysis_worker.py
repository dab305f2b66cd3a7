"""The process behind `leading_lines.Analyst`: analyses a profile each time that a line comes in.

It writes one JSON object a line: first which packages are missing, then an answer to each request. It ends
with its standard input.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cozcli.analysis import PACKAGES
from cozcli.errors import CozError

if TYPE_CHECKING:
    from cozcli.analysis.result import LineResult

#: How many lines, from the top of the report.
TOP = 5
#: The speedup near which a line's effect is shown; it is known well if half of its interval is at most that.
SHOWN = 0.5
WELL = 0.02

Row = tuple[str, bool, float, float, float, bool]


def main() -> None:
    """Arguments: the profile, and perhaps `idle`."""
    profile = Path(sys.argv[1])
    # The program that is profiled needs the cores.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "idle" in sys.argv[2:]:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    _write({"missing": missing})
    if missing:
        return
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        importlib.import_module("cozcli.analysis.analyse")  # costs more than an analysis, and only once
        imported = time.process_time()
        for _ in sys.stdin:
            results = _results_of(profile)
            lines = [_row(result) for result in [r for r in results if not _cannot_matter(r)][:TOP]]
            _write({"lines": lines, "used": time.process_time() - imported, "known": _known(results)})


def _results_of(profile: Path) -> Sequence[LineResult]:
    """Ranked; none while nothing can be estimated. Intervals tell what a longer run would make narrower."""
    from cozcli.analysis.analyse import analyse
    from cozcli.profile.profile import load_profile

    try:
        return analyse(load_profile([str(profile)]), of_windows_only=True).results
    except CozError:
        return ()  # no experiments yet, which a further run may change


def _known(results: Sequence[LineResult]) -> tuple[int, int]:
    """Of combined windows: how many targets' effects are known well on all points, and of how many."""
    from cozcli.analysis.estimate.shape import effect_at

    halves: dict[str, float] = {}
    for result in results:
        if result.is_combined and (found := effect_at(result, SHOWN)) is not None:
            halves[result.location] = max(halves.get(result.location, 0.0), found.half)
    return sum(half <= WELL for half in halves.values()), len(halves)


def _cannot_matter(result: LineResult) -> bool:
    """Few data are enough of a target whose share of the time is small."""
    from cozcli.analysis.result import Mark

    return Mark.FEW_DATA in result.marks and result.bound is not None and result.bound * SHOWN <= WELL


def _row(result: LineResult) -> Row:
    from cozcli.analysis.estimate.shape import fitted_at
    from cozcli.analysis.result import Mark

    shown = fitted_at(result, SHOWN) or min(
        (point for point in result.curve if point.speedup > 0), key=lambda point: abs(point.speedup - SHOWN)
    )
    return (
        result.location,
        Mark.FEW_DATA not in result.marks,
        shown.speedup,
        shown.effect,
        (shown.high - shown.low) / 2,
        result.is_trusted,
    )


def _write(answer: object) -> None:
    print(json.dumps(answer), flush=True)
