"""What runs under amplified load say as a whole: the hook of `cozcli.analysis`."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.analysis.extension import Findings
from cozcli.load import messages
from cozcli.load.pauses import levels_of_both_pauses
from cozcli.load.scalability import find_limit, measure_scalability, unusable_levels
from cozcli.profile.profile import Run


def examine(runs: Sequence[Run]) -> Findings:
    """Scalability, levels whose runs had another load than was asked for, and warnings."""
    unusable = unusable_levels(runs)
    warnings = [messages.false_load(level, lost) for level, lost in sorted(unusable.items())]
    if both := levels_of_both_pauses(runs):
        warnings.append(messages.both_pauses(len(both)))
    limit = find_limit(runs)
    if limit is not None:
        warnings.append(messages.load_limited(limit))
    return Findings(
        scalability=measure_scalability(runs),
        unusable=frozenset(unusable),
        warnings=tuple(warnings),
        failure=messages.no_load_reached() if unusable else None,
    )
