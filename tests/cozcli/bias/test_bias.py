"""`coz bias`: variance by factor, slow places, verdicts, output and refusals; programs are simulated."""

import json
import math
import os
import random
from pathlib import Path

import numpy as np
import pytest

from cozcli import cli
from cozcli.bias import shares, spikes, study
from cozcli.bias.factors import SIZES, CodeLibrary, HeapLibrary, Movers, Place, find_movers, layout
from cozcli.bias.measure import Runner, by_level, measure
from cozcli.bias.objects import parse
from cozcli.bias.plan import LAYOUTS, Plan, plan_for
from cozcli.bias.report import Report, render_json, render_text
from cozcli.bias.result import Aliasing, Bias, Change, Factor, Sweep
from cozcli.bias.verdict import limit_of, verdict_of
from cozcli.compare.function_layouts import FunctionLayouts
from cozcli.compare.trial import PADDING, FailedRunError, Side, environment_of
from cozcli.errors import CozError, Problem
from cozcli.launch.layout_plan import LayoutPlan

FACTORS = ["environment", "stack", "heap", "aslr"]
PLAN = Plan(SIZES, FACTORS, 3, 5, True)
LAYOUT_PLAN = LayoutPlan("/p", "/cache/p.cozlayout", Path("/lib/libcoz-layout.so"), 1, 1, 1, 0, 0, [])
#: Runs, not enough for two rounds.
FEW = 2 * PLAN.runs() // PLAN.rounds - 50


class Simulated(Runner):
    """A program of 30 ms that is slow at some sizes, on a machine that changes its speed."""

    def __init__(self, slow, by=0.3, seed=1):
        super().__init__(["prog"], Movers(None, True))
        self._slow, self._by = slow, by
        self._random = random.Random(seed)

    def time(self, place):
        self.runs += 1
        speed = 0.3 * math.sin(self.runs / 150)
        outlier = 0.4 * (self._random.random() < 0.02)
        slow = self._by * (place.environment % 4096 in self._slow)
        return math.log(0.03) + speed + slow + outlier + self._random.gauss(0, 0.005)


def sweep(slow, seed=1):
    runner = Simulated(slow, seed=seed)
    return runner, by_level(measure(runner, PLAN, lambda done: None), "environment")


def fresh_runs(slow, seed=1):
    runner, sizes = sweep(slow, seed)
    found = spikes.candidates(sizes, 0.01)
    return found, spikes.test(runner, found, PLAN.sizes, seed, lambda: None), sizes


def test_a_round_has_every_size_once_and_the_same_places_again():
    order = PLAN.order()
    first, second = next(order), next(order)
    assert first != second
    assert sorted(first) == sorted(second)
    assert sorted(run.level for run in first if run.kind == "environment") == list(SIZES)
    assert sum(run.kind == "random" for run in first) == LAYOUTS
    assert all(run.place.randomised == (run.kind in ("aslr", "default")) for run in first)
    assert next(Plan(SIZES, FACTORS, 3, 5, True).order()) == first


def test_short_of_time_it_tries_the_same_residues_in_both_pages():
    plan = plan_for(20, 0.03, FACTORS, 1, True)
    assert 32 <= len(plan.sizes) < len(SIZES)
    assert {size + 4096 for size in plan.sizes if size < 4096} == {
        size for size in plan.sizes if size >= 4096
    }
    assert plan_for(1, 0.03, FACTORS, 1, True) is None
    assert plan.rounds == 2
    assert plan_for(35, 0.03, FACTORS, 1, True).rounds == 3
    once = plan_for(75, 0.03, FACTORS, 1, True)
    assert (len(once.sizes), once.repeats) == (len(SIZES), 1)


def test_with_enough_time_each_seed_is_tried_several_times_in_a_round():
    plan = plan_for(300, 0.03, FACTORS, 1, True)
    assert (len(plan.sizes), plan.rounds) == (len(SIZES), 6)
    levels = [run.level for run in next(plan.order()) if run.kind == "stack"]
    assert {levels.count(level) for level in levels} == {3}


def test_drift_and_outliers_are_not_taken_for_places():
    _, sizes = sweep(slow=())
    medians = np.array([np.median(times) for times in sizes.values()])
    assert np.percentile(medians, 99) - np.percentile(medians, 1) < 0.05
    factor = shares.between_places("environment", sizes, 1)
    assert factor.low == factor.deviation_low == 0


@pytest.mark.parametrize("seed", range(4))
def test_drift_makes_runs_of_a_place_no_more_alike(seed):
    measured = measure(Simulated(slow=(), seed=seed), PLAN, lambda done: None)
    times = np.array(list(by_level(measured, "environment").values()))
    near = np.clip(times - np.median(times), -0.015, 0.015)
    correlations = np.corrcoef(near.T)[np.triu_indices(PLAN.rounds, 1)]
    assert abs(np.mean(correlations)) < 0.075


def test_slow_sizes_are_found_with_their_remedy():
    found, answers, sizes = fresh_runs(slow=(3280, 3296))
    assert (found[0].first, found[0].last) == (3280, 3296)
    assert spikes.permutation_p(spikes.folded(sizes)[1], 1) < 0.05
    slow = [answer for answer in answers if answer.is_slow(0.01)]
    assert [answer.candidate for answer in slow] == found[:1]
    assert slow[0].slowdown.low < math.exp(0.3) < slow[0].slowdown.high * 1.05
    assert abs(slow[0].moved.ratio - 1) < 0.05
    assert shares.between_places("environment", sizes, 1).low > 0


@pytest.mark.parametrize("seed", range(6))
def test_where_nothing_is_slow_nothing_is_found(seed):
    _, answers, _ = fresh_runs(slow=(), seed=seed)
    assert not [answer for answer in answers if answer.is_slow(0.01)]


@pytest.mark.parametrize("reason", [KeyboardInterrupt(), FailedRunError(Problem("it failed", "mend it"))])
@pytest.mark.parametrize(("at", "rounds"), [(0, 0), (FEW, 0), (FEW + 100, 2)])
def test_ctrl_c_and_failed_runs_keep_whole_rounds_if_there_are_two(at, rounds, reason):
    runner = Simulated(slow=())
    plan = PLAN

    def watch(done):
        if done > at:
            raise reason

    if not rounds:
        with pytest.raises(type(reason)):
            measure(runner, plan, watch)
    else:
        assert len(measure(runner, plan, watch)) == rounds * plan.runs() // plan.rounds
        assert runner.interrupted
        assert runner.failure == getattr(reason, "problem", None)


@pytest.mark.parametrize("period", [64, 256, 4096])
def test_places_that_are_slow_again_within_a_page_have_a_shorter_period(period):
    _, answers, sizes = fresh_runs(slow=range(16, 4096, period))
    assert {spikes.period_of(sizes, answer) for answer in answers if answer.is_slow(0.01)} == {period}


def test_what_is_slow_in_one_page_alone_is_no_alias():
    runner = Simulated(slow=())
    slow = runner.time
    runner.time = lambda place: slow(place) + 0.3 * (place.environment == 3280)
    candidate = spikes.Candidate(3280, 3280, 3280)
    (answer,) = spikes.test(runner, [candidate], PLAN.sizes, 1, lambda: None)
    assert not answer.is_slow(0.01)


def test_shares_and_deviations_of_known_places():
    generator = np.random.default_rng(3)
    places = generator.normal(0, 0.02, 200)
    levels = {i: list(place + generator.normal(0, 0.01, 4)) for i, place in enumerate(places)}
    factor = shares.between_places("stack", levels, 1)
    assert factor.low < 0.8 < factor.high
    assert factor.deviation_low < 0.02 < factor.deviation_high
    assert factor.levels == 200


def test_intervals_begin_at_nothing_where_there_is_nothing():
    found = 0
    for seed in range(100):
        noise = np.random.default_rng(seed).standard_t(2, (32, 3)) * 0.01
        found += shares.between_places("heap", dict(enumerate(noise.tolist())), seed).low > 0
    assert found <= 5


def test_outliers_neither_hide_places_nor_seem_to_be_some():
    generator = np.random.default_rng(3)

    def runs(places, outliers):
        times = np.array(places)[:, None] + generator.normal(0, 0.01, (len(places), 6))
        return dict(enumerate((times + 0.5 * (generator.random(times.shape) < outliers)).tolist()))

    factor = shares.between_places("code", runs(generator.normal(0, 0.01, 32), 0.05), 1)
    assert 0.3 < factor.low < factor.share < factor.high < 0.7
    assert shares.between_places("code", runs([0.0] * 32, 0.05), 1).deviation_high < 0.006
    by_turns = {place: [0.0, 0.3] * 3 if place < 16 else [0.0] * 6 for place in range(32)}
    assert shares.between_places("code", by_turns, 1).deviation > 0.05
    one_slow = shares.between_places("code", runs([0.0] * 31 + [0.3], 0.05), 1)
    assert one_slow.deviation == pytest.approx(0.3 / math.sqrt(32), rel=0.1)


@pytest.mark.parametrize("values", [1, 3])
def test_times_of_a_coarse_clock_make_no_places(values):
    times = 0.01 * np.random.default_rng(5).integers(0, values, (64, 6))
    assert shares.between_places("code", dict(enumerate(times.tolist())), 1).low == 0


def test_aslr_by_more_variance_than_at_one_place():
    generator = np.random.default_rng(3)
    still = list(generator.normal(0, 0.01, 300))
    moved = list(generator.normal(0, 0.01, 300) + generator.normal(0, 0.03, 300))
    assert shares.by_aslr(moved, still, 1).deviation_low > 0.02
    assert shares.by_aslr(still[:150], still[150:], 1).low == 0
    outliers = [time + 0.5 * (number % 20 == 0) for number, time in enumerate(still)]
    assert shares.by_aslr(outliers[:150], outliers[150:], 1).deviation_high < 0.008


def factor(name, low, high):
    return Factor(name, 0.5, 0.1, 0.9, (low + high) / 2, low, high, 32)


ONE = Change(1.3, 1.28, 1.32, 0.0005)


def test_verdicts():
    limit = limit_of(0.01)
    alias = Aliasing("environment", 3296, ONE, 0.001, [], "", None)
    small, large, open_ = (factor("stack", *ends) for ends in ((0, limit / 2), (2 * limit, 1), (0, 1)))
    kernel = factor("aslr", 2 * limit, 1)

    def verdict(factors, aliasing=(), randomised=True):
        return verdict_of(factors, aliasing, 0.01, randomised)

    assert verdict([small]) == ("not needed", [])
    assert verdict([small, large]) == ("needed", ["stack"])
    assert verdict([open_]) == ("inconclusive", ["stack"])
    assert verdict([factor("environment", 0, 0)], [alias]) == ("needed", ["environment"])
    assert verdict([small, kernel]) == ("not needed", [])
    assert verdict([small, kernel], randomised=False) == ("needed", ["aslr"])


def report(**changed):
    bias = Bias(
        factors=[factor("environment", 0.01, 0.03)],
        sweep=Sweep({0: 1.0, 4096: 1.01}, 3),
        fold_p=0.01,
        layouts=[0.99, 1.02, 1.03],
        default_rank=2 / 3,
        aliasing=[Aliasing("environment", 3296, ONE, 0.001, ["i and ring"], "With the stack on", ONE)],
        verdict="needed",
        randomise=["environment"],
        runs=9,
        seconds=1.0,
    )
    return Report(["./prog", "a b"], bias._replace(**changed), 0.01, 7, True)


def test_json_has_what_others_rely_on():
    data = json.loads(render_json(report()))
    assert {"factor", "share", "low", "high"} <= set(data["factors"][0])
    assert {"factor", "residue", "slowdown", "p", "objects"} <= set(data["aliasing"][0])
    assert data["aliasing"][0]["slowdown"] == pytest.approx(0.3)
    assert (data["default_rank"], data["verdict"]) == (pytest.approx(2 / 3), "needed")


def test_the_slowest_layout_is_told_only_where_placement_matters():
    assert "the slowest 3.0 % slower" in render_text(report())
    chance = render_text(report(factors=[factor("environment", 0, 0)], aliasing=[], verdict="not needed"))
    assert "random layouts" in chance
    assert "slowest" not in chance


def test_json_asks_for_no_randomisation_where_that_is_open():
    changed = {"verdict": "inconclusive", "randomise": ["stack"]}
    assert json.loads(render_json(report(**changed)))["randomise"] == []
    assert "stack position may or may not make" in render_text(report(**changed))


def test_text_says_rank_places_and_verdict():
    text = render_text(report())
    assert "faster than 67 % of 3 random layouts; their median is 2.0 % slower" in text
    assert "3296 more bytes in the environment, modulo 4096: 30.0 % [28.0, 32.0] slower" in text
    assert "What collides, by a model of the processor:\n    i and ring" in text
    aligned = Aliasing("environment", 3296, ONE, 0.001, [], "", None, 64)
    assert "32 more bytes in the environment, modulo 64: " in render_text(report(aliasing=[aligned]))
    assert "which randomises layouts: environment size" in text
    unneeded = {"verdict": "not needed", "randomise": [], "aliasing": []}
    assert "need no more randomising: nothing that was varied" in render_text(report(**unneeded))
    kernel = [factor("aslr", 0.01, 0.03)]
    assert "only ASLR, which is on," in render_text(report(**unneeded, factors=kernel))


def test_pairs_say_how_far_they_are_apart():
    thing = {"kind": "static", "name": "i", "begin": 0x4024, "size": 4, "address": 0x4024, "line": "a.c:3"}
    other = {**thing, "kind": "stack", "name": "g of main", "begin": 0x7024, "address": 0x7024}
    (pair,) = parse({"loads": 500, "pairs": [{"count": 50, "load": other, "store": thing}]})
    assert pair.often == 100
    assert pair.text() == "i (static) and g of main (stack): 4096·n apart, loaded in a.c:3"
    (pair,) = parse(
        {"loads": 500, "pairs": [{"count": 50, "load": {**other, "kind": "static"}, "store": thing}]}
    )
    assert pair.text() == "i (static) and g of main (static): 4096·3 apart, loaded in a.c:3"


def test_places_become_variables():
    movers = find_movers(None)
    side = movers.side(["prog"], Place(4000))
    assert len(environment_of(side, layout(Place(4000)))[PADDING]) == 4000
    assert "heap" not in movers.factors()


def test_functions_are_moved_by_variables_of_one_length():
    """Or the stack would move with them."""
    movers = Movers(None, True, CodeLibrary(LAYOUT_PLAN))
    assert movers.factors() == ["environment", "code", "aslr"]

    def variables(movers, place):
        found = environment_of(movers.side(["prog"], place), layout(place))
        assert found["LD_PRELOAD"].endswith("/lib/libcoz-layout.so")
        return found

    seeds = [variables(movers, Place(code=seed)) for seed in (7, 2_000_000_007)]
    assert seeds[0]["COZ_LAYOUT_SEED"] == "00000007"
    still, unmoved = (
        variables(each, Place())
        for each in (movers, movers._replace(code=CodeLibrary(LAYOUT_PLAN, unmoved=True)))
    )
    assert still["COZ_LAYOUT_SEED"] == "original"
    assert "COZ_LAYOUT_PLAN" not in unmoved
    assert len({sum(map(len, (*each, *each.values()))) for each in (*seeds, still, unmoved)}) == 1


def test_stack_and_heap_are_moved_by_variables_of_one_length():
    """Or the heap's test would be one of the stack's place, too."""
    movers = Movers(HeapLibrary(Path("/lib/libcoz-heap.so")), True)
    places = [
        Place(),
        Place(heap=7),
        Place(heap=(1 << 31) - 1, shuffled=True),
        Place(stack=3),
        Place(0, 9, 8),
    ]
    found = [environment_of(movers.side(["prog"], place), layout(place)) for place in places]
    assert len({(len(each), sum(map(len, (*each, *each.values())))) for each in found}) == 1
    assert not {"COZ_HEAP", "COZ_HEAP_SEED", "COZ_STACK_SEED"} & found[0].keys()
    assert (found[1]["COZ_HEAP"], found[1]["COZ_HEAP_SEED"]) == ("offset", "0000000007")
    assert "COZ_STACK_SEED" not in found[2]
    assert found[3]["COZ_STACK_SEED"] == "0000000003"


@pytest.mark.parametrize(
    ("inert", "factors", "said"),
    [
        ((), {"stack", "heap"}, None),
        (("offset",), {"stack"}, "not varied: the heap. It cannot be moved: an allocator of its own."),
        (("", "offset"), set(), "not varied: stack and heap. It cannot be moved: an allocator of its own."),
    ],
    ids=["both", "stacks only", "none"],
)
def test_what_does_not_move_is_not_varied(monkeypatch, inert, factors, said):
    def check_run(name, program, layouts, run):
        run(layouts)
        if layouts.heap in inert:
            raise CozError(Problem("it cannot be moved: an allocator of its own."))

    monkeypatch.setattr(study, "check_run", check_run)
    question = study.Question(["/bin/true"], 1.0, 0.01, 1, os.devnull, False)
    movers, doubts = study._without_immovable(Movers(HeapLibrary(Path("/none/heap.so")), True), question)
    assert set(movers.factors()) & {"stack", "heap"} == factors
    assert [doubt.text for doubt in doubts] == [said] * (said is not None)


def test_a_failed_run_ends_the_command_with_what_is_known(monkeypatch, capsys):
    failure = Problem("./prog was killed.", "mend it")
    monkeypatch.setattr(study, "study", lambda *_: study.Answer(report().bias, True, [], failure))
    assert cli.main(["bias", "--json", "true"]) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["runs"] == 9
    assert "ended after 3 rounds of runs, so that slow places may be missing: ./prog was killed." in shown.err


def test_functions_of_other_programs_are_told(monkeypatch):
    moved = Side("A", ["sh"], arrangers=[FunctionLayouts(LAYOUT_PLAN, others=2)])
    monkeypatch.setattr(study, "with_functions_moved", lambda *_: ([moved], None))
    movers, staying = study.with_code(Movers(None, True), ["sh"], 1, os.devnull)
    assert movers.code == CodeLibrary(LAYOUT_PLAN)
    assert "starts 2 processes of other programs" in staying[0].text


def test_what_it_refuses(capsys):
    assert cli.main(["bias"]) == 2
    assert "no program was given" in capsys.readouterr().err
    assert cli.main(["bias", "./missing"]) == 127
    assert "./missing is not an executable file" in capsys.readouterr().err
    assert cli.main(["bias", "--input", "./missing", "true"]) == 2
    assert "missing cannot be read" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["bias", "--duration", "-5s", "true"])
    assert "'-5s' is not a time" in capsys.readouterr().err
    assert cli.main(["bias", "--plot", "./missing/x.png", "true"]) == 2
    assert "missing/x.png cannot be written" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["bias", "--plot", "x.txt", "true"])
    assert ".png, .svg or .pdf" in capsys.readouterr().err
