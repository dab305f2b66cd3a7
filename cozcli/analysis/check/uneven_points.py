"""A warning where a point's windows are selected by their own outcome.

A window counts for a point if it is visited soon after the window opens, and again soon after it closes.
Where visits are rare and irregular, windows with long gaps fall out, at a speedup more than in baselines: the
point then seems to gain from whatever slows it down. With n visits a window at random times, the part
2 exp(−n) falls out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from cozcli.analysis import messages
from cozcli.errors import Problem
from cozcli.profile.profile import Run
from cozcli.profile.records import ThroughputPoint

#: More of a point's windows than this without an interval between visits, and fewer visits in the others.
#: Where windows are without because they lie in another phase of the program, the others have many.
MAX_MISSED = 0.1
MIN_VISITS = 4
#: Windows begin at 150 ms, and double up to 10 s.
DOUBLINGS = 7


def warn_of_uneven_points(runs: Sequence[Run]) -> list[Problem]:
    """One for each point, of all windows together."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    unvisited = Counter[str]()
    for run in runs:
        if run.record.classic or run.record.end_to_end:
            continue
        of_run: defaultdict[str, list[int]] = defaultdict(list)
        for record in run.experiments:
            for point in record.points:
                if isinstance(point, ThroughputPoint):
                    of_run[point.name].append(point.visits)
        # Windows in which no point was visited are not in the profile. The first may be too short.
        empty = run.samples.discarded.get("few_visits", 0) if run.samples is not None else 0
        empty = max(0, empty - DOUBLINGS)
        for name, visits in of_run.items():
            found[name] += visits
            unvisited[name] += empty
    warnings = []
    for name, visits in sorted(found.items()):
        seen = [count for count in visits if count > 0]
        missed = 1 - len(seen) / (len(visits) + unvisited[name])
        if seen and missed > MAX_MISSED and sum(seen) < MIN_VISITS * len(seen):
            warnings.append(messages.point_visited_unevenly(name, missed))
    return warnings
