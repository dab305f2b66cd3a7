"""The corrections, in the order in which they are applied.

| correction        | what it takes out                                  | how                           |
|-------------------|----------------------------------------------------|-------------------------------|
| QueueFlow         | what queues give while they drain                  | visits of windows             |
| MachineSpeed      | moments in which the machine was slow              | periods and weights of windows |
| AchievedSpeedup   | chance in how much delay a window got              | periods; error of all effects |
| OverheadOfSamples | what profiling adds to the program's period        | factor on effects, with error |
| PhaseOfLine       | that windows are measured only while the line runs | factor on effects, with error |

`analyse(profile, corrections=…)` runs with any others. The order matters: QueueFlow changes the visits that
MachineSpeed sees; AchievedSpeedup leaves windows alone that QueueFlow has corrected; OverheadOfSamples uses
the responses that MachineSpeed found; PhaseOfLine needs corrected ratios of periods.
"""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.analysis.correct.achieved_speedup import AchievedSpeedup
from cozcli.analysis.correct.machine_speed import MachineSpeed
from cozcli.analysis.correct.overhead import OverheadOfSamples
from cozcli.analysis.correct.phase import PhaseOfLine
from cozcli.analysis.correct.protocol import Context, Correction
from cozcli.analysis.correct.queue_flow import QueueFlow
from cozcli.analysis.input.series import Series

CORRECTIONS: tuple[Correction, ...] = (
    QueueFlow(),
    MachineSpeed(),
    AchievedSpeedup(),
    OverheadOfSamples(),
    PhaseOfLine(),
)


def correct(
    all_series: Sequence[Series], context: Context, corrections: Sequence[Correction] = CORRECTIONS
) -> list[Series]:
    """All series, corrected for everything in turn."""
    corrected = list(all_series)
    for correction in corrections:
        corrected = correction.adjust(corrected, context)
    return corrected
