"""Did threads wait for a processor, and were they sampled as often as planned?

A pause in one thread lends its processor to another that waits for one, which no faster line would do.
Simulations with twice as many threads as cores err by up to 18 points, whatever the rules. Such results are
marked, and held to what cores can do (capacity.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from cozcli.analysis.input.windows import Window
from cozcli.profile.profile import Run
from cozcli.profile.records import ExperimentRecord

#: Mark results whose threads waited for a processor for longer than this share of their processor time.
MAX_WAITING = 0.1
#: Where the program's own threads fill this part of the cores, a smaller share says as much.
MIN_FILLED, MAX_WAITING_IF_FILLED = 0.85, 0.05
#: A program whose threads had, or waited for, this part of the cores' time is limited by them, not by load.
NEARLY_FILLED = 0.95
#: A timer that takes fewer samples than this part of the planned number is mentioned.
MIN_SAMPLING_RATE = 0.9


def waiting_share(windows: Sequence[Window], runs: Sequence[Run]) -> float:
    """Time that threads waited for a processor, as a part of the time that they had one; 0 if unknown.

    Where the program's own threads fill the cores, pauses shorten waiting, and all windows count. Elsewhere
    threads that wake from pauses may wait, though no core lacks; so baselines alone count.
    """
    known = [w for w in windows if w.record.core_wait >= 0 and not w.is_of_other_target]
    baselines = [window for window in known if window.record.speedup == 0]
    if baselines and filled(known, runs) <= MIN_FILLED:
        known = baselines
    had = sum(_processor_time(window, runs) for window in known)
    return sum(window.record.core_wait for window in known) / had if had else 0.0


def lacks_cores(windows: Sequence[Window], runs: Sequence[Run]) -> bool:
    """Did threads wait for a processor for so long that pauses lent processors to others?

    Where they fill the cores, less waiting in baselines says as much, but not what other programs took.
    """
    if waiting_share(windows, runs) > MAX_WAITING:
        return True
    known = [w for w in windows if w.record.machine_busy > 0 and w.record.core_wait >= 0]
    baselines = [w.record for w in known if w.record.speedup == 0 and w.record.processor_time > 0]
    had = sum(record.processor_time for record in baselines)
    waited = sum(max(record.core_wait - taken_by_others(record), 0) for record in baselines)
    return filled(known, runs) > MIN_FILLED and waited > MAX_WAITING_IF_FILLED * had


def filled(windows: Sequence[Window], runs: Sequence[Run]) -> float:
    """The part of the cores' time that the program had in baselines; 0 if unknown."""
    baselines = [w for w in windows if w.record.speedup == 0 and w.record.processor_time > 0]
    could = sum(runs[window.run].record.cores * window.record.duration for window in baselines)
    return sum(window.record.processor_time for window in baselines) / could if could else 0.0


def limited_by_cores(windows: Sequence[Window], runs: Sequence[Run]) -> bool:
    """Were the cores busy in baselines, with this program, or others while its threads waited?

    A client on the same machine takes what is left of them.
    """
    baselines = [w for w in windows if w.record.speedup == 0 and w.record.processor_time > 0]
    could = sum(runs[window.run].record.cores * window.record.duration for window in baselines)
    wanted = sum(w.record.processor_time + max(w.record.core_wait, 0) for w in baselines)
    busy = sum(w.record.processor_time + taken_by_others(w.record) for w in baselines)
    return 0 < NEARLY_FILLED * could <= min(wanted, busy)


def taken_by_others(record: ExperimentRecord) -> int:
    """Time of processors that other programs and machines had in a window; 0 if unknown."""
    return max(record.machine_busy - record.processor_time, 0) + max(record.machine_stolen, 0)


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
