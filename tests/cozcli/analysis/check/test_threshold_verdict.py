"""Thresholds: what they mean, and that chance does not exceed them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from synthetic import Line, Model, to_bytes

from cozcli.analysis.analyse import analyse
from cozcli.analysis.check.threshold_syntax import GRAMMAR, parse_threshold
from cozcli.analysis.check.threshold_verdict import check_threshold
from cozcli.analysis.result import UNFIT, LineResult, Mark
from cozcli.profile.profile import Profile, collect_runs
from cozcli.profile.reader import ReadProblems, read_records


def results_of(lines: list[Line], blocks: int, seed: int = 1) -> tuple[LineResult, ...]:
    raw = to_bytes(Model(lines, seed=seed).records(blocks)).splitlines(keepends=True)
    return analyse(Profile(collect_runs(read_records(raw, ReadProblems()), "x"), ["x"])).results


LINES = [
    Line("/s/a.c:1", lambda s: 0.4 * s, function="f<int>"),
    Line("/s/b.c:2", lambda s: -0.3 * s),
    Line("/s/c.c:3", lambda s: 0.0),
]


@pytest.mark.parametrize(
    ("text", "is_exceeded"),
    [
        ("a.c:1 > 30%", True),
        ("a.c:1 > 50%", False),
        ("a.c:1>30%", True),
        ("a.c:1 > 15% at 50%", True),
        ("a.c:1 > 25% at 50%", False),
        ("f<int> > 30% on request", True),
        ("a.c:1 > 30% on other", False),
        ("b.c < -20%", True),
        ("b.c < -40%", False),
        ("c.c > 10%", False),
        ("c.c < -10%", False),
        ("% > 30%", True),
        ("nothing > 0%", False),
        ("operator> > 0%", False),
        ("a.c:1 < b.c:2 > 0%", False),
    ],
)
def test_thresholds(text: str, is_exceeded: bool) -> None:
    verdict = check_threshold(parse_threshold(text), results_of(LINES, 300))
    assert (verdict.result is not None) is is_exceeded


@pytest.mark.parametrize(
    "text",
    ["", "a.c:1", "a.c:1 > 10", "a.c:1 >= 10%", "> 10%", "a.c > x%", "a.c > 10% at 0%", "a.c > 10% at 101%",
     "a.c > 10% extra", "a.c > 10%\n", "a.c:1 >> 10%", "a.c:1 << 10%", "f<int>> > 10%"],
)  # fmt: skip
def test_others_are_refused_with_the_grammar(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no threshold") as refused:
        parse_threshold(text)
    assert GRAMMAR in str(refused.value)


def test_chance_exceeds_no_threshold() -> None:
    """Of builds with an effect of just the limit, one in forty may fail; with forty, one is expected."""
    exceeded = [
        check_threshold(
            parse_threshold("c.c > 0%"), results_of([LINES[0], Line("/s/c.c:3", lambda s: 0.0)], 60, seed)
        ).result
        for seed in range(40)
    ]
    assert sum(each is not None for each in exceeded) <= 4


def test_few_data_exceed_no_threshold() -> None:
    verdict = check_threshold(parse_threshold("a.c:1 > 0%"), results_of(LINES[:1], 2))
    assert verdict.result is None
    assert (verdict.looked_at, verdict.unfit) == (1, 1)


@pytest.mark.parametrize("mark", UNFIT)
def test_results_that_rest_on_too_little_exceed_no_threshold(mark: Mark) -> None:
    sound = results_of(LINES[:1], 60)
    assert check_threshold(parse_threshold("a.c:1 > 0%"), sound).result is not None
    doubtful = [replace(result, marks=(mark,)) for result in sound]
    assert check_threshold(parse_threshold("a.c:1 > 0%"), doubtful).result is None


def test_few_blocks_need_more_than_the_normal_distribution_says() -> None:
    """With five degrees of freedom, the ratio of intervals for forty effects and for one is 2.3, not 1.6."""
    (plain,) = [r for r in results_of([LINES[0]], 60) if r.location == "/s/a.c:1"]
    points = [replace(point, effect=0.2, low=0.1, high=0.3) for point in plain.curve[1:]]
    result = replace(plain, curve=(plain.curve[0], *points))
    threshold = parse_threshold("a.c:1 > 3%")
    assert check_threshold(threshold, [replace(result, freedom=math.inf)]).result is not None
    assert check_threshold(threshold, [replace(result, freedom=5.0)]).result is None
