"""What the runs of a series have sampled so far, for the next one.

A program that runs for a second is over before its own samples say which lines take how much of its time. So
the runtime gets those of the runs before, and can speed up many lines at once from the start.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from pathlib import Path

from cozcli.launch.environment import MAX_VALUE
from cozcli.profile.tail import read_tail

#: How many targets are handed over, the largest first (the runtime looks for each by its name), and the
#: smallest share of samples.
MAX_TARGETS, MIN_SHARE = 150, 0.001
#: What takes part in combined windows by a name that the runtime can look for.
_KINDS = ("line", "function")
#: What a location of these kinds has before the name.
_PREFIXED = ("wait", "lock", "region")


class EarlierSamples:
    """Samples by target, over all runs so far."""

    def __init__(self, profile: Path, beginning: int) -> None:
        """`profile`: where all runs go; `beginning`: where the first starts."""
        self._profile = profile
        self._position = beginning
        self._time = 0
        self._experiments = 0
        self._samples: Counter[tuple[str, str]] = Counter()  # by kind and name

    def _add_run(self) -> None:
        """Take in the run that was appended last."""
        try:
            tail = read_tail(self._profile, self._position)
            self._position = self._profile.stat().st_size
        except OSError:
            return  # then the next run knows less; that the profile cannot be read is said after all runs
        if tail.run is None or tail.samples is None or tail.run.granularity not in _KINDS:
            return
        self._time += tail.samples.run_time
        self._experiments += tail.samples.experiments
        for line in tail.samples.lines:
            kind = line.kind if line.kind in _PREFIXED else tail.run.granularity
            self._samples[kind, line.location.removeprefix(f"{line.kind} ")] += line.count

    def variables(self) -> dict[str, str]:
        """For the next run's environment (docs/launch_contract.md); to be called once after each run."""
        self._add_run()
        if not self._samples:
            return {}
        least = MIN_SHARE * self._samples.total()
        rows = [
            f"{kind}\t{name}\t{samples}"
            for (kind, name), samples in self._samples.most_common(MAX_TARGETS)
            if samples >= least and not {"\t", "\n"} & set(name)
        ]
        rows = [f"{self._time}\t{self._experiments}", *rows]
        sizes = itertools.accumulate(len(os.fsencode(row)) + 1 for row in rows)
        kept = [row for row, size in zip(rows, sizes, strict=True) if size <= MAX_VALUE]
        return {"COZ_EARLIER_SAMPLES": "\n".join(kept)}
