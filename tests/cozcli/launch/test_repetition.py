"""--until: what is measured of a profile, and when it is enough."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic import Line, Model, to_bytes

from cozcli.launch.program import Ending
from cozcli.launch.repetition import Goal, Series, measure_precision

LINES = [Line("/s/a.c:1", lambda s: 0.5 * s), Line("/s/b.c:1", lambda s: 0.0)]


def profile_of(folder: Path, blocks: int) -> Path:
    path = folder / f"{blocks}.coz"
    path.write_bytes(to_bytes(Model(LINES).records(blocks)))
    return path


def test_precision_is_that_of_the_widest_leading_slope(tmp_path: Path) -> None:
    some, many = (measure_precision(profile_of(tmp_path, blocks)) for blocks in (60, 600))
    assert some.half is not None
    assert many.half is not None
    assert 0.002 < many.half < some.half < 0.1
    assert some.location in ("/s/a.c:1", "/s/b.c:1")


@pytest.mark.parametrize("blocks", [1, 4])
def test_few_data_have_no_precision(tmp_path: Path, blocks: int) -> None:
    assert measure_precision(profile_of(tmp_path, blocks)).half is None


def test_no_profile_has_no_precision(tmp_path: Path) -> None:
    (tmp_path / "empty.coz").touch()
    assert measure_precision(tmp_path / "empty.coz").half is None


def test_a_series_ends_when_intervals_are_narrow_enough(tmp_path: Path) -> None:
    path = profile_of(tmp_path, 120)
    half = measure_precision(path).half
    assert half is not None
    another, text = Series(Goal(until=half / 2), path).wants_another(Ending())
    assert another
    assert f"certain to ±{100 * half:.1f} points" in text
    another, _ = Series(Goal(until=half * 1.01), path).wants_another(Ending())
    assert not another
    another, _ = Series(Goal(until=half / 2, repeat=1), path).wants_another(Ending())
    assert not another


def test_too_few_data_are_no_reason_to_stop(tmp_path: Path) -> None:
    another, text = Series(Goal(until=0.5), profile_of(tmp_path, 1)).wants_another(Ending())
    assert another
    assert "too few data" in text
