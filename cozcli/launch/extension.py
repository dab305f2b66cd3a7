"""What an extension adds to a run (cozcli/extensions.py).

Its module `run` has `add_options(parser)` for the options of `coz run`, and `read(options)`, which returns a
`RunExtension`, or raises `CozError` if they contradict others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from cozcli.errors import Problem

if TYPE_CHECKING:
    from cozcli.launch.points import LocationPoint
    from cozcli.profile.tail import ProfileTail


class RunExtension(Protocol):
    """The extension's options of one `coz run`, read and checked."""

    @property
    def variables(self) -> Mapping[str, str]:
        """What the runtime is told besides (docs/launch_contract.md)."""

    @property
    def arrivals(self) -> Sequence[str]:
        """Locations where requests arrive."""

    @property
    def charges_arrivals(self) -> bool:
        """Does something happen at each arrival, so that counting them will not do?"""

    def describe(self, tail: ProfileTail, points: Sequence[LocationPoint]) -> list[str | Problem]:
        """What came of it: lines for the user, and what went wrong. `tail`: the records of this run."""
