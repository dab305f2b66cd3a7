"""Windows with a partner: two large targets are sped up at once, so that it shows whether they help together.

A companion costs the program little. A *partner* is recorded like one, but saves a good part of the time, as
the main target does. Its windows say nothing about the main target alone, and so are series of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from cozcli.analysis.input.targets import shares_of_time
from cozcli.analysis.input.windows import Window, Windows
from cozcli.profile.profile import Run
from cozcli.profile.records import Companion, ExperimentRecord

#: From this dose on, speedup × share, a companion is a partner.
MIN_DOSE = 0.04
#: And from this part of the limit of all companions' dose on; a companion has half of that limit at most.
MIN_PART = 0.55


def min_partner_dose(limit: float) -> float:
    """The dose of a partner is at least this, where that of all companions together is at most `limit`."""
    return max(MIN_DOSE, MIN_PART * limit)


def with_partners_apart(windows: Windows, runs: Sequence[Run]) -> Windows:
    """The same windows; those with a partner by the names of both targets instead of the main one's."""
    shares = _shares(runs)
    apart: dict[str, list[Window]] = {}
    for location, of_target in windows.by_target.items():
        for window in of_target:
            names = [location, *_partners(window.record, runs[window.run], shares)]
            apart.setdefault(" + ".join(names), []).append(window)
    return replace(windows, by_target=apart)


def records_without_partner(runs: Sequence[Run]) -> Iterator[tuple[Run, ExperimentRecord]]:
    """The windows that tell of no target, or of the main one alone, each with its run."""
    has_companions = any(record.companions for run in runs for record in run.experiments)
    shares = _shares(runs) if has_companions else {}
    for run in runs:
        for record in run.experiments:
            if not record.companions or not _partners(record, run, shares):
                yield run, record


def _shares(runs: Sequence[Run]) -> dict[str, float]:
    return {location: share for location, (share, _) in shares_of_time(runs).items()}


def _partners(record: ExperimentRecord, run: Run, shares: Mapping[str, float]) -> list[str]:
    least = min_partner_dose(run.record.companion_dose)

    def is_partner(companion: Companion) -> bool:
        location = run.targets[companion.number].location
        return companion.speedup * shares.get(location, 0.0) >= least

    return sorted(
        f"{run.targets[each.number].location} at {each.speedup:.0%}"
        for each in record.companions
        if is_partner(each)
    )
