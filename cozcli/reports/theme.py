"""How pictures look: `coz plot --theme`. A theme is colours, and what tells gains from losses besides.

Colours are of Okabe and Ito's palette, which readers of any colour vision can tell apart; those of the dark
theme are its lighter ones. `print` does without colour: losses are dashed and have open points.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Theme(NamedTuple):
    """Colours, by use. `gain` and `harm`: curves that rise, and that fall (contention)."""

    name: str
    paper: str
    ink: str
    grey: str
    faint: str
    pale: str
    gain: str
    harm: str
    #: Text in the colour of harm.
    warning: str
    band: str
    band_alpha: float = 0.16
    harm_line: str = "-"
    harm_points_open: bool = False
    #: A map of matplotlib for curves at several loads, and the part of it that is used, from base load on.
    loads: str = "viridis"
    loads_range: tuple[float, float] = (0.85, 0.0)

    def style(self) -> dict[Any, Any]:
        """Settings of matplotlib. `Any`, because the stubs of some versions list every key as a literal."""
        return {
            "font.family": "sans-serif",
            "font.size": 9.0,
            "figure.facecolor": self.paper,
            "savefig.facecolor": self.paper,
            "axes.facecolor": self.paper,
            "text.color": self.ink,
            "axes.titlecolor": self.ink,
            "axes.edgecolor": self.grey,
            "axes.linewidth": 0.8,
            "axes.labelcolor": self.ink,
            "xtick.color": self.grey,
            "ytick.color": self.grey,
            "xtick.labelcolor": self.ink,
            "ytick.labelcolor": self.ink,
            "svg.fonttype": "none",
            "svg.hashsalt": "coz",
            "pdf.fonttype": 42,
        }


LIGHT = Theme(
    name="light",
    paper="#FFFFFF",
    ink="#222222",
    grey="#666666",
    faint="#8C8C8C",
    pale="#DDDDDD",
    gain="#0072B2",
    harm="#D55E00",
    warning="#B34F00",
    band="#EEEEEE",
)
DARK = Theme(
    name="dark",
    paper="#16181D",
    ink="#E8E8E8",
    grey="#A6ABB3",
    faint="#7F858E",
    pale="#33373F",
    gain="#56B4E9",
    harm="#E69F00",
    warning="#E69F00",
    band="#272B33",
    band_alpha=0.22,
    loads_range=(0.35, 1.0),
)
PRINT = Theme(
    name="print",
    paper="#FFFFFF",
    ink="#000000",
    grey="#444444",
    faint="#999999",
    pale="#E3E3E3",
    gain="#000000",
    harm="#000000",
    warning="#000000",
    band="#EEEEEE",
    harm_line="--",
    harm_points_open=True,
    loads="Greys",
    loads_range=(0.4, 1.0),
)
THEMES: Sequence[Theme] = (LIGHT, DARK, PRINT)


def theme_named(name: str) -> Theme:
    """One of `THEMES`, by its name."""
    return {theme.name: theme for theme in THEMES}[name]


def save(figure: Figure, path: Path) -> None:
    """Write a picture with the style that is in force; the same picture makes the same file."""
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower())
    figure.savefig(path, dpi=150, metadata=metadata)
