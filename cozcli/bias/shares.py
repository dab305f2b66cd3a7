"""How much of the variance of runs comes from a factor, when it alone varies.

Places are tried several times each: a one-way analysis of variance with random effects. The variance between
places is (MSB − MSW) / k, its share of all is the intraclass correlation (Searle, Casella, McCulloch,
Variance Components, section 3.5). A kernel's placement comes but once; there the variance is that of
randomised runs less that of runs at one place.

Intervals are bootstrap intervals over whole places, since few places are slow, and slow by much: no normal
distribution. Noise has heavy tails, too, and few runs of a place may all be unlucky: the interval begins at 0
unless a permutation test tells the places from none. It shuffles runs among places, which is exact for any
noise. A place that one in n layouts has is missed by n layouts in a third of cases; the report says how many
were tried.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cozcli.bias.result import Factor

_DRAWS = 2000
#: Several factors are looked at; each has a false finding as often as that.
_SIGNIFICANT = 0.01


def between_places(factor: str, levels: Mapping[int, Sequence[float]], seed: int) -> Factor:
    """`levels`: times, as logarithms, of each place's runs; equally many of each."""
    times = np.array(list(levels.values()))
    generator = np.random.default_rng(seed)
    drawn = times[generator.integers(0, len(times), (_DRAWS, len(times)))]
    found = _components(times[None])[:, 0]
    shuffled = generator.permuted(np.tile(times.ravel(), (_DRAWS, 1)), axis=1).reshape(-1, *times.shape)
    chance = _at_least(found[0], _components(shuffled)[0])
    return _factor(factor, found, _components(drawn), chance, len(times))


def by_kernel(aslr: Sequence[float], fixed: Sequence[float], seed: int) -> Factor:
    """Randomised runs against runs at one place."""
    generator = np.random.default_rng(seed)

    def components(moved: NDArray[np.float64], still: NDArray[np.float64]) -> NDArray[np.float64]:
        noise = np.var(still, axis=-1, ddof=1)
        return np.stack([np.maximum(np.var(moved, axis=-1, ddof=1) - noise, 0), noise])

    moved, still = np.array(aslr), np.array(fixed)
    drawn = (values[generator.integers(0, len(values), (_DRAWS, len(values)))] for values in (moved, still))
    found = components(moved[None], still[None])[:, 0]
    runs = np.concatenate([moved - np.median(moved), still - np.median(still)])
    shuffled = generator.permuted(np.tile(runs, (_DRAWS, 1)), axis=1)
    chance = _at_least(found[0], components(shuffled[:, : len(moved)], shuffled[:, len(moved) :])[0])
    return _factor("aslr", found, components(*drawn), chance, len(moved))


def _at_least(found: float, by_chance: NDArray[np.float64]) -> float:
    """The p of a permutation test."""
    return float((1 + np.sum(by_chance >= found)) / (1 + len(by_chance)))


def _components(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Variance between places and within, of each draw. `times`: draws × places × runs; result: 2 × draws."""
    runs = times.shape[-1]
    within = np.var(times, axis=-1, ddof=1).mean(axis=-1)
    between = np.var(times.mean(axis=-1), axis=-1, ddof=1) - within / runs
    return np.stack([np.maximum(between, 0), within])


def _factor(
    name: str, found: NDArray[np.float64], drawn: NDArray[np.float64], chance: float, levels: int
) -> Factor:
    def share(components: NDArray[np.float64]) -> NDArray[np.float64]:
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
