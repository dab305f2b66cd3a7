"""`coz compare --suite FILE`: build, measure, print."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys

from cozcli.commands import options as shared
from cozcli.compare import messages as comparison_messages
from cozcli.compare.collect import DISTURBED
from cozcli.compare.drawing import draw
from cozcli.compare.function_layouts import function_layouts_of, with_functions_moved
from cozcli.compare.gate import STATUS_GATE
from cozcli.compare.machine import check_input, choose_processors, machine
from cozcli.compare.memory_layouts import SYSTEM
from cozcli.compare.options import refuse
from cozcli.compare.result import MIN_PAIRS
from cozcli.compare.setup import metrics_of, plan_of
from cozcli.compare.suite import messages
from cozcli.compare.suite.description import read_suite
from cozcli.compare.suite.report import SuiteReport, in_parts, render
from cozcli.compare.suite.running import build_all, run_fixed, run_suite, sides_of
from cozcli.compare.suite.statistics import SIGNIFICANT, evaluate
from cozcli.errors import STATUS_INTERRUPTED, CozError, Problem
from cozcli.status_row import StatusRow

#: Of a suite, in which every program has a block a round.
DEFAULT_PAIRS = 12
#: Options that suites have no use for.
_OF_TWO_PROGRAMS = ("--input", "--t-test", "--profile", "--line", "--import-hyperfine")


def execute(options: argparse.Namespace) -> int:
    """The status: that of `coz compare`."""
    if options.a or options.program:
        raise CozError(messages.programs_beside_suite())
    refuse(options, "--suite compares what its file lists", *_OF_TWO_PROGRAMS)
    suite = read_suite(options.suite)
    treatments = [cell.treatment for cell in suite.programs[0].cells]
    moved = [each.name for each in treatments if each.heap not in (None, SYSTEM)]
    if options.layout == "none" and moved:
        options.parser.error(f"--layout none moves nothing: leave it out, or heap in [treatments.{moved[0]}]")
    options.plot, options.html = (path and os.path.abspath(path) for path in (options.plot, options.html))
    os.chdir(suite.folder)
    choose_processors(options.cpus)
    if options.pairs is None and options.precision is None:
        options.pairs = DEFAULT_PAIRS
    base = plan_of(options)
    with StatusRow.progress("coz compare") as show:
        build_all(suite, show)
        sides, plans = {}, {}
        stays: list[Problem] = []
        for number, program in enumerate(suite.programs):
            check_input(program.stdin)
            show(f"looking at {program.name}")
            found = sides_of(program, options.heap, options.stack == "random")
            found, stay = with_functions_moved(
                found, options.layout, base.seed + number, program.stdin, options.rerandomize
            )
            sides[program.name] = found
            stays += [stay] if stay else []
            plans[program.name] = base._replace(stdin=program.stdin, seed=base.seed + number)
        results, interrupted = run_suite(sides, plans, base.seed, show)
        try:
            whole = {name: each for name, each in sides.items() if not results[name].failure}
            fixed = {} if interrupted else run_fixed(whole, plans, options.fixed_pairs, base.seed, show)
        except CozError as error:
            fixed, stays = {}, [*stays, comparison_messages.fixed_left_out(error.problem)]
        stays += [comparison_messages.fixed_left_out(f.failure) for f in fixed.values() if f.failure]
        fixed = {name: found for name, found in fixed.items() if not found.failure}
    failures = [found.failure for found in results.values() if found.failure]
    numbers = [len(found.blocks) for found in results.values()]
    pairs = min((number for number in numbers if number >= MIN_PAIRS), default=0)
    if pairs == 0 and failures:
        raise CozError(failures[0])
    if pairs == 0:
        raise CozError(comparison_messages.too_few_pairs(max(numbers), MIN_PAIRS), STATUS_INTERRUPTED)
    metrics = metrics_of(options)
    report = SuiteReport(
        suite.baseline,
        suite.treatments,
        metrics,
        options.margin,
        base,
        {"heap": options.heap or SYSTEM, "stack": options.stack},
        machine(),
        results,
        evaluate(results, suite.treatments, metrics, options.margin),
        [name for name, each in sides.items() if function_layouts_of(each[0])],
        evaluate(fixed, suite.treatments, metrics[:1], options.margin) if fixed else None,
        options.rerandomize,
        all(side.builds for found in sides.values() for side in found),
    )
    shared.write(render(report, options.form))
    if options.plot:
        draw(json.loads(render(report, "json")), options.plot)
    if options.html:
        from cozcli.compare import page

        page.write(json.loads(render(report, "json")), *in_parts(report), options.html)
    shared.print_warnings([*stays, *_doubts(report, interrupted, pairs)])
    if failures:
        shared.print_warnings(failures[1:])
        raise CozError(failures[0])
    return _gates(options, report)


def _doubts(report: SuiteReport, interrupted: bool, pairs: int) -> list[Problem]:
    found = []
    cells = len(report.found.cells)
    # The least p-value of n pairs is 2 / 2ⁿ.
    needed = 1 + math.ceil(math.log2(cells / SIGNIFICANT)) if cells else 0
    if pairs < needed:
        found.append(messages.too_few_for_so_many(pairs, cells, needed))
    if interrupted:
        found.append(comparison_messages.interrupted(pairs, report.plan.pairs))
    if left_out := _left_out(report):
        found.append(messages.programs_left_out(left_out, MIN_PAIRS))
    replaced = sum(each.replaced for each in report.results.values())
    disturbed = sum(each.disturbed for each in report.results.values())
    if replaced or disturbed:
        found.append(comparison_messages.disturbed(replaced, disturbed, DISTURBED))
    return found


def _left_out(report: SuiteReport) -> list[str]:
    """Programs of too few pairs: the suite was interrupted, or they failed."""
    return [name for name, found in report.results.items() if len(found.blocks) < MIN_PAIRS]


def _gates(options: argparse.Namespace, report: SuiteReport) -> int:
    failed = [
        f"{each.text}: {cell.program} with {cell.treatment}"
        for each in options.gate
        for cell in report.found.cells
        if cell.metric == report.metrics[0]
        and each.fails(cell.estimate, cell.metric.more_is_better)
        # A limit is compared with the interval, which does not allow for the number of comparisons.
        and (each.beyond is None or cell.p_holm < SIGNIFICANT)
    ]
    for text in failed:
        print(f"coz: gate: {text}", file=sys.stderr)
    # A gate that looked at some of the programs only has not been passed.
    is_whole = not (options.gate and _left_out(report))
    return STATUS_GATE if failed else 0 if is_whole else STATUS_INTERRUPTED
