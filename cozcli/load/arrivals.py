"""What counts of arrivals say: how often requests came, how much of the speedup was done, and its limit."""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.profile.records import Arrivals

#: By how much more than threads wait may be taken off without being mentioned.
MAX_SHORT = 0.02


def waiting_share(counts: Sequence[Arrivals]) -> float:
    """The part of the time between two arrivals in which their threads wait; 1 where that is unknown."""
    known = [arrivals for arrivals in counts if arrivals.computed >= 0]
    between = sum(arrivals.between for arrivals in known)
    return max(0.0, 1 - sum(arrivals.computed for arrivals in known) / between) if between else 1.0


def is_limited(counts: Sequence[Arrivals]) -> bool:
    """Was more taken off, at one speedup of arrivals, than their threads waited?"""
    known = [arrivals for arrivals in counts if arrivals.computed >= 0]
    between, number = sum(a.between for a in known), sum(a.count for a in known)
    if not between or not number:
        return False
    charged = sum(a.charged for a in known) / number * sum(a.intervals for a in known)
    return charged > 0 and charged / between > waiting_share(known) + MAX_SHORT
