"""Layouts of functions: libcoz-layout.so moves them when the program starts (docs/decisions/layouts.md)."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import NamedTuple

from cozcli.compare import messages
from cozcli.compare.design import Layout
from cozcli.compare.self_test import program_of, self_test
from cozcli.compare.trial import Side
from cozcli.errors import CozError, Problem, reason_of
from cozcli.launch.layout_plan import LayoutPlan, plan_layout
from cozcli.launch.runtime_library import preload

#: With a smaller share of its code movable, a program's layouts would differ too little; but some hundred
#: bytes of the start-up files stay in any program.
LEAST_MOVABLE, MOST_PINNED = 0.9, 1024
_SELF_TESTS = 2


class FunctionLayouts(NamedTuple):
    """An arranger: functions in random order with random gaps, by the layout's seed. others: processes of
    other programs that the program was seen to start.
    """

    plan: LayoutPlan
    others: int = 0

    def arrange(self, environment: dict[str, str], layout: Layout) -> None:
        """Another seed for each run."""
        preload(environment, self.plan.library)
        environment.update(self.plan.variables(layout.seed))


def function_layouts_of(side: Side) -> FunctionLayouts | None:
    """What moves the functions of this side."""
    return next((each for each in side.arrangers if isinstance(each, FunctionLayouts)), None)


def in_one_layout(side: Side) -> Side:
    """The side with its functions where the linker put them, and its memory in one place in all runs. What is
    done to heap and stacks stays.
    """
    environment = dict(side.environment)
    if "LD_PRELOAD" in os.environ:
        environment.setdefault("LD_PRELOAD", os.environ["LD_PRELOAD"])
    for arranger in side.arrangers:
        if not isinstance(arranger, FunctionLayouts):
            arranger.arrange(environment, Layout(0))
    return side._replace(environment=environment, arrangers=())


def with_functions_moved(
    sides: Sequence[Side], mode: str, seed: int, stdin: str, interval: int = 0
) -> tuple[list[Side], Problem | None]:
    """Give all sides layouts of functions, as --layout says, or none of them.

    interval: ms after which a run's calls lead to another layout (--rerandomize); 0: never.

    Returns:
        The sides, and with `auto` why functions stay where they are, of one side at least.

    Raises:
        CozError: `runtime`, and the functions of a side cannot be moved; `link`, and a side has no builds;
            an interval, and functions stay.
    """
    if interval and mode in ("none", "link"):
        raise CozError(messages.rerandomize_moves(mode))
    if mode == "link":
        for side in sides:
            if not side.builds:
                raise CozError(messages.no_builds(side.name))
    if interval:
        mode = "runtime"
    if mode in ("none", "link"):
        return list(sides), None
    if mode == "auto" and any(side.builds for side in sides):
        lone = next((side for side in sides if not side.builds), None)
        return list(sides), messages.one_build(lone.name) if lone else None
    generator = random.Random(seed)
    found = []
    known: dict[object, FunctionLayouts] = {}
    for side in sides:
        # Sides of a suite may be one program, under other variables of what moves memory.
        key = (*side.command, *sorted(side.environment.items()))
        try:
            layouts = known[key] = known.get(key) or _checked(side, generator, stdin, interval)
        except CozError as error:
            if mode == "runtime":
                raise
            return list(sides), messages.functions_stay(side.name, error.problem)
        found.append(side._replace(arrangers=(*side.arrangers, layouts)))
    return found, None


def _checked(side: Side, generator: random.Random, stdin: str, interval: int) -> FunctionLayouts:
    """Plan, and see in some runs that the program does the same.

    Raises:
        CozError: it cannot be moved, or does something else.
    """
    if side.builds:
        raise CozError(messages.builds_are_layouts(side.name))
    plan = plan_layout(program_of(side.command), interval)
    if plan.movable < LEAST_MOVABLE and plan.text_bytes - plan.movable_bytes > MOST_PINNED:
        raise CozError(messages.little_movable(side.command[0], plan.movable))
    seeds = [generator.getrandbits(63) for _ in range(_SELF_TESTS)]
    try:
        test = self_test(plan, side.command, seeds, stdin, side.environment)
    except OSError as error:
        raise CozError(messages.cannot_start(side.command[0], reason_of(error))) from error
    if test.differences:
        seed, what = test.differences[0]
        raise CozError(messages.moving_changes(side.command[0], seed, what, interval))
    if test.unmoved:
        raise CozError(messages.not_loaded(side.command[0]))
    return FunctionLayouts(plan, test.others)
