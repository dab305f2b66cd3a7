"""The whole of a study: from the program to what is known of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cozcli.bias import counters, messages, shares, spikes
from cozcli.bias.blocks import test_heap
from cozcli.bias.events import countable
from cozcli.bias.factors import HEAP_MODE, SIZES, CodeLibrary, Movers, Place, find_movers
from cozcli.bias.measure import Measured, Runner, by_level, measure
from cozcli.bias.objects import Objects
from cozcli.bias.plan import MIN_ROUNDS, MIN_SIZES, Plan, plan_for
from cozcli.bias.result import PAGE, Aliasing, Bias, Correlation, Factor, Sweep
from cozcli.bias.verdict import verdict_of
from cozcli.compare.counters import Event
from cozcli.compare.design import Layout
from cozcli.compare.function_layouts import function_layouts_of, with_functions_moved
from cozcli.compare.layouts import Arranger
from cozcli.compare.memory_layouts import MemoryLayouts, check_program, check_run
from cozcli.compare.personality import is_randomised
from cozcli.compare.trial import Side, run
from cozcli.errors import CozError, Problem
from cozcli.launch.runtime_library import find_installation

#: Runs before anything counts, which say how long one takes.
_WARM_UPS = 5
_HEAP_REMEDY = "libcoz-heap.so with COZ_HEAP=offset"
#: Of the time, so much is for the rounds; candidates take the rest.
_FOR_ROUNDS = 0.85


class Question(NamedTuple):
    """duration: seconds, about; margin: differences below do not matter; names: find out what lies there.
    counters: events to count, as `events.countable` wants them."""

    command: Sequence[str]
    duration: float
    margin: float
    seed: int
    stdin: str
    names: bool
    counters: str | None = None


class Answer(NamedTuple):
    """randomised: is the default?"""

    bias: Bias
    randomised: bool
    doubts: Sequence[Problem]


def study(question: Question, watch: Callable[[int, int], None]) -> Answer:
    """Measure and judge. `watch` is told how many runs are done, of how many.

    Raises:
        CozError: it cannot be measured here, or a run failed.
    """
    begin = time.monotonic()
    events, uncounted = _events(question.counters)
    installation = find_installation()
    movers = find_movers(installation.library.parent / "libcoz-heap.so")
    if not movers.can_switch_randomisation:
        raise CozError(messages.no_personality())
    side = Side("the program", list(question.command))
    (side,), stay = with_functions_moved([side], "auto", question.seed, question.stdin)
    functions = function_layouts_of(side)
    movers = movers._replace(code=CodeLibrary(functions.plan) if functions else None)
    movers, immovable = _without_immovable(movers, question)
    randomised = is_randomised()
    runner = Runner(question.command, movers, question.stdin)
    plan = _plan(question, movers, runner, randomised)
    measured = measure(runner, plan, lambda done: watch(done, plan.runs()))
    rounds = len(measured) * plan.rounds // plan.runs()
    doubts: list[Problem] = [each for each in (stay, uncounted) if each]
    sizes = by_level(measured, "environment")
    helper = installation.helper if question.names else None
    aliasing, unnamed = _aliasing(question, runner, plan, sizes, helper, movers, watch)
    factors = _factors(measured, plan.factors, question.seed)
    default = statistics.median(by_level(measured, "default")[0])
    layouts = [statistics.median(times) - default for times in by_level(measured, "random").values()]
    verdict, randomise = verdict_of(factors, aliasing, question.margin, randomised)
    middle = statistics.median(statistics.median(times) for times in sizes.values())
    sweep = {size: float(np.exp(statistics.median(times) - middle)) for size, times in sizes.items()}
    if runner.interrupted:
        doubts.append(messages.interrupted(rounds))
    if len(plan.sizes) < len(SIZES):
        doubts.append(messages.few_sizes(len(plan.sizes), len(SIZES)))
    doubts += immovable
    if runner.repeated > 0.02 * runner.runs:
        doubts.append(messages.disturbed(runner.repeated, runner.runs))
    counted, failed = _count(runner, events, aliasing, plan, watch)
    doubts += [failed] if failed else []
    bias = Bias(
        factors=factors,
        sweep=Sweep(sweep, rounds),
        fold_p=spikes.permutation_p(spikes.folded(sizes)[1], question.seed),
        layouts=[float(np.exp(layout)) for layout in layouts],
        default_rank=statistics.fmean(layout > 0 for layout in layouts),
        aliasing=aliasing,
        verdict=verdict,
        randomise=randomise,
        runs=runner.runs,
        seconds=time.monotonic() - begin,
        counters=counted,
    )
    return Answer(bias, randomised, [*doubts, *unnamed])


def _events(wanted: str | None) -> tuple[list[Event], Problem | None]:
    """What can be counted of it, and why nothing can."""
    if wanted is None:
        return [], None
    try:
        return countable(wanted), None
    except CozError as error:
        return [], messages.no_counters(error.problem)


def _count(
    runner: Runner,
    events: Sequence[Event],
    aliasing: Sequence[Aliasing],
    plan: Plan,
    watch: Callable[[int, int], None],
) -> tuple[list[Correlation] | None, Problem | None]:
    """What was found, or why it ended without that. A study is not lost for it."""
    if runner.interrupted or not events:
        return None, None
    places, slow = counters.places_of(aliasing, plan.sizes, plan.seed)
    runs = runner.runs + counters.runs(len(places), len(events))
    try:
        counts = counters.count(runner, places, events, plan.seed, lambda: watch(runner.runs, runs))
    except CozError as error:
        return None, messages.no_counters(error.problem)
    return counters.correlations(counts, slow), None


def _without_immovable(movers: Movers, question: Question) -> tuple[Movers, list[Problem]]:
    """Without what cannot move stack or heap of this program, and why.

    Raises:
        CozError: the program cannot be run.
    """
    if movers.heap is None:
        return movers, [messages.no_heap_library()]
    side = Side("the program", list(question.command))
    run(side, None, question.stdin)
    try:
        check_program(side.name, side.command[0])
        _check_moves(side, MemoryLayouts("", True, movers.heap.library), question.stdin)
    except CozError as error:
        return movers._replace(heap=None), [messages.left_out("stack and heap", error.problem)]
    try:
        _check_moves(side, MemoryLayouts(HEAP_MODE, False, movers.heap.library), question.stdin)
    except CozError as error:
        return movers._replace(moves_blocks=False), [messages.left_out("the heap", error.problem)]
    return movers, []


def _check_moves(side: Side, layouts: MemoryLayouts, stdin: str) -> None:
    def try_it(arranger: Arranger) -> None:
        run(side._replace(arrangers=[arranger]), Layout(0), stdin)

    check_run(side.name, side.command[0], layouts, try_it)


def _plan(question: Question, movers: Movers, runner: Runner, randomised: bool) -> Plan:
    runner.trial(Place())
    took = []
    for _ in range(_WARM_UPS):
        begin = time.monotonic()
        runner.trial(Place())
        took.append(time.monotonic() - begin)
    per_run = 1.2 * min(took)
    seconds = _FOR_ROUNDS * question.duration
    plan = plan_for(seconds, per_run, movers.factors(), question.seed, randomised)
    if plan is None:
        least = Plan(SIZES[:MIN_SIZES], movers.factors(), MIN_ROUNDS, 0, randomised).runs() + MIN_ROUNDS
        raise CozError(messages.too_short(question.duration, per_run, 60 + per_run * least / _FOR_ROUNDS))
    return plan


def _factors(measured: Sequence[Measured], names: Sequence[str], seed: int) -> list[Factor]:
    found = []
    for name in names:
        if name == "aslr":
            aslr = [each for times in by_level(measured, "aslr").values() for each in times]
            found.append(shares.by_kernel(aslr, by_level(measured, "fixed")[0], seed))
        else:
            found.append(shares.between_places(name, by_level(measured, name), seed))
    return found


def _aliasing(
    question: Question,
    runner: Runner,
    plan: Plan,
    sizes: dict[int, list[float]],
    helper: Path | None,
    movers: Movers,
    watch: Callable[[int, int], None],
) -> tuple[list[Aliasing], Sequence[Problem]]:
    """Slow places, and what kept them from being named. Ctrl-C ends it with those that are known."""
    found: list[Aliasing] = []
    doubts: Sequence[Problem] = []
    if runner.interrupted:
        return found, doubts
    try:
        seconds = runner.trial(Place()).wall
        named = movers._replace(code=movers.code._replace(unmoved=True)) if movers.code else movers
        objects = Objects(question.command, named, question.stdin, seconds, helper)
        for each in _slow_places(question, runner, plan, sizes, objects, watch):
            found.append(each)
        doubts = objects.doubts
    except KeyboardInterrupt:
        runner.interrupted = True
    return found, doubts


def _slow_places(
    question: Question,
    runner: Runner,
    plan: Plan,
    sizes: dict[int, list[float]],
    objects: Objects,
    watch: Callable[[int, int], None],
) -> Iterator[Aliasing]:
    def count() -> None:
        watch(runner.runs, runner.runs + 1)

    tried = spikes.candidates(sizes, question.margin)
    badly_aligned: list[tuple[int, int]] = []
    for each in spikes.test(runner, tried, plan.sizes, question.seed, count):
        if each.is_slow(question.margin):
            peak = each.candidate.peak
            if any((peak - other) % period == 0 for other, period in badly_aligned):
                continue
            period = spikes.period_of(sizes, each)
            if period < PAGE:
                badly_aligned.append((peak, period))
                yield Aliasing("environment", peak, each.slowdown, each.p, [], "", None, period)
                continue
            names = objects.at(Place(peak), Place(peak + spikes.distance(each.candidate) + spikes.MOVED))
            remedy = f"With the stack {spikes.distance(each.candidate)} bytes further"
            yield Aliasing("environment", peak, each.slowdown, each.p, names.pairs, remedy, each.moved)
    if "heap" in plan.factors:
        heap = test_heap(runner, question.seed, count)
        if heap.is_slow(question.margin):
            names = objects.of_heap(Place())
            yield Aliasing(
                "heap", names.residue, heap.default, heap.default.p, names.pairs, _HEAP_REMEDY, None
            )
