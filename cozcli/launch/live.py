"""What `coz run` shows while the program runs: experiments, lines, the leading ones, and the time.

Every two seconds the records that were added to the profile are counted. The leading lines come from an
analysis in a process of the lowest priority, which begins anew only after a hundred times the processor time
that it took the last time: one per cent of one processor at most, however large the profile is.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cozcli.launch.leading_lines import Analyst, LeadingLine
from cozcli.messages import count, printable

if TYPE_CHECKING:
    from cozcli.profile.tail import ProfileTail
    from cozcli.status_row import StatusRow

_TICK = 2.0
#: Where there is no terminal (--live on): a line so often, in seconds.
_LINE_EVERY = 30.0
#: The first analysis, in seconds from the start; the share of a processor that analyses may take.
_FIRST, _SHARE = 10.0, 0.01


class Leading:
    """The leading lines by the last analysis, which is repeated as often as its cost allows."""

    def __init__(self, analyst: Analyst) -> None:
        self._analyst = analyst
        self._used = 0.0
        self._next = time.monotonic() + _FIRST
        self.lines: Sequence[LeadingLine] = ()
        self.known = (0, 0)

    def look(self) -> None:
        """Take an answer that has come, and ask again if it is time. Never waits."""
        if self._analyst.is_asked:
            answer = self._analyst.answer(wait=False)
            if self._analyst.is_asked:
                return
            used = answer.used - self._used if answer is not None else 0.0
            self._used = answer.used if answer is not None else 0.0
            self._next = time.monotonic() + max(_FIRST, used / _SHARE)
            if answer is not None:
                self.lines, self.known = answer.lines, answer.known
        elif time.monotonic() >= self._next:
            self._analyst.ask()

    def close(self) -> None:
        """End what runs."""
        self._analyst.close()


def compose(
    tail: ProfileTail,
    leaders: Sequence[LeadingLine],
    times: str,
    room: int,
    known: tuple[int, int] = (0, 0),
) -> str:
    """One line of at most `room` characters, with as many leading lines as fit.

    Few data are no lead, nor is an effect that is not real. `known`: of combined windows, see `Leaders`.
    """
    head = f"coz: {times}, {count(tail.experiments, 'experiment')}"
    plain = f"{head} on {count(tail.targets, 'line')}" if tail.targets else head
    full = f"{head}, {known[0]} of {count(known[1], 'line')} known to ±2 %" if known[1] else plain
    # Which line leads matters more than how many are known.
    shown = _leading(leaders, room - len(full))
    if not shown and (shown := _leading(leaders, room - len(plain))):
        full = plain
    return (full + shown)[:room]


def _leading(leaders: Sequence[LeadingLine], room: int) -> str:
    shown = ""
    for leader in leaders:
        if not leader.is_certain_enough:
            break
        if not leader.is_trusted:
            continue
        before = "; " if shown else "; if faster by "
        speedup = "" if shown and leader.speedup == leaders[0].speedup else f"{100 * leader.speedup:.0f} %: "
        name = printable(leader.location.rpartition("/")[2])
        more = f"{before}{speedup}{name} {100 * leader.effect:+.1f} ±{100 * leader.half:.1f} %"
        if len(shown + more) > room:
            break
        shown += more
    return shown


class Live:
    """The display of a series of runs: there between `start` and `close` of each, and counting them all."""

    def __init__(
        self, tail: ProfileTail, leading: Leading, times: Callable[[], str], row: StatusRow | None
    ) -> None:
        """`row` None: a line on standard error now and then. `times`: of the series, in words."""
        self._tail = tail
        self._leading = leading
        self._times = times
        self.row = row
        self._run: tuple[threading.Thread, threading.Event] | None = None

    def start(self) -> None:
        """The program has been started. Its first two seconds are its own: full-screen programs settle."""
        end = threading.Event()
        thread = threading.Thread(target=self._show, args=(end,), daemon=True)
        self._run = (thread, end)
        thread.start()

    def close(self) -> None:
        """It has ended. An analysis goes on: of short programs, one run is too short for it."""
        if self._run is not None:
            thread, end = self._run
            end.set()
            thread.join()
            self._run = None
        if self.row is not None:
            self.row.release()

    def finish(self) -> None:
        """There is no other run."""
        self._leading.close()

    def _show(self, end: threading.Event) -> None:
        last = time.monotonic()
        while not end.wait(_TICK):
            self._leading.look()
            if self.row is not None:
                self.row.show(self._text(self.row.columns()))
            elif time.monotonic() - last >= _LINE_EVERY:
                last = time.monotonic()
                print(self._text(200), file=sys.stderr, flush=True)

    def _text(self, room: int) -> str:
        with contextlib.suppress(OSError):
            self._tail.read()
        return compose(self._tail, self._leading.lines, self._times(), room, self._leading.known)
