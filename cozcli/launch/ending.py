"""How a run of a program ended."""

from __future__ import annotations

import signal
from typing import NamedTuple


class Ending(NamedTuple):
    """How the program ended: by a status, or (`signal` above 0) by a signal.

    `interrupted`: somebody wanted it to end, by Ctrl-C or a signal to us, however it took that. `on_time`: it
    ended by the SIGTERM that we sent it when its time was over (or after it).
    """

    status: int = 0
    signal: int = 0
    interrupted: bool = False
    on_time: bool = False

    @property
    def ended_as_asked(self) -> bool:
        """Was the end that of --end-after? A crash on the way is none."""
        return self.on_time and not self.interrupted and self.signal in (0, signal.SIGTERM)
