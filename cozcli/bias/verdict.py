"""Do A/B results of this program need randomised layouts, and of what?

Two builds lie differently, so their difference has the places' variance twice, however often they are run. A
factor matters if that alone makes differences beyond the margin in one of twenty comparisons, or if a place
is slow by more than the margin for certain. ASLR does not count where it is on: there
each run has another of its places, as comparisons need.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from cozcli.bias.result import Aliasing, Factor, Verdict


def limit_of(margin: float) -> float:
    """The standard deviation between places at which differences of two exceed the margin in 5 % of cases."""
    return margin / (1.96 * math.sqrt(2))


def verdict_of(
    factors: Sequence[Factor], aliasing: Sequence[Aliasing], margin: float, randomised: bool
) -> tuple[Verdict, list[str]]:
    """The verdict, and what to randomise. randomised: by the kernel, as the user runs the program."""
    limit = limit_of(margin)
    slow = {each.factor for each in aliasing}
    factors = [each for each in factors if not (randomised and each.factor == "aslr")]
    randomise = [each.factor for each in factors if each.deviation_low > limit or each.factor in slow]
    if randomise:
        return "needed", randomise
    if all(each.deviation_high <= limit for each in factors):
        return "not needed", []
    return "inconclusive", [each.factor for each in factors if each.deviation_high > limit]
