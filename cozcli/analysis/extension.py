"""What an extension (cozcli/extensions.py) adds to an analysis: its `analysis` has `examine(runs)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cozcli.analysis.load_result import Scalability
from cozcli.errors import Problem
from cozcli.extensions import extensions
from cozcli.profile.profile import Run


@dataclass(frozen=True)
class Findings:
    """What runs say as a whole, beside the effects of targets.

    unusable: arrival speedups whose runs are left out. failure: the reason if none is left.
    """

    scalability: tuple[Scalability, ...] = ()
    unusable: frozenset[int] = frozenset()
    warnings: tuple[Problem, ...] = ()
    failure: Problem | None = None


def examine(runs: Sequence[Run]) -> Findings:
    """The findings of the extension, if there is one."""
    for module in extensions("analysis"):
        found: Findings = module.examine(runs)
        return found
    return Findings()
