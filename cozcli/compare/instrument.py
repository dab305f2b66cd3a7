"""What measures a run beyond its time and memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

#: After the run, with the side's name for messages: figures by the names of their metrics. It raises CozError
#: if there is nothing to read.
Reading = Callable[[str], Mapping[str, float]]


class Instrument(Protocol):
    """Attached to each run that counts."""

    def attached(self, environment: dict[str, str]) -> AbstractContextManager[Reading]:
        """From before the start of a run with this environment, which may be changed, to after its end."""
