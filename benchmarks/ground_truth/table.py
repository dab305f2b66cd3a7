"""The comparison as text: a row for each line and speedup, one for each program, one in all."""

from __future__ import annotations

from collections.abc import Iterator

from ground_truth.compare import Comparison, Measured, Results, score
from ground_truth.predict import NARROW
from ground_truth.truth import ProgramTruth

ROWS = f"{'Program':23} {'Line':12} {'At':>4} {'True':>13} {'Predicted':>10}  {'Interval':16} {'Error':>6}"
SUMMARY = (
    f"{'Program':23} {'Compared':>8} {'Mean':>6} {'Largest':>8} {'Covered':>8} {'Exp./min':>9}"
    f" {f'±{NARROW:g} after':>9}  Steepest line"
)


def render(results: Results) -> str:
    """Everything, for each tool; without a tool the truths alone."""
    text = [line for program in results.programs if not program.tools for line in true_rows(program)]
    if text:
        text = ["True effects, in per cent of the point's period", "", *text, ""]
    for tool in results.tools:
        text += [f"{tool}: {results.seconds:g} s of profiling for each program; effects in per cent", ""]
        text += [ROWS, "─" * len(ROWS)]
        for program in results.programs:
            text += [row(program.name, one) for one in program.comparisons(tool)]
        text += ["", *summary(results, tool), ""]
    return "\n".join(text)


def true_rows(program: Measured) -> Iterator[str]:
    """A program's truths alone, a row for each line."""
    width = max(len(one.line) for one in program.true.truths)
    for line in dict.fromkeys(one.line for one in program.true.truths):
        effects = "   ".join(
            f"{one.speedup} %: {one.effect:+6.1f} ±{one.spread:4.1f}"
            for one in program.true.truths
            if one.line == line
        )
        yield f"{program.name:23} {line:{width}}  {effects}   (of {program.true.period:.0f} µs)"


def row(program: str, one: Comparison) -> str:
    """A line at a speedup. `~`: read from the fitted curve; `!`: the interval misses the truth."""
    true = one.true
    start = f"{program:23} {true.line:12} {true.speedup:4} {true.effect:+7.1f} ±{true.spread:4.1f}"
    if one.predicted is None or one.error is None:
        return f"{start}  no result"
    predicted = f"{'~' if one.predicted.fitted else ''}{one.predicted.effect:+.1f}"
    interval = f"[{one.predicted.low:+.1f}, {one.predicted.high:+.1f}]"
    missed = "" if one.covered else " !"
    return f"{start}  {predicted:>9}  {interval:16} {one.error:+6.1f}{missed}"


def summary(results: Results, tool: str) -> Iterator[str]:
    """A row for each program, and one for all together."""
    yield SUMMARY
    yield "─" * len(SUMMARY)
    everything: list[Comparison] = []
    for program in results.programs:
        comparisons = program.comparisons(tool)
        if not comparisons:
            continue
        everything += comparisons
        prediction = program.tools[tool]
        yield (
            f"{program.name:23} {_numbers(comparisons)} {prediction.experiments_a_minute:9.0f}"
            f" {_seconds(prediction.narrow_after):>9}  {_steepest(program.true)}"
        )
    yield "─" * len(SUMMARY)
    yield f"{'all':23} {_numbers(everything)}"


def _numbers(comparisons: list[Comparison]) -> str:
    all_of = score(comparisons)
    compared = f"{all_of.made}/{all_of.wanted}"
    if all_of.made == 0:
        return f"{compared:>8} {'–':>6} {'–':>8} {'–':>8}"
    return f"{compared:>8} {all_of.mean:6.2f} {all_of.largest:8.1f} {100 * all_of.coverage:6.0f} %"


def _seconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.0f} s"


def _steepest(true: ProgramTruth) -> str:
    line = true.steepest()
    return f"{line} ({true.of(line, 50).effect:+.0f} at 50 %)"
