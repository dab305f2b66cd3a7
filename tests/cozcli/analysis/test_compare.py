"""Two profiles: which lines are the same, what changed, and that chance changes nothing."""

from __future__ import annotations

import pytest
from synthetic import Line, Model, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.compare import Estimate, baseline_periods, choose, compare, difference
from cozcli.analysis.result import Analysis
from cozcli.errors import CozError
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records


def profile_of(lines: list[Line], blocks: int, seed: int, period: float = 2e6) -> Profile:
    raw = to_bytes(Model(lines, seed=seed, period=period).records(blocks)).splitlines(keepends=True)
    return Profile(collect_runs(read_records(raw, ReadProblems()), "x"), ["x"])


def analysis_of(lines: list[Line], blocks: int = 120, seed: int = 1) -> Analysis:
    return analyse(profile_of(lines, blocks, seed))


def test_the_interval_of_a_difference() -> None:
    found = difference(Estimate(0.5, 0.2, 0.6), Estimate(0.7, 0.3, 1.5)).change
    assert found.value == pytest.approx(0.2)
    assert found.low == pytest.approx(0.2 - (0.4**2 + 0.1**2) ** 0.5)
    assert found.high == pytest.approx(0.2 + (0.8**2 + 0.3**2) ** 0.5)


def test_a_change_is_found_and_comes_first() -> None:
    before = [Line("/s/a.c:1", lambda s: 0.1 * s), Line("/s/b.c:1", lambda s: 0.5 * s)]
    after = [Line("/s/a.c:1", lambda s: 0.1 * s), Line("/s/b.c:1", lambda s: 0.2 * s)]
    found = compare(analysis_of(before, seed=1), analysis_of(after, seed=2))
    first, second = found.changes
    assert (first.after.location, first.certain) == ("/s/b.c:1", True)
    assert -0.36 < first.slope.change.low < -0.3 < first.slope.change.high < -0.24
    assert set(first.effects) == {0.25, 0.5, 0.75}
    assert not second.certain
    assert second.slope.change.low < 0 < second.slope.change.high


def test_between_runs_of_one_program_hardly_anything_changes() -> None:
    """Of 20 pairs of profiles of three lines each, one in twenty may have a mark; and 95 % cover 0."""
    lines = [Line("/s/a.c:1", lambda s: 0.4 * s), Line("/s/b.c:1", lambda s: 0.0)]
    lines.append(Line("/s/c.c:1", lambda s: -0.2 * s))
    changes = [
        change
        for seed in range(20)
        for change in compare(analysis_of(lines, 60, seed), analysis_of(lines, 60, seed + 100)).changes
    ]
    assert len(changes) == 60
    assert sum(change.certain for change in changes) <= 4
    assert sum(change.slope.change.low < 0 < change.slope.change.high for change in changes) >= 51


def test_moved_lines_are_matched_by_function() -> None:
    before = [
        Line("/s/a.c:10", lambda s: 0.4 * s, "f(int)"),
        Line("/s/a.c:20", lambda s: 0.1 * s, "g"),
        Line("/s/a.c:5", lambda s: 0.2 * s, "gone"),
    ]
    after = [
        # The number of another function's line before.
        Line("/s/a.c:20", lambda s: 0.4 * s, "f(long)"),
        Line("/s/a.c:30", lambda s: 0.1 * s, "g"),
        Line("/s/a.c:6", lambda s: 0.2 * s, "new"),
    ]
    found = compare(analysis_of(before), analysis_of(after, seed=2))
    pairs = {(c.before.location, c.after.location, c.moved) for c in found.changes}
    assert pairs == {("/s/a.c:10", "/s/a.c:20", True), ("/s/a.c:20", "/s/a.c:30", True)}
    assert [r.function for r in found.only_before] == ["gone"]
    assert [r.function for r in found.only_after] == ["new"]


def test_lines_of_a_function_are_not_guessed() -> None:
    before = [Line("/s/a.c:10", lambda s: 0.4 * s, "f"), Line("/s/a.c:12", lambda s: 0.1 * s, "f")]
    found = compare(analysis_of(before), analysis_of([Line("/s/a.c:13", lambda s: 0.1 * s, "f")]))
    assert found.changes == ()
    assert len(found.only_before) == 2
    assert len(found.only_after) == 1


def test_functions_without_a_name_in_common_are_different() -> None:
    before = [Line("/s/a.cpp:10", lambda s: 0.4 * s, "(anonymous namespace)::parse(int)")]
    after = [Line("/s/a.cpp:10", lambda s: 0.1 * s, "(anonymous namespace)::render(int)")]
    found = compare(analysis_of(before), analysis_of(after, seed=2))
    assert (len(found.changes), len(found.only_before), len(found.only_after)) == (0, 1, 1)


def test_builds_in_different_folders() -> None:
    before = [Line("/home/a/src/x/a.c:1", lambda s: 0.4 * s), Line("/home/a/src/b.c:1", lambda s: 0.0)]
    after = [Line("/ci/src/x/a.c:1", lambda s: 0.4 * s), Line("/ci/src/b.c:1", lambda s: 0.0)]
    found = compare(analysis_of(before), analysis_of(after))
    assert len(found.changes) == 2
    assert not any(change.moved for change in found.changes)


def test_builds_in_different_folders_may_have_a_region() -> None:
    """Which has no file that both could share."""
    builds = [
        analysis_of([Line(f"{root}/a.c:1", lambda s: 0.4 * s), Line("region parse", lambda s: 0.0)])
        for root in ("/home/a/src", "/ci/src")
    ]
    assert len(compare(*builds).changes) == 2


def test_few_data_change_nothing_for_certain() -> None:
    before = analysis_of([Line("/s/a.c:1", lambda s: 0.6 * s)], 2)
    after = analysis_of([Line("/s/a.c:1", lambda s: -0.6 * s)], 2)
    assert not compare(before, after).changes[0].certain


def test_choosing_and_periods() -> None:
    lines = [Line("/s/a.c:1", lambda s: 0.4 * s), Line("/s/b.c:1", lambda s: 0.0)]
    profile = profile_of(lines, 60, 1, period=2e6)
    found = compare(analyse(profile), analyse(profile))
    assert [c.after.location for c in choose(found, "b.c", None).changes] == ["/s/b.c:1"]
    with pytest.raises(CozError):
        choose(found, "c.c", None)
    assert baseline_periods(profile.runs)["request"] == pytest.approx(2e6, rel=0.05)
