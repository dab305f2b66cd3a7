"""How pictures look: themes, and names that are too long."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from synthetic import Line, Model, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.result import Analysis, CurvePoint, Quantile
from cozcli.cli import build_parser
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records
from cozcli.reports.base import COMMAND_LENGTH, shortened
from cozcli.reports.elide import elide_end, elide_path, text_width
from cozcli.reports.figure import draw_quantiles, write_figure
from cozcli.reports.theme import THEMES, Theme, theme_named


def analysis_of(lines: list[Line], blocks: int) -> Analysis:
    raw = to_bytes(Model(lines).records(blocks)).splitlines(keepends=True)
    return analyse(Profile(collect_runs(read_records(raw, ReadProblems()), "x"), ["x"]))


def luminance(colour: str) -> float:
    """As WCAG 2 defines it."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_text_and_curves_can_be_seen_on_their_paper(theme: Theme) -> None:
    for text in (theme.ink, theme.grey, theme.warning):
        assert contrast(text, theme.paper) >= 4.5, text
    for curve in (theme.gain, theme.harm):
        assert contrast(curve, theme.paper) >= 3, curve


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_command_line_knows_the_theme(theme: Theme) -> None:
    assert theme_named(build_parser("plot").parse_args(["plot", "--theme", theme.name]).theme) is theme


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_a_picture_has_the_colours_of_its_theme(tmp_path: Path, theme: Theme) -> None:
    lines = [Line("/src/a.c:1", lambda s: 0.4 * s), Line("/src/b.c:2", lambda s: -0.4 * s)]
    write_figure(analysis_of(lines, 60), tmp_path / "p.svg", theme=theme)
    svg = (tmp_path / "p.svg").read_text().lower()
    for colour in (theme.paper, theme.ink, theme.gain, theme.harm):
        assert colour.lower() in svg or (colour == "#000000" and "<path" in svg), colour
    # What tells a loss from a gain without colour.
    assert ("stroke-dasharray" in svg) == (theme.harm_line != "-")


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        ("storage/btree/insert.cpp:128", 500, "storage/btree/insert.cpp:128"),
        ("storage/engine/btree/insert.cpp:128", 160, "storage/…/insert.cpp:128"),
    ],
)
def test_long_paths_lose_inner_folders_first(text: str, room: float, expected: str) -> None:
    assert elide_path(text, room, 9.5, "bold") == expected


@pytest.mark.parametrize("room", [60, 90, 140])
def test_a_shortened_name_fits_and_keeps_its_line(room: float) -> None:
    short = elide_path("very/deep/folder/a_file_of_a_very_long_name_indeed.cpp:128", room, 9.5, "bold")
    assert text_width(short, 9.5, "bold") <= room
    assert short.endswith("28")
    assert "…" in short


def test_a_command_keeps_its_beginning() -> None:
    command = "Causal profile of zstd -d -q " + "archive.zst " * 600
    short = elide_end(command, 300, 12)
    assert short.startswith("Causal profile of zstd -d -q")
    assert short.endswith("…")
    assert text_width(short, 12) <= 300
    assert elide_end("Causal profile of zstd", 300, 12) == "Causal profile of zstd"


def test_hundreds_of_arguments_are_cut() -> None:
    command = "zstd -d " + "archive.zst " * 600
    assert len(shortened(command)) <= COMMAND_LENGTH
    assert shortened(command).endswith(" …")
    assert shortened("zstd -d archive.zst") == "zstd -d archive.zst"


def test_intervals_of_quantiles_end_at_the_panels_edge() -> None:
    """Longer ones than the panel would look like lines of the grid."""
    curve = tuple(
        CurvePoint(speedup, 0.3, low, high, 3)
        for speedup, low, high in ((0.0, 0.0, 0.0), (0.25, -0.6, 0.4), (0.5, 0.2, 1.1), (0.75, -7.0, 0.4))
    )
    quantile = Quantile(0.99, 1e6, 0.3, 0.1, 0.5, 0.01, curve)
    result = replace(analysis_of([Line("/a.c:1", lambda s: s / 2)], 60).results[0], quantiles=(quantile,))
    axes = Figure().subplots()
    draw_quantiles(axes, result, (-0.5, 1.0), THEMES[0])
    (intervals,) = axes.collections
    ends = [(segment[0][1], segment[1][1]) for segment in intervals.get_segments()]
    assert ends == [(0.0, 0.0), (-0.5, 0.4), (0.2, 1.0)]
