"""From options to what is measured: plan, metrics, and what moves memory."""

from __future__ import annotations

import argparse
import random

from cozcli.compare.collect import Plan
from cozcli.compare.design import Layout
from cozcli.compare.layouts import Arranger
from cozcli.compare.memory_layouts import check_program, check_run, memory_layouts
from cozcli.compare.metrics import METRICS, Metric, instruments_of, metric_named
from cozcli.compare.options import DEFAULT_PAIRS
from cozcli.compare.trial import Side, run


def metrics_of(options: argparse.Namespace) -> list[Metric]:
    """Each once, in the order of the command line."""
    return [metric_named(name) for name in dict.fromkeys(options.metric or ["cpu"])]


def plan_of(options: argparse.Namespace) -> Plan:
    """How to measure, as the options say.

    Raises:
        CozError: what a metric needs is not there.
    """
    metrics = metrics_of(options)
    return Plan(
        pairs=options.pairs or (DEFAULT_PAIRS if options.precision is None else 200),
        precision=options.precision,
        metric=metrics[0],
        seed=random.getrandbits(64) if options.layout_seed is None else options.layout_seed,
        layouts=options.layout != "none",
        warm_ups=options.warm_up,
        stdin=options.input,
        check_output=options.check_output,
        instruments=instruments_of(metrics),
        memory=METRICS["memory"] in metrics,
    )


def arranged(side: Side, heap: str | None, stack: bool, stdin: str) -> Side:
    """The side with what moves its memory, as --heap and --stack ask.

    Raises:
        CozError: it cannot be moved.
    """
    layouts = memory_layouts(heap, stack)
    if layouts is None:
        return side

    def try_it(arranger: Arranger) -> None:
        run(side._replace(arrangers=(*side.arrangers, arranger)), Layout(0), stdin)

    program = side.program(None)
    check_program(side.name, program)
    check_run(side.name, program, layouts, try_it)
    return side._replace(arrangers=(*side.arrangers, layouts))
