"""`coz compare`: run two programs in turn until the difference is known."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cozcli.commands import options as shared
from cozcli.compare import PACKAGES, messages
from cozcli.compare.drawing import Table, check_page, check_picture, draw
from cozcli.compare.function_layouts import function_layouts_of, in_one_layout, with_functions_moved
from cozcli.compare.gate import gates
from cozcli.compare.machine import check_input, choose_processors, machine
from cozcli.compare.memory_layouts import SYSTEM
from cozcli.compare.options import add_options
from cozcli.compare.result import MIN_PAIRS
from cozcli.compare.sides import sides_of
from cozcli.compare.trial import Side
from cozcli.errors import STATUS_INTERRUPTED, CozError, Problem
from cozcli.status_row import StatusRow

if TYPE_CHECKING:
    from cozcli.compare.collect import Collected, Plan
    from cozcli.compare.report import Report

#: In seconds: below, the start of the process is a large part.
_SHORT = 0.01


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "compare",
        help="say whether one program is really faster than another",
        usage="coz compare [options] ./a [arguments] --- vs ./b [arguments]",
        description="Run A and B in turn, in random order and each time in another layout, and say whether B "
        "is faster, slower or equivalent, with an interval. What they print is not shown. Ctrl-C ends it "
        "with the results so far.",
        allow_abbrev=False,
    )
    add_options(parser)
    parser.set_defaults(execute=execute, parser=parser)


def execute(options: argparse.Namespace) -> int:
    """Measure, estimate, print."""
    shared.require_packages(*PACKAGES, *([] if options.form else ["rich"]))
    if options.plot:
        check_picture(options.plot)
    if options.html:
        check_page(options.html)
    if options.layout == "none" and (options.heap not in (None, SYSTEM) or options.stack != SYSTEM):
        options.parser.error("--layout none moves nothing: leave it out to use --heap or --stack")
    if options.suite:
        from cozcli.compare.suite import command as suite

        return suite.execute(options)
    if options.import_hyperfine:
        from cozcli.compare import imported

        return imported.execute(options)
    from cozcli.compare import report as reports
    from cozcli.compare.prediction import predict
    from cozcli.compare.setup import arranged, metrics_of, plan_of

    if (options.profile is None) != (options.line is None):
        options.parser.error("--profile and --line go together")
    prediction = None if options.profile is None else predict(options.profile, options.line)
    check_input(options.input)
    choose_processors(options.cpus)
    plan = plan_of(options)
    is_random = options.stack == "random"
    sides = [
        arranged(side, options.heap, is_random, options.input)
        for side in sides_of(options.a, options.program)
    ]
    sides, stay = with_functions_moved(sides, options.layout, plan.seed, options.input, options.rerandomize)
    collected = measured([*sides, *([sides[0]._replace(name="A, again")] if options.control else [])], plan)
    metrics = metrics_of(options)
    pairs = len(collected.blocks)
    if pairs < MIN_PAIRS:
        raise CozError(messages.too_few_pairs(pairs, MIN_PAIRS), STATUS_INTERRUPTED)
    ended_early = collected.interrupted or collected.failure is not None
    fixed, left_out = (None, None) if ended_early else _fixed(sides[:2], plan, options.fixed_pairs)
    report = reports.Report(
        sides,
        plan,
        options.margin,
        collected,
        reports.compare(collected, metrics, options.margin),
        reports.compare(collected, metrics, options.margin, 2) if options.control else [],
        machine(),
        prediction,
        options.t_test,
        reports.compare(fixed, metrics[:1], options.margin) if fixed else [],
    )
    shared.write(reports.render(report, options.form))
    if options.plot:
        draw(json.loads(reports.render_json(report)), options.plot)
    if options.html:
        write_html(report, options.html)
    shared.print_warnings([*(each for each in (stay, left_out) if each), *_doubts(report)])
    if collected.failure:
        raise CozError(messages.ended_early(collected.failure, pairs))
    return gates(options, [("", report.comparisons[0].estimate)], metrics[0].more_is_better)


def write_html(report: Report, path: str) -> None:
    """The page of --html."""
    from cozcli.compare import page
    from cozcli.compare import report as reports

    table = Table("", *reports.table(report))
    page.write(json.loads(reports.render_json(report)), reports.sentence(report), [table], path)


def measured(sides: Sequence[Side], plan: Plan) -> Collected:
    """Collect, and show on a terminal how far things are."""
    from cozcli.compare.collect import LOOK_AGAIN, collect
    from cozcli.compare.estimate import half_width

    begin = time.monotonic()
    known, looked = "", 0
    with StatusRow.progress("coz compare") as show:

        def watch(collected: Collected) -> None:
            nonlocal known, looked
            done = len(collected.blocks)
            # Of thousands of pairs, an interval takes longer than a run.
            if done >= MIN_PAIRS and done >= LOOK_AGAIN * looked:
                known, looked = f", ±{100 * half_width(collected.pairs(plan.metric)):.2g} %", done
            left = (time.monotonic() - begin) / done * (plan.pairs - done)
            show(f"pair {done} of {plan.pairs}{known}, at most {left:.0f} s left")

        return collect(sides, plan, watch)


def _doubts(report: Report) -> list[Problem]:
    """What the reader should know besides."""
    from cozcli.compare.collect import DISTURBED
    from cozcli.compare.estimate import half_width

    plan, collected = report.plan, report.collected
    pairs = len(collected.blocks)
    doubts: list[Problem] = []
    for side in report.sides[:2]:
        if (layouts := function_layouts_of(side)) and layouts.others:
            doubts.append(messages.others_stay(side.name, layouts.others))
    if collected.interrupted:
        doubts.append(messages.interrupted(pairs, plan.pairs))
    if collected.replaced or collected.disturbed:
        doubts.append(messages.disturbed(collected.replaced, collected.disturbed, DISTURBED))
    half = half_width(collected.pairs(plan.metric))
    ended_early = collected.interrupted or collected.failure is not None
    if plan.precision is not None and half > plan.precision and not ended_early:
        doubts.append(messages.imprecise(half, plan.precision, pairs))
    if plan.metric.name in ("cpu", "wall"):
        usual = statistics.median(plan.metric.value(trial) for block in collected.blocks for trial in block)
        if usual < _SHORT:
            doubts.append(messages.short_runs(usual, plan.metric.noun))
    return doubts


def _fixed(sides: Sequence[Side], plan: Plan, pairs: int) -> tuple[Collected | None, Problem | None]:
    """The same comparison in the one layout of the files; None for no or too few pairs, and if a run failed
    what is to be said of that: all others are done.
    """
    if pairs == 0 or function_layouts_of(sides[0]) is None:
        return None, None
    plan = plan._replace(pairs=pairs, precision=None, layouts=False, warm_ups=0, check_output=False)
    try:
        found = measured([in_one_layout(side) for side in sides], plan)
    except CozError as error:
        return None, messages.fixed_left_out(error.problem)
    if found.failure:
        return None, messages.fixed_left_out(found.failure)
    return (found if len(found.blocks) >= MIN_PAIRS else None), None
