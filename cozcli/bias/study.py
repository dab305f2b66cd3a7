"""The whole of a study: from the program to what is known of it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cozcli.bias import blocks, counters, messages, shares, spikes
from cozcli.bias.events import countable
from cozcli.bias.factors import HEAP_MODE, SIZES, CodeLibrary, Movers, Place, find_movers
from cozcli.bias.measure import Measured, Runner, by_level, measure
from cozcli.bias.objects import Objects
from cozcli.bias.plan import MIN_ROUNDS, MIN_SIZES, Plan, plan_for
from cozcli.bias.result import Aliasing, Bias, Correlation, Factor, Sweep
from cozcli.bias.slow_places import SlowPlaces
from cozcli.bias.verdict import verdict_of
from cozcli.compare.counters import Event
from cozcli.compare.design import Layout
from cozcli.compare.function_layouts import function_layouts_of, with_functions_moved
from cozcli.compare.layouts import Arranger
from cozcli.compare.memory_layouts import MemoryLayouts, check_program, check_run
from cozcli.compare.messages import others_stay
from cozcli.compare.personality import is_randomised
from cozcli.compare.trial import Side, run
from cozcli.errors import CozError, Problem
from cozcli.launch.runtime_library import find_installation

#: Runs before anything counts, which say how long one takes.
_WARM_UPS = 5
#: Of the time, at least so much is for the rounds; tests of slow places take the rest.
_FOR_ROUNDS = 0.75
#: Runs that these make at most.
_TESTS = spikes.runs_of(spikes.MAX_CANDIDATES) + blocks.COMPARED


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
    """randomised: is the default? failure: of the run that ended the study early."""

    bias: Bias
    randomised: bool
    doubts: Sequence[Problem]
    failure: Problem | None


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
    movers, staying = with_code(movers, question.command, question.seed, question.stdin)
    movers, immovable = _without_immovable(movers, question)
    randomised = is_randomised()
    runner = Runner(question.command, movers, question.stdin)
    plan = _plan(question, movers, runner, randomised)
    measured = measure(runner, plan, lambda done: watch(done, plan.runs()))
    rounds = len(measured) * plan.rounds // plan.runs()
    doubts = [*staying, *([uncounted] if uncounted else [])]
    sizes = by_level(measured, "environment")
    helper = installation.helper if question.names else None
    aliasing, unnamed = _aliasing(question, runner, plan, sizes, helper, movers, watch)
    factors = _factors(measured, plan.factors, question.seed)
    default = statistics.median(by_level(measured, "default")[0])
    layouts = [statistics.median(times) - default for times in by_level(measured, "random").values()]
    verdict, randomise = verdict_of(factors, aliasing, question.margin, randomised)
    middle = statistics.median(statistics.median(times) for times in sizes.values())
    sweep = {size: float(np.exp(statistics.median(times) - middle)) for size, times in sizes.items()}
    if runner.interrupted and not runner.failure:
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
    return Answer(bias, randomised, [*doubts, *unnamed], runner.failure)


def with_code(movers: Movers, command: Sequence[str], seed: int, stdin: str) -> tuple[Movers, list[Problem]]:
    """With what moves functions, and which ones it cannot move."""
    side = Side("the program", list(command))
    (side,), stay = with_functions_moved([side], "auto", seed, stdin)
    functions = function_layouts_of(side)
    staying = [stay] if stay else []
    if functions and functions.others:
        staying.append(others_stay(side.name, functions.others))
    return movers._replace(code=CodeLibrary(functions.plan) if functions else None), staying


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
    seconds = max(_FOR_ROUNDS * question.duration, question.duration - _TESTS * per_run)
    plan = plan_for(seconds, per_run, movers.factors(), question.seed, randomised)
    if plan is None:
        least = Plan(SIZES[:MIN_SIZES], movers.factors(), MIN_ROUNDS, 0, randomised).runs() + MIN_ROUNDS
        enough = per_run * min(least + _TESTS, least / _FOR_ROUNDS)
        raise CozError(messages.too_short(question.duration, per_run, 60 + enough))
    return plan


def _factors(measured: Sequence[Measured], names: Sequence[str], seed: int) -> list[Factor]:
    found = []
    for name in names:
        if name == "aslr":
            aslr = [each for times in by_level(measured, "aslr").values() for each in times]
            found.append(shares.by_aslr(aslr, by_level(measured, "fixed")[0], seed))
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
    """Slow places, and what kept them from being known better. Ctrl-C, or a run that fails, ends it with what
    is known."""
    found: list[Aliasing] = []
    doubts: list[Problem] = []
    if runner.interrupted:
        return found, doubts
    try:
        seconds = runner.trial(Place()).wall
        named = movers._replace(code=movers.code._replace(unmoved=True)) if movers.code else movers
        objects = Objects(question.command, named, question.stdin, seconds, helper, doubts)
        tests = SlowPlaces(runner, plan, question.margin, question.seed, watch, doubts)
        for each in tests.test(sizes):
            found.append(each)
        for number, each in enumerate(found):
            found[number] = tests.explained(each, objects)
    except KeyboardInterrupt:
        runner.interrupted = True
    except CozError as error:
        doubts.append(messages.untested(error.problem))
    return found, doubts
