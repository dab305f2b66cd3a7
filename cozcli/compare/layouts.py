"""How a run gets its layout: what moves a program's memory is told by variables of its environment.

Each way of moving is an `Arranger`. A side has any number of them; they are asked in order, for every run
that has a layout.
"""

from __future__ import annotations

from typing import Protocol

from cozcli.compare.design import Layout


class Arranger(Protocol):
    """One way of moving something: functions, blocks of the heap, stacks."""

    def arrange(self, environment: dict[str, str], layout: Layout) -> None:
        """Add what a run with this layout needs; `layout.seed` says where things go."""
