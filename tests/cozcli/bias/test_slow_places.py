"""Slow places: by fresh runs, with names and remedies; what is known stays known. Programs are simulated."""

import math
import os
import random
from types import SimpleNamespace

import pytest

from cozcli.bias import blocks, objects, slow_places, spikes, study
from cozcli.bias.factors import SIZES, HeapLibrary, Movers, Place, layout
from cozcli.bias.figure import _neighbours
from cozcli.bias.measure import Runner
from cozcli.bias.plan import Plan
from cozcli.bias.report import _aliasing_json, _slow_place
from cozcli.bias.result import Aliasing, Change
from cozcli.bias.slow_places import SlowPlaces
from cozcli.compare.trial import Trial, environment_of
from cozcli.errors import CozError, Problem

ONE = Change(1.3, 1.28, 1.32, 0.0005)
HEAP = Aliasing("heap", None, ONE, 0.0005, [], "With offsets", None)
ENVIRONMENT = Aliasing("environment", 3296, ONE, 0.001, [], "", None)
PLAN = Plan(SIZES, ["environment", "heap"], 3, 5, True)


class Blocks(Runner):
    """A program whose blocks collide by default, and at one of eight offsets."""

    def __init__(self, by=0.1, failing=()):
        super().__init__(["prog"], Movers(None, True))
        self._by, self._failing, self.noise = by, failing, 0.003
        self._random = random.Random(3)

    def trial(self, place, instruments=()):
        self.runs += 1
        if place.allocator in self._failing:
            raise CozError(Problem("it failed."))
        collide = (place.heap is None and place.allocator != "good.so") or (place.heap or 1) % 8 == 0
        time = 0.03 * math.exp(self._by * collide + self._random.gauss(0, self.noise))
        return Trial(time, time, 1, 0.0)


def nothing(*_):
    pass


def names(*pairs, residue=0):
    return SimpleNamespace(
        at=lambda *_: objects.Names(pairs), of_heap=lambda *_: objects.Names(pairs, residue)
    )


def test_the_heaps_default_against_offsets_and_these_against_the_best():
    runner = Blocks()
    assert blocks.default_over_offset(runner, 1, nothing).low > 1.08
    assert runner.runs == blocks.COMPARED
    good = blocks.good_offsets(runner, 1, nothing)
    assert good.place.heap % 8 != 0
    assert good.left.high < 1.01
    assert runner.runs == 2 * blocks.COMPARED + blocks.SEARCHED


@pytest.mark.parametrize("by", [0.1, 0.0, -0.1])
def test_a_certain_answer_about_the_heap_needs_no_more_runs(by):
    runner = Blocks(by)
    runner.noise = 0.02
    found = blocks.default_over_offset(runner, 4, nothing)
    assert spikes.is_slow(found, found.p, 0.01) == (by > 0)
    if by:
        assert runner.runs == blocks.COMPARED


def test_small_effects_of_the_heap_get_more_runs():
    runner = Blocks(0.05)
    runner.noise = 0.08
    found = blocks.default_over_offset(runner, 2, nothing)
    assert runner.runs == 3 * blocks.COMPARED
    assert spikes.is_slow(found, found.p, 0.01)


@pytest.mark.parametrize("number", [0, 1, 4])
def test_the_number_of_runs_that_candidates_need(number):
    runner = Blocks()
    found = [spikes.Candidate(size, size, size) for size in (400, 1200, 2000, 2800)[:number]]
    spikes.test(runner, found, PLAN.sizes, 1, nothing)
    assert runner.runs == spikes.runs_of(number)


def test_what_helps_the_heap_is_measured_with_other_allocators_too(monkeypatch):
    monkeypatch.setattr(blocks, "installed_allocators", lambda: ["good.so", "bad.so", "broken.so"])
    runner, doubts, seen = Blocks(failing=("broken.so",)), [], []
    tests = SlowPlaces(runner, PLAN, 0.01, 1, lambda done, of: seen.append((done, of)), doubts)
    (slow,) = tests.test({size: [0.0] * 3 for size in SIZES})
    assert (slow.factor, slow.remedied) == ("heap", None)
    slow = tests.explained(slow, names("one and other"))
    assert (slow.residue, list(slow.objects)) == (0, ["one and other"])
    assert slow.remedied.high < 1.01
    assert list(slow.replaced) == ["good.so", "bad.so"]
    assert slow.replaced["good.so"].high < 1.01 < 1.08 < slow.replaced["bad.so"].low
    assert [doubt.text for doubt in doubts] == [
        "broken.so could not replace the program's allocator: it failed."
    ]
    assert all(done <= of for done, of in seen)


def test_another_allocators_name_does_not_move_the_stack(tmp_path):
    movers = Movers(HeapLibrary(tmp_path / "libcoz-heap.so"), True)
    places = []
    runner = Blocks()
    runner.time = lambda place: places.append(place) or 0.0
    blocks.replaced(runner, "libjemalloc.so.2", Place(heap=7), 1, nothing)
    found = {}
    for place in set(places):
        environment = environment_of(movers.side(["prog"], place), layout(place))
        found[place.allocator] = sum(len(name) + len(value) for name, value in environment.items())
    assert set(found) == {"", "libjemalloc.so.2"}
    assert found[""] == found["libjemalloc.so.2"]


def aliasing_of(runner):
    question = study.Question(["prog"], 1.0, 0.01, 1, os.devnull, False)
    return study._aliasing(question, runner, PLAN, {}, None, Movers(None, True), nothing)


@pytest.mark.parametrize("error", [KeyboardInterrupt, CozError(Problem("it failed."))])
@pytest.mark.parametrize("step", ["test", "explained"])
def test_what_ends_the_tests_of_slow_places_leaves_those_that_are_known(monkeypatch, step, error):
    def test(*_):
        yield HEAP
        yield ENVIRONMENT
        if step == "test":
            raise error

    def explained(_, slow, __):
        if slow.factor == "environment":
            raise error
        return slow._replace(objects=["named"])

    monkeypatch.setattr(slow_places.SlowPlaces, "test", test)
    monkeypatch.setattr(slow_places.SlowPlaces, "explained", explained)
    runner = Blocks()
    found, doubts = aliasing_of(runner)
    assert [each.factor for each in found] == ["heap", "environment"]
    assert list(found[0].objects) == (["named"] if step == "explained" else [])
    assert runner.interrupted == (error is KeyboardInterrupt)
    assert len(doubts) == (error is not KeyboardInterrupt)
    if runner.interrupted:
        assert aliasing_of(runner) == ([], [])


def answer(*counts, block="516 KiB from main (a.c:3)"):
    thing = {"kind": "block", "name": block, "begin": 4096, "size": 4096, "address": 4112, "line": "a.c:9"}
    static = {**thing, "kind": "static", "name": "i", "begin": 8192 + 16, "address": 8192 + 16}
    pairs = [(thing, thing), (static, static)]
    found = [
        {"count": count, "load": load, "store": store}
        for count, (load, store) in zip(counts, pairs, strict=False)
    ]
    return objects.parse({"loads": 1000, "pairs": found})


@pytest.mark.parametrize(
    ("there", "named"),
    [
        (answer(0, 0, block="520 KiB from main (a.c:3)"), ["block", "static"]),
        (answer(90, 0, block="520 KiB from main (a.c:3)"), ["static"]),
        (answer(90, 90, block="520 KiB from main (a.c:3)"), []),
        (None, []),
    ],
    ids=["only here", "one there", "both there", "not known"],
)
def test_pairs_that_meet_elsewhere_too_are_not_at_fault(monkeypatch, there, named):
    """A block that is moved has another size."""
    found = objects.Objects(["prog"], Movers(None, True), os.devnull, 1.0, None, [])
    monkeypatch.setattr(found, "_pairs", lambda place: there if place.environment else answer(100, 90))
    pairs = found.at(Place(), Place(64)).pairs
    assert ["block" if "KiB" in pair else "static" for pair in pairs] == named
    of_heap = found.of_heap(Place(), Place(64)).pairs
    assert len(of_heap) == named.count("block")


def test_the_heaps_remedies_are_said():
    slow = HEAP._replace(remedied=Change(1.001, 0.99, 1.01, 0.5), replaced={"libx.so.1": ONE})
    text = _slow_place(slow)
    assert text.endswith(
        "Time over that of the best of 8 offsets:\n"
        "  With offsets: 0.1 % [-1.0, 1.0]\n"
        "  With libx.so.1: 30.0 % [28.0, 32.0]"
    )
    data = _aliasing_json(slow)
    assert data["remedied_high"] == pytest.approx(0.01)
    assert data["replaced"] == {"libx.so.1": pytest.approx({"change": 0.3, "low": 0.28, "high": 0.32})}


def test_labels_of_neighbours_become_one():
    assert _neighbours([3000, 400, 900, 2400]) == [[400, 900], [2400, 3000]]
    assert _neighbours([]) == []
