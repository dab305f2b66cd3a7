"""Did threads wait for a processor, and were they sampled as often as planned?

A pause in one thread lends its processor to another that waits for one, which no faster line would do.
Simulations with twice as many threads as cores err by up to 18 points, whatever the rules. Nothing corrects
it, so the result is marked.
"""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.analysis.input.windows import Window
from cozcli.profile.profile import Run

#: Mark results whose threads waited for a processor for longer than this share of their processor time.
MAX_WAITING = 0.1
#: A timer that takes fewer samples than this part of the planned number is mentioned.
MIN_SAMPLING_RATE = 0.9


def waiting_share(windows: Sequence[Window], runs: Sequence[Run]) -> float:
    """Time that threads waited for a processor, as a part of the time that they had one; 0 if unknown."""
    known = [w for w in windows if w.record.core_wait >= 0 and not w.is_of_other_target]
    had = sum(_processor_time(window, runs) for window in known)
    return sum(window.record.core_wait for window in known) / had if had else 0.0


def sampling_rate_achieved(windows: Sequence[Window], runs: Sequence[Run]) -> float:
    """Samples taken, as a share of those planned, where a timer takes them; 1 otherwise.

    A sample stands for one period of its line's time and delays the others by s periods. Where samples are
    rarer, the line gained less than s. Perf events sample time in user mode only, so their number says
    nothing: time in the kernel is not sped up, and need not be.
    """
    known = [w for w in windows if runs[w.run].record.sampling == "timer" and w.record.processor_time > 0]
    had = sum(window.record.processor_time for window in known)
    planned = sum(window.record.samples * runs[window.run].record.period for window in known)
    return min(planned / had, 1.0) if had else 1.0


def _processor_time(window: Window, runs: Sequence[Run]) -> int:
    if window.record.processor_time >= 0:
        return window.record.processor_time
    return window.record.samples * runs[window.run].record.period
