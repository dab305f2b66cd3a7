"""Runs a suite: in each round all programs, in random order; of each, one block.

Runs of one program under all treatments are neighbours in time, so that the machine's speed is the same for
them. Which program comes when is random, so that no program always follows the same other.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Mapping, Sequence

from cozcli.compare.collect import Collected, Collector, Plan
from cozcli.compare.function_layouts import function_layouts_of, in_one_layout
from cozcli.compare.memory_layouts import memory_layouts_of
from cozcli.compare.setup import arranged
from cozcli.compare.sides import side_of
from cozcli.compare.suite import messages
from cozcli.compare.suite.description import Cell, Program, Suite
from cozcli.compare.trial import FailedRunError, Side
from cozcli.errors import CozError, Problem

#: By program: what its blocks hold. Sides are the treatments in order, and the baseline once more.
Results = Mapping[str, Collected]


def build_all(suite: Suite, show: Callable[[str], None]) -> None:
    """Run all commands that build something, each once.

    Raises:
        CozError: one failed.
    """
    done: set[str] = set()
    for program in suite.programs:
        for cell in program.cells:
            if not cell.build or cell.build in done:
                continue
            done.add(cell.build)
            show(f"building {program.name} for {cell.treatment.name}")
            result = subprocess.run(
                ["/bin/sh", "-c", cell.build],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            if result.returncode:
                raise CozError(
                    messages.build_failed(
                        program.name, cell.treatment.name, cell.build, result.returncode, result.stderr
                    )
                )


def sides_of(program: Program, heap: str | None, stack: bool) -> list[Side]:
    """One for each treatment, and the baseline once more, as a control.

    Raises:
        CozError: a program is missing, or cannot be moved.
    """
    sides = [_side(cell, program.stdin, heap, stack) for cell in program.cells]
    used = [layouts for side in sides if (layouts := memory_layouts_of([side]))]
    if used:
        # To be loaded costs time by itself, which treatments must not differ by.
        idle = used[0]._replace(heap="", stack=False)
        sides = [side if side.arrangers else side._replace(arrangers=(idle,)) for side in sides]
    return [*sides, sides[0]._replace(name=f"{sides[0].name}, again")]


def _side(cell: Cell, stdin: str, heap: str | None, stack: bool) -> Side:
    name = f"{cell.program} with {cell.treatment.name}"
    side = side_of(name, cell.command)._replace(environment=cell.environment)
    return arranged(side, cell.treatment.heap or heap, stack, stdin)


def run_fixed(
    programs: Mapping[str, Sequence[Side]],
    plans: Mapping[str, Plan],
    pairs: int,
    seed: int,
    show: Callable[[str], None],
) -> Results:
    """The same in the one layout of the files, for programs whose functions were moved. Ctrl-C leaves it out.

    Raises:
        CozError: a run failed.
    """
    moved = [name for name, sides in programs.items() if pairs and function_layouts_of(sides[0])]
    if not moved:
        return {}
    fixed = {
        name: plans[name]._replace(pairs=pairs, precision=None, layouts=False, warm_ups=0, check_output=False)
        for name in moved
    }
    found, interrupted = run_suite(
        {name: [in_one_layout(side) for side in programs[name]] for name in moved}, fixed, seed, show
    )
    return {} if interrupted else found


def run_suite(
    programs: Mapping[str, Sequence[Side]], plans: Mapping[str, Plan], seed: int, show: Callable[[str], None]
) -> tuple[Results, bool]:
    """Rounds until every program has enough, or a run of it has failed; whether Ctrl-C ended it.

    Raises:
        CozError: a program cannot be started, was changed, or its outputs differ though they must not.
    """
    generator = random.Random(seed)
    collectors = {name: Collector(sides, plans[name]) for name, sides in programs.items()}
    failures: dict[str, Problem] = {}
    interrupted = False

    def run(name: str, what: Callable[[], None]) -> None:
        try:
            what()
        except FailedRunError as error:  # the other programs go on
            failures[name] = error.problem

    try:
        for name, collector in collectors.items():
            show(f"warming up {name}")
            run(name, collector.warm_up)
        while open_ones := [
            n for n, each in collectors.items() if n not in failures and not each.is_enough()
        ]:
            generator.shuffle(open_ones)
            for number, name in enumerate(open_ones):
                done = min(len(collectors[each].collected().blocks) for each in open_ones)
                show(f"pair {done + 1} of {plans[name].pairs}: {name}, {number + 1} of {len(open_ones)}")
                run(name, collectors[name].run_block)
    except KeyboardInterrupt:
        interrupted = True
    found = {name: each.collected(interrupted, failures.get(name)) for name, each in collectors.items()}
    return found, interrupted
