"""What a causal profile predicts for the line that B makes faster."""

from __future__ import annotations

from typing import NamedTuple

from cozcli.analysis.analyse import analyse
from cozcli.analysis.estimate.shape import Effect, effect_at
from cozcli.analysis.rank.result_filter import ResultFilter
from cozcli.compare import messages
from cozcli.errors import CozError
from cozcli.profile.profile import load_profile

SPEEDUPS = (0.25, 0.5, 0.75, 1.0)


class Prediction(NamedTuple):
    """Effects of a location on a progress point: shares of the time for a visit that are saved."""

    location: str
    point: str
    effects: tuple[Effect, ...]


def predict(name: str, line: str) -> Prediction:
    """What the profile `name` predicts for the highest-ranked target that `line` matches.

    Raises:
        CozError: the profile cannot be read, or has no such line.
    """
    results = analyse(load_profile([name]), ResultFilter(line=line)).results
    for result in results:
        if result.kind == "throughput":
            found = (effect_at(result, speedup) for speedup in SPEEDUPS)
            return Prediction(result.location, result.point, tuple(effect for effect in found if effect))
    raise CozError(messages.no_prediction(name, line))
