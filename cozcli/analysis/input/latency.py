"""Latency by Little's law: W = L / λ (dissertation §5.2.3.4; method: time average, not an instant)."""

from __future__ import annotations

from cozcli.profile.records import LatencyPoint


def latency_terms(point: LatencyPoint) -> tuple[float, float]:
    """The two terms of one window whose ratio is its latency, and whose sums give pooled latency.

    L is the mean number in progress over `elapsed`, λ = arrivals / elapsed, so
    W = L·elapsed / arrivals. Summing both terms over windows weights each by its arrivals.

    Returns:
        L·elapsed (nanoseconds spent in progress) and arrivals.
    """
    return point.in_progress * point.elapsed, float(point.arrivals)
