"""How much of the variance of runs comes from a factor, when it alone varies.

Places are tried several times each: a one-way analysis of variance with random effects. The variance between
places is that of their means, less what noise makes of it; its share of all is the intraclass correlation
(Searle, Casella, McCulloch, Variance Components, section 3.5). ASLR repeats no place; there the variance is
that of randomised runs less that of runs at one place.

One run in twenty is an outlier: interrupts and other guests make it slower by 5 to 80 %. Outliers are left
out, or they alone decide. A run is one if it is far slower than the fastest third of its own place's runs: a
slow place has none, as all of its runs are slow. Under ASLR slow places and outliers cannot be distinguished,
so as many of the slowest runs are left out as may be outliers at one place: few slow places then do not
count, and the deviation comes out some per cent too small.

Intervals are bootstrap intervals over whole places, since few places are slow, and slow by much: no normal
distribution. Few runs of a place may all be unlucky: the interval begins at 0 unless permutation tests show
that places differ. They shuffle runs among places, outliers included, which is exact for any noise. A place
that one in n layouts has is missed by n layouts in a third of cases; the report says how many were tried.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cozcli.bias.result import Factor

_DRAWS = 2000
#: Several factors are looked at; each has a false finding as often as that.
_SIGNIFICANT = 0.01
#: Standard deviations above the usual time of its place, at which a run is an outlier.
_OUTLIER = 5.0
#: Where a larger share of runs seem to be outliers, places are slow at times, and no run is left out.
_MAX_OUTLIERS = 0.15
#: Of times, as logarithms: coarse clocks may show no difference at all.
_MIN_DEVIATION = 1e-4
#: Of normal noise, the standard deviation over the median of absolute deviations.
_PER_MEDIAN_DEVIATION = 1.4826

_Floats = NDArray[np.float64]


class _Places(NamedTuple):
    """Runs without outliers: their number, mean and sum of squared deviations, draws × places each."""

    runs: _Floats
    mean: _Floats
    squares: _Floats

    def drawn(self, which: NDArray[np.int64]) -> _Places:
        """Of the only draw, these places: `which` is draws × places."""
        return _Places(*(values[0][which] for values in self))

    def components(self) -> _Floats:
        """Variance between places and within, of each draw: 2 × draws."""
        within = self.squares.sum(axis=-1) / np.maximum((self.runs - 1).sum(axis=-1), 1)
        between = np.var(self.mean, axis=-1, ddof=1) - within * (1 / self.runs).mean(axis=-1)
        return np.stack([np.maximum(between, 0), within])


def between_places(factor: str, levels: Mapping[int, Sequence[float]], seed: int) -> Factor:
    """`levels`: times, as logarithms, of each place's runs; equally many of each, at least two."""
    times = np.array(list(levels.values()))
    generator = np.random.default_rng(seed)
    places = _without_outliers(times[None])
    found = places.components()[:, 0]
    drawn = places.drawn(generator.integers(0, len(times), (_DRAWS, len(times)))).components()
    chance = _chance_of_places(times, found[0], generator)
    return _factor(factor, found, drawn, chance, len(times))


def _chance_of_places(times: _Floats, found: float, generator: np.random.Generator) -> float:
    """The p of a permutation test of `found`, the variance between places, and of one of ranks.

    Ranks find many places that differ a little, which outliers hide from variances; variances find few slow
    places. The smaller p is doubled (Bonferroni).
    """
    order = generator.permuted(np.tile(np.arange(times.size), (_DRAWS, 1)), axis=1)
    of_variance = _at_least(
        found, _without_outliers(times.ravel()[order].reshape(-1, *times.shape)).components()[0]
    )
    _, which, number = np.unique(times, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(number) - number / 2)[which.ravel()]
    between = np.var(ranks[order].reshape(-1, *times.shape).mean(axis=-1), axis=-1)
    of_ranks = _at_least(float(np.var(ranks.reshape(times.shape).mean(axis=-1))), between)
    return min(1.0, 2 * min(of_variance, of_ranks))


def by_aslr(aslr: Sequence[float], fixed: Sequence[float], seed: int) -> Factor:
    """Randomised runs against runs at one place."""
    generator = np.random.default_rng(seed)
    moved, still = np.array(aslr), np.array(fixed)
    outliers = int(np.sum(_outliers(still[None, None])))
    # There may be as many by bad luck.
    kept = 1 - (outliers + 2 * math.sqrt(outliers + 1)) / len(still)

    def components(moved: _Floats, still: _Floats) -> _Floats:
        noise = np.var(still, axis=-1, ddof=1)
        return np.stack([np.maximum(np.var(moved, axis=-1, ddof=1) - noise, 0), noise])

    fastest = [_fastest(values, kept) for values in (moved, still)]
    found = components(*(values[None] for values in fastest))[:, 0]
    drawn = (values[generator.integers(0, len(values), (_DRAWS, len(values)))] for values in fastest)
    runs = np.concatenate([moved - np.median(moved), still - np.median(still)])
    shuffled = np.split(generator.permuted(np.tile(runs, (_DRAWS, 1)), axis=1), [len(moved)], axis=1)
    chance = _at_least(found[0], components(*(_fastest(values, kept) for values in shuffled))[0])
    return _factor("aslr", found, components(*drawn), chance, len(moved))


def _outliers(times: _Floats) -> NDArray[np.bool_]:
    """Which of `times` (draws × places × runs) are outliers."""
    apart = np.abs(np.diff(times, axis=-1)).reshape(len(times), -1)
    deviation = _PER_MEDIAN_DEVIATION / math.sqrt(2) * np.median(apart, axis=1)
    typical = np.sort(times, axis=-1)[..., (times.shape[-1] - 1) // 3, None]
    found = times - typical > _OUTLIER * np.maximum(deviation, _MIN_DEVIATION)[:, None, None]
    return np.asarray(found & (found.mean(axis=(1, 2), keepdims=True) <= _MAX_OUTLIERS))


def _without_outliers(times: _Floats) -> _Places:
    """Of `times` (draws × places × runs). No place loses all of its runs."""
    kept = ~_outliers(times)
    runs = kept.sum(axis=-1).astype(np.float64)
    mean = np.where(kept, times, 0).sum(axis=-1) / runs
    squares = np.where(kept, (times - mean[..., None]) ** 2, 0).sum(axis=-1)
    return _Places(runs, mean, squares)


def _fastest(times: _Floats, share: float) -> _Floats:
    """So large a share of `times` (… × runs)."""
    return np.sort(times, axis=-1)[..., : max(2, round(share * times.shape[-1]))]


def _at_least(found: float, by_chance: _Floats) -> float:
    """The p of a permutation test."""
    return float((1 + np.sum(by_chance >= found)) / (1 + len(by_chance)))


def _factor(name: str, found: _Floats, drawn: _Floats, chance: float, levels: int) -> Factor:
    def share(components: _Floats) -> _Floats:
        return np.asarray(components[0] / np.maximum(components.sum(axis=0), 1e-30))

    low, high = np.percentile(share(drawn), [2.5, 97.5])
    deviation_low, deviation_high = np.sqrt(np.percentile(drawn[0], [2.5, 97.5]))
    if chance >= _SIGNIFICANT:
        low = deviation_low = 0.0
    return Factor(
        name,
        float(share(found)),
        float(low),
        float(high),
        math.sqrt(float(found[0])),
        float(deviation_low),
        float(deviation_high),
        levels,
    )
