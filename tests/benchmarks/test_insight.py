"""The arithmetic of `make bench-insight`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import insight
import pytest


def report(*results: tuple[int, float, float, float], starred: tuple[int, ...] = ()) -> dict[str, Any]:
    curves = [
        {
            "location": f"a.c:{line}",
            "significant": line in starred,
            "curve": [{"speedup": 0.5, "effect": e, "low": low, "high": high}],
        }
        for line, e, low, high in results
    ]
    return {"results": curves}


def test_a_line_is_near_if_estimate_and_interval_are() -> None:
    effects = {1: 0.05, 2: 0.0, 3: 0.0, 4: 0.0}
    found = insight.score(report((1, 0.04, 0.03, 0.05), (2, 0.03, 0.02, 0.04), (3, 0.0, -0.1, 0.1)), effects)
    assert (found.near, found.knows) == (0.25, True)
    assert found.held == pytest.approx(2 / 3)
    assert found.error == pytest.approx(100 * ((0.01**2 + 0.03**2) / 3) ** 0.5)


def test_what_matters_must_have_an_estimate() -> None:
    assert not insight.score(report((2, 0.0, 0.0, 0.0)), {1: 0.05, 2: 0.0}).knows


def test_nothing_is_known_where_no_line_matters() -> None:
    assert not insight.score(report((1, 0.04, 0.03, 0.05)), {1: 0.04}).knows


def test_lines_that_save_5_percent_matter() -> None:
    assert insight.matter_of({1: 0.05, 2: 0.049, 3: 0.0, 4: 0.2}) == {1, 4}


def test_starred_effects_of_lines_that_have_none_are_false() -> None:
    found = report((1, 0.09, 0.08, 0.1), (2, 0.03, 0.02, 0.04), (3, 0.02, -0.1, 0.1), starred=(1, 2))
    assert insight.score(found, {1: 0.05, 2: 0.0, 3: 0.0}).false == 1


def test_each_mode_has_a_profile_of_its_own(tmp_path: Path) -> None:
    program = insight.Program(tmp_path / "serial_60", {})
    names = [insight.profile_of(program, mode).name for mode in insight.MODES]
    assert names == ["serial_60.combined.coz", "serial_60.one-at-a-time.coz"]


def test_a_profile_is_cut_at_a_count_of_samples(tmp_path: Path) -> None:
    second = 1_000_000_000
    records = [
        {"type": "run"},
        {"type": "samples", "duration": 2 * second},
        {"type": "experiment", "start": second, "duration": second},
        {"type": "experiment", "start": 3 * second, "duration": second},
        {"type": "samples", "duration": 8 * second},
    ]
    profile = tmp_path / "p.coz"
    profile.write_text("".join(json.dumps(record) + "\n" for record in records))
    found = insight.cut(profile, 4)
    assert found is not None
    path, end = found
    assert end == 2
    assert [json.loads(line) for line in path.read_text().splitlines()] == records[:3]
    assert insight.cut(profile, 1) is None


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
@pytest.mark.parametrize("shape", insight.SHAPES)
def test_effects_of_a_generated_program_fit_its_loops(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insight, "FOLDER", tmp_path)
    program = insight.generate(shape, 20, seed=3)
    lines = program.path.with_suffix(".c").read_text().splitlines()
    loops = {line: int(lines[line - 1].strip()[4:-1]) for line in program.effects}
    assert len(loops) == 20
    assert sum(loops.values()) == pytest.approx(insight.STEPS, rel=1e-3)
    longer = max(insight.LONGER, float(shape == "serial"))
    for line, effect in program.effects.items():
        assert effect == 0 or effect == pytest.approx(0.5 * loops[line] / insight.STEPS / longer, rel=1e-3)
    assert (min(program.effects.values()) == 0) == (shape != "serial")
