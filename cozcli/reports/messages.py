"""Texts about reports that cannot be made."""

from __future__ import annotations

from cozcli.errors import Problem


def nothing_to_draw() -> Problem:
    """Requests at one load, and no line: coz amp that was stopped early."""
    return Problem(
        "there is no curve to draw: no line was measured, and requests came at one load only.",
        "coz report shows what there is. coz amp, run longer, measures other loads.",
    )
