"""The result of `coz bias`, free of the packages that estimate it. Times are ratios, shares are fractions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

Verdict = Literal["needed", "not needed", "inconclusive"]

#: Bytes after which the positions of a stack repeat, as far as the low twelve address bits decide.
PAGE = 4096
#: Random offsets of blocks among which a good one is looked for.
OFFSETS = 8


class Factor(NamedTuple):
    """What one factor does when it alone varies.

    share: of the variance of runs, the part that other places make; the rest is noise. low, high: its 95 %
    interval. deviation, with its interval: standard deviation of the time between places, as a fraction.
    levels: how many places were tried.
    """

    factor: str
    share: float
    low: float
    high: float
    deviation: float
    deviation_low: float
    deviation_high: float
    levels: int


class Change(NamedTuple):
    """A ratio of times, with its 95 % interval and the p of Wilcoxon's signed-rank test."""

    ratio: float
    low: float
    high: float
    p: float


class Aliasing(NamedTuple):
    """A place that is slow beyond chance.

    residue: of the environment's size, or of the distance between two blocks, modulo PAGE; None if that is
    unknown. slowdown: its time over that of other places. p: adjusted for the number of places that were
    tested. objects: what lies there by a model, for people; empty where that is unknown. remedy: what was
    tried against it. remedied: the time that this leaves over that of other places, or of the best place of
    the heap; replaced: the same with other allocators, by file name. period: bytes after which it is slow
    again; below PAGE, no objects collide: one is badly aligned.
    """

    factor: str
    residue: int | None
    slowdown: Change
    p: float
    objects: Sequence[str]
    remedy: str
    remedied: Change | None
    period: int = PAGE
    replaced: Mapping[str, Change] = {}


def slow_sizes(aliasing: Sequence[Aliasing]) -> list[int]:
    """The residues of environment sizes, in order."""
    return [each.residue for each in aliasing if each.factor == "environment" and each.residue is not None]


class Sweep(NamedTuple):
    """Time at each environment size over the median of all: `times[size]`."""

    times: Mapping[int, float]
    runs: int


class Correlation(NamedTuple):
    """A hardware event, counted at many places.

    r: correlation with cycles. p: of r, adjusted for the number of events. median: its count in a run. slow:
    its count at each slow place; of an environment size, in both pages.
    """

    event: str
    r: float
    p: float
    median: float
    slow: Sequence[float]


class Bias(NamedTuple):
    """All of it. layouts: time of each random layout over the default's; default_rank: share of them that are
    slower. fold_p: of the permutation test that sizes one page apart agree. counters: None if none were
    asked for, or there are none."""

    factors: Sequence[Factor]
    sweep: Sweep
    fold_p: float
    layouts: Sequence[float]
    default_rank: float
    aliasing: Sequence[Aliasing]
    verdict: Verdict
    randomise: Sequence[str]
    runs: int
    seconds: float
    counters: Sequence[Correlation] | None = None
