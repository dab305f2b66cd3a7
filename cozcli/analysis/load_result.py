"""What an analysis says of load (`coz amp`). Fractions and nanoseconds.

Imports no numpy, as result.py.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LoadQuantile:
    """A quantile of the latency at one load, in nanoseconds, with its 95 % interval."""

    q: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LoadPoint:
    """One progress point at one level of load; `speedup` is against base load. Times in nanoseconds.

    load: the part of the time between two arrivals that is taken away. period: of the point, or its latency.
    arrival_rate, of all arrival points, and rate, of the point: per second of effective time; 0 where
    unknown.
    is_limited: computing of the thread that requests arrive in was taken away as well. quantiles: of the
    latency, where operations have identities.
    """

    arrival_speedup: int
    load: float
    period: float
    low: float
    high: float
    speedup: float
    speedup_low: float
    speedup_high: float
    arrival_rate: float
    rate: float
    windows: int
    is_limited: bool = False
    quantiles: tuple[LoadQuantile, ...] = ()


@dataclass(frozen=True)
class Scalability:
    """One progress point over all levels, by load. `saturation`: where it flattens; None: it does not.

    is_clear: False where it may as well be otherwise. limit: the load from which on levels are limited; None
    where none is.
    """

    point: str
    kind: str
    points: tuple[LoadPoint, ...]
    saturation: float | None = None
    saturation_low: float = 0.0
    saturation_high: float = 0.0
    is_clear: bool = True
    limit: float | None = None

    @property
    def has_base(self) -> bool:
        """Is there anything to compare with?"""
        return any(point.arrival_speedup == 0 for point in self.points)
