"""A comparison as text, JSON, CSV and Markdown."""

from __future__ import annotations

import json
import shlex
import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from cozcli import __version__
from cozcli.compare.collect import Collected, Plan
from cozcli.compare.diagnostics import as_json, diagnose, in_words
from cozcli.compare.estimate import estimate
from cozcli.compare.function_layouts import function_layouts_of
from cozcli.compare.memory_layouts import SYSTEM, heap_seed, memory_layouts_of, stack_seed
from cozcli.compare.metrics import Metric
from cozcli.compare.prediction import Prediction
from cozcli.compare.result import Estimate
from cozcli.compare.trial import Side, Trial
from cozcli.messages import printable
from cozcli.reports.cells import p_text, to_csv, to_markdown

FORMAT, VERSION = "coz-comparison", 1
COLUMNS = (*Estimate._fields, "metric", "a", "b")
#: That narrow intervals may need beyond the usual ones.
MORE_DIGITS = 4


class Comparison(NamedTuple):
    """B, or the control, against A by one metric; `a`, `b`: medians of their runs."""

    metric: Metric
    a: float
    b: float
    estimate: Estimate


class Report(NamedTuple):
    """controls: A against itself, where that was asked for; machine: what may have mattered.
    prediction: of a causal profile, where one was named. fixed: what the layout that the linker chose says,
    by the first metric; empty if that was not measured.
    """

    sides: Sequence[Side]
    plan: Plan
    margin: float
    collected: Collected
    comparisons: Sequence[Comparison]
    controls: Sequence[Comparison]
    machine: dict[str, Any]
    prediction: Prediction | None = None
    t_test: bool = False
    fixed: Sequence[Comparison] = ()

    @property
    def layout(self) -> str:
        """What runs differ in: `runtime` (functions), `link` (builds), `environment` or `none`."""
        if not self.plan.layouts:
            return "none"
        sides = self.sides[:2]
        if all(map(function_layouts_of, sides)):
            return "runtime"
        return "link" if all(side.builds for side in sides) else "environment"


def compare(
    collected: Collected, metrics: Sequence[Metric], margin: float, side: int = 1
) -> list[Comparison]:
    """`side` against A, by each metric."""
    found = []
    for metric in metrics:
        pairs = collected.pairs(metric, side)
        a, b = (statistics.median(values) for values in zip(*pairs, strict=True))
        found.append(Comparison(metric, a, b, estimate(pairs, margin, metric.more_is_better)))
    return found


def render(report: Report, form: str | None) -> str:
    """As `json`, `csv` or `markdown`, otherwise as text."""
    forms = {"json": render_json, "csv": render_csv, "markdown": render_markdown}
    return forms.get(form or "", render_text)(report)


def render_json(report: Report) -> str:
    """All figures as fractions and seconds or bytes, with every run's."""
    sides = report.sides[:2]
    metrics = [each.metric for each in report.comparisons]
    data = {
        "format": FORMAT,
        "version": VERSION,
        "coz": __version__,
        "sides": [{"name": side.name, "command": list(side.command)} for side in sides],
        "margin": report.margin,
        "layout": report.layout,
        "movable": [layouts.plan.movable if layouts else None for layouts in map(function_layouts_of, sides)],
        "rerandomize": _interval(report) / 1000 or None,
        "builds": [len(side.builds) or 1 for side in sides],
        "layout_seed": report.plan.seed,
        **_memory_json(report),
        "machine": report.machine,
        "replaced": report.collected.replaced,
        "disturbed": report.collected.disturbed,
        "prediction": _prediction_json(report.prediction),
        "comparisons": [
            {**_json(each), "diagnostics": as_json(diagnose(report.collected.pairs(each.metric)))}
            for each in report.comparisons
        ],
        "fixed_layout": [_json(each) for each in report.fixed],
        "controls": [_json(each) for each in report.controls],
        "blocks": [[trial_json(trial, metrics) for trial in block] for block in report.collected.blocks],
    }
    return json.dumps(data, indent=1) + "\n"


def render_csv(report: Report) -> str:
    """A row for each metric."""
    return to_csv(
        COLUMNS,
        [
            [str(value) for value in (*each.estimate, each.metric.name, each.a, each.b)]
            for each in report.comparisons
        ],
    )


def render_markdown(report: Report) -> str:
    """The sentence, then a table."""
    return f"{sentence(report)}\n\n{to_markdown(_HEADINGS, _rows(report), _RIGHT)}"


def render_text(report: Report) -> str:
    """The commands, a table and the sentence."""
    from cozcli.reports.console import plain_table  # which needs rich

    # A terminal that is too narrow wraps lines, which loses nothing.
    lines = plain_table(_HEADINGS, _rows(report))
    commands = "".join(f"{side.name}: {printable(shlex.join(side.command))}\n" for side in report.sides[:2])
    return f"{commands}\n{lines}\n\n{sentence(report)}\n"


def table(report: Report) -> tuple[Sequence[str], list[list[str]]]:
    """Headings and rows."""
    return _HEADINGS, _rows(report)


_HEADINGS = ("", "A", "B", "B / A", "95 %", "Pairs", "p", "B faster in", "Detectable")
_RIGHT = (False, *(True,) * (len(_HEADINGS) - 1))


def sentence(report: Report) -> str:
    """What the first metric says, for people."""
    return _sentence(report.comparisons[0], report) + _fixed(report) + _prediction(report) + _t_test(report)


def _sentence(comparison: Comparison, report: Report) -> str:
    found = comparison.estimate
    change = _change(comparison)
    of_it = f"it {change}" if comparison.metric.is_taken else f"its {change}"
    of_b = f"B {change}" if comparison.metric.is_taken else f"B's {change}"
    runs = f"{found.pairs} pairs{_layouts(report)}"
    match found.verdict:
        case "equivalent":
            return f"B is equivalent to A within {100 * report.margin:g} %: {of_it} ({runs})."
        case "inconclusive":
            return (
                f"Inconclusive: {of_b} ({runs}). So many pairs detect a difference of "
                f"{_percent(found.minimum_detectable)} in most cases; more (-n) detect a smaller one."
            )
        case verdict:
            if not comparison.metric.is_speed:
                return f"{of_b} ({runs})."
            return f"B is {verdict}: {of_it} ({runs})."


def _change(comparison: Comparison) -> str:
    """`takes 5.0 % less processor time [4.0, 6.0]`, `mean latency of x is 5.0 % lower [4.0, 6.0]`."""
    metric, is_less = comparison.metric, comparison.estimate.ratio < 1
    by, interval = _by(comparison.estimate)
    if metric.is_taken:
        return f"takes {by} {'less' if is_less else 'more'} {metric.noun} {interval}"
    return f"{metric.noun} is {by} {'lower' if is_less else 'higher'} {interval}"


def _by(found: Estimate) -> tuple[str, str]:
    """How far the ratio is from 1, and its interval."""
    change, low, high = (100 * (value - 1) for value in (found.ratio, found.low, found.high))
    if change < 0:
        change, low, high = -change, -high, -low
    by, *ends = figures(change, low, high)
    return f"{by} %", f"[{', '.join(ends)}]"


def _layouts(report: Report) -> str:
    if not report.plan.layouts:
        return ""
    memory = memory_layouts_of(report.sides)
    others = [f"heap ({memory.heap})"] if memory and memory.heap else []
    others += ["stacks"] if memory and memory.stack else []
    if report.layout == "runtime":
        interval = _interval(report)
        again = f", and elsewhere again every {interval} ms" if interval else ""
        return f", each run with its {_together(['functions', *others])} in other places{again}"
    builds = [len(side.builds) for side in report.sides[:2]]
    build = f", one of {builds[0]} and {builds[1]} builds" if all(builds) else ""
    return f", each run with another {_together(['environment size', *others])}{build}"


def _together(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _interval(report: Report) -> int:
    """ms after which functions moved again within a run; 0: they did not."""
    found = [layouts.plan.interval for layouts in map(function_layouts_of, report.sides[:2]) if layouts]
    return max(found, default=0)


def _t_test(report: Report) -> str:
    if not report.t_test:
        return ""
    return "\n" + in_words(diagnose(report.collected.pairs(report.comparisons[0].metric)))


def _fixed(report: Report) -> str:
    """What measuring the files as they are would have said."""
    if not report.fixed:
        return ""
    found = report.fixed[0].estimate
    by, interval = _by(found)
    less = "less" if found.ratio < 1 else "more"
    return (
        f"\nThe one layout that the linker chose would have said: {by} {less} {interval}, "
        f"p = {p_text(found.p)} ({found.pairs} pairs)."
    )


def _prediction(report: Report) -> str:
    prediction = report.prediction
    if prediction is None:
        return ""

    def percent(*fractions: float) -> str:
        value, low, high = figures(*(100 * fraction for fraction in fractions))
        return f"{value} % [{low}, {high}]"

    effects = "; ".join(
        f"{100 * e.speedup:.0f} % faster saves {percent(e.effect, e.low, e.high)}" for e in prediction.effects
    )
    found = report.comparisons[0].estimate
    saved = (1 - found.ratio, 1 - found.high, 1 - found.low)
    if report.comparisons[0].metric.more_is_better:
        # The time for each visit.
        saved = (1 - 1 / found.ratio, 1 - 1 / found.low, 1 - 1 / found.high)
    measured = f"Measured: B saves {percent(*saved)}."
    return f"\nPredicted for {printable(prediction.location)}: {effects}. {measured}"


def _prediction_json(prediction: Prediction | None) -> dict[str, Any] | None:
    if prediction is None:
        return None
    fields = ("speedup", "effect", "low", "high")
    effects = [{name: getattr(effect, name) for name in fields} for effect in prediction.effects]
    return {"location": prediction.location, "point": prediction.point, "effects": effects}


def _rows(report: Report) -> list[list[str]]:
    rows = [(each.metric.noun, each) for each in report.comparisons]
    rows += [(f"{each.metric.noun}, A against A", each) for each in report.controls]
    return [
        [
            name,
            each.metric.text(each.a),
            each.metric.text(each.b),
            f"{each.estimate.ratio:.4f}",
            f"{each.estimate.low:.4f} to {each.estimate.high:.4f}",
            str(each.estimate.pairs),
            p_text(each.estimate.p),
            f"{100 * each.estimate.probability_faster:.0f} %",
            _percent(each.estimate.minimum_detectable),
        ]
        for name, each in rows
    ]


def _percent(fraction: float) -> str:
    return f"{figure(100 * fraction)} %"


def figures(value: float, low: float, high: float) -> list[str]:
    """A value and the ends of its interval, with digits enough to tell the ends apart."""
    for more in range(MORE_DIGITS):
        shown = [figure(number, more) for number in (value, low, high)]
        if shown[1] != shown[2] or low == high:
            break
    return shown


def figure(number: float, more: int = 0) -> str:
    """Two digits or so, or some more, and never an exponent, nor -0."""
    decimals = more + (2 if abs(number) < 1 else 1 if abs(number) < 10 else 0)
    text = f"{number:.{decimals}f}"
    return text if text.strip("-0.") else text.removeprefix("-")


def _memory_json(report: Report) -> dict[str, str]:
    layouts = memory_layouts_of(report.sides)
    return {
        "heap": layouts.heap if layouts and layouts.heap else SYSTEM,
        "stack": "random" if layouts and layouts.stack else SYSTEM,
    }


def trial_json(trial: Trial, metrics: Sequence[Metric]) -> dict[str, Any]:
    """What a run took, by these metrics, too, and its layout."""
    found: dict[str, Any] = {name: getattr(trial, name) for name in ("cpu", "wall", "lost")}
    found |= {metric.name: metric.value(trial) for metric in metrics}
    if trial.layout is not None:
        found["layout"] = {
            **trial.layout._asdict(),
            "heap_seed": heap_seed(trial.layout),
            "stack_seed": stack_seed(trial.layout),
        }
    return found


def _json(comparison: Comparison) -> dict[str, Any]:
    return {
        "metric": comparison.metric.name,
        "more_is_better": comparison.metric.more_is_better,
        **comparison.estimate._asdict(),
        "a": comparison.a,
        "b": comparison.b,
    }
