"""How slow the machine was in each window, by two measures that know nothing of the program.

slowness: the runtime times a fixed piece of work at every sample (`probe_time`). Its logarithm, against what
the run's fastest windows took. stolen: log((busy + stolen)/busy) of the machine's processors, by the kernel's
count of what a hypervisor kept from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cozcli.analysis.statistics.arrays import Floats
from cozcli.profile.profile import Run
from cozcli.profile.records import ExperimentRecord, ReferenceRecord

#: The quantile of probe times that counts as undisturbed: windows at the machine's full speed are no rarity.
UNDISTURBED = 0.1
#: Twenty times slower or faster: beyond that a probe says no more.
MAX_SLOWNESS = 3.0
#: Nanoseconds: two of the ticks in which the kernel counts what the machine's processors did.
MIN_BUSY = 20_000_000
#: A window this much slower than the fastest (as a logarithm) counts half, if nothing is known of its point.
HALF_WEIGHT = 0.05
#: The same for stolen time, which periods follow less closely, and which is counted in ticks.
HALF_WEIGHT_STOLEN = 0.15


@dataclass(frozen=True)
class Response:
    """How a progress point's periods respond to the machine's speed (correct/machine_speed.py).

    slowness, stolen: the exponents γ and σ. half_slowness, half_stolen: h and g, at which windows count half.
    """

    slowness: float = 0.0
    stolen: float = 0.0
    half_slowness: float = HALF_WEIGHT
    half_stolen: float = HALF_WEIGHT_STOLEN

    def weights(self, slowness: Floats, stolen: Floats) -> Floats:
        """How much windows count, above 0 and up to 1; any shape."""
        doubt = (slowness / self.half_slowness) ** 2 + (stolen / self.half_stolen) ** 2
        return np.asarray(1.0 / (1.0 + doubt), dtype=np.float64)


#: Of a point of which nothing is known, or on a machine whose speed does not matter.
NO_RESPONSE = Response()


def reference_probe_times(runs: Sequence[Run]) -> list[float]:
    """What the probe takes while nothing disturbs the machine, ns, for each run; inf if it has no probes.

    Runs that are one window each are compared with each other.
    """
    whole = [r.probe_time for run in runs if run.record.end_to_end for r in run.experiments]
    references = []
    for run in runs:
        times = whole if run.record.end_to_end else [record.probe_time for record in run.experiments]
        known = [time for time in times if time > 0]
        references.append(float(np.quantile(known, UNDISTURBED)) if known else math.inf)
    return references


def slowness_of(probe_time: float, reference: float) -> float:
    """log(probe_time / reference), within ±`MAX_SLOWNESS`; 0 where unknown."""
    if probe_time <= 0 or math.isinf(reference):
        return 0.0
    # The difference of logarithms: the quotient of damaged numbers may underflow to 0.
    slowness = math.log(probe_time) - math.log(reference)
    return min(max(slowness, -MAX_SLOWNESS), MAX_SLOWNESS)


def stolen_share(record: ExperimentRecord | ReferenceRecord) -> float:
    """log((busy + stolen)/busy) of the machine's processors in a window; 0 where unknown.

    Both are counted in ticks. Where processors did next to nothing, there was next to nothing to steal from.
    """
    if record.machine_busy < 0 or record.machine_stolen < 0:
        return 0.0
    busy = max(record.machine_busy, MIN_BUSY)
    return min(math.log(busy + record.machine_stolen) - math.log(busy), MAX_SLOWNESS)
