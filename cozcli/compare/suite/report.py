"""A suite's results as text, JSON, CSV and Markdown: a row for each program, a column for each treatment."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from cozcli import __version__
from cozcli.compare.collect import Plan
from cozcli.compare.drawing import Table
from cozcli.compare.metrics import Metric
from cozcli.compare.report import figure, trial_json
from cozcli.compare.suite.running import Results
from cozcli.compare.suite.statistics import SIGNIFICANT, CellResult, SuiteResult, TreatmentResult
from cozcli.messages import listed
from cozcli.reports.cells import to_csv, to_markdown

FORMAT, VERSION = "coz-comparison-suite", 1
_MARKS = {"faster": "▼", "slower": "▲", "equivalent": "=", "inconclusive": ""}
_LEGEND = (
    "Treatment / baseline [95 %], {}. ▼ faster, ▲ slower (5 % over the suite, Holm), "
    "= equivalent; no mark: inconclusive."
)
_FIXED = "The one layout that the linker chose would have said:"


class SuiteReport(NamedTuple):
    """metrics: the first one decides. machine: what may have mattered. moved: programs whose functions lay
    elsewhere in each run. fixed: what the one layout of the files says, by the first metric. interval: ms
    after which functions moved again within a run; 0: they did not. builds: do layouts choose builds of all?
    """

    baseline: str
    treatments: Sequence[str]
    metrics: Sequence[Metric]
    margin: float
    plan: Plan
    memory: dict[str, str]
    machine: dict[str, Any]
    results: Results
    found: SuiteResult
    moved: Sequence[str] = ()
    fixed: SuiteResult | None = None
    interval: int = 0
    builds: bool = False

    @property
    def layout(self) -> str:
        """As Report.layout; `mixed`: functions were moved of some programs only."""
        if not self.plan.layouts:
            return "none"
        if not self.moved:
            return "link" if self.builds else "environment"
        return "runtime" if len(self.moved) == len(self.results) else "mixed"


def render(report: SuiteReport, form: str | None) -> str:
    """As `json`, `csv` or `markdown`, otherwise as text."""
    forms = {"json": render_json, "csv": render_csv, "markdown": render_markdown}
    return forms.get(form or "", render_text)(report)


def in_parts(report: SuiteReport) -> tuple[str, list[Table]]:
    """Sentences and tables, for a page."""
    tables = [Table("", *_table(report, metric, report.found)) for metric in report.metrics]
    if report.fixed:
        tables.append(Table(_FIXED, *_table(report, report.metrics[0], report.fixed)))
    return f"{_sentences(report)}\n{_legend(report)}".strip(), tables


def render_json(report: SuiteReport) -> str:
    """All figures, with every run's."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "coz": __version__,
        "baseline": report.baseline,
        "treatments": list(report.treatments),
        "margin": report.margin,
        "rerandomize": report.interval / 1000 or None,
        "layout": report.layout,
        "layout_seed": report.plan.seed,
        **report.memory,
        "machine": report.machine,
        "comparisons": [_json(cell) for cell in report.found.cells],
        "controls": [_json(cell) for cell in report.found.controls],
        "moved": list(report.moved),
        "fixed_layout": [_json(cell) for cell in report.fixed.cells] if report.fixed else [],
        "anova": [
            {
                key: value if math.isfinite(value) else None
                for key, value in each._asdict().items()
                if key != "treatment"
            }
            | {"treatment": each.treatment}
            for each in report.found.treatments
        ],
        "programs": {
            name: {
                "replaced": found.replaced,
                "disturbed": found.disturbed,
                "blocks": [[trial_json(trial, report.metrics) for trial in block] for block in found.blocks],
            }
            for name, found in report.results.items()
        },
    }
    return json.dumps(data, indent=1) + "\n"


def render_csv(report: SuiteReport) -> str:
    """A row for each cell and metric."""
    rows = [_json(cell) for cell in (*report.found.cells, *report.found.controls)]
    return to_csv(list(rows[0]), [[str(value) for value in row.values()] for row in rows]) if rows else ""


def render_markdown(report: SuiteReport) -> str:
    """The table and what all programs say together."""
    tables = "\n".join(_markdown(report, metric, report.found) for metric in report.metrics)
    return f"{tables}\n{_legend(report)}\n\n{_sentences(report)}\n" + (
        f"\n{_FIXED}\n\n{_markdown(report, report.metrics[0], report.fixed)}" if report.fixed else ""
    )


def _markdown(report: SuiteReport, metric: Metric, result: SuiteResult) -> str:
    headings, rows = _table(report, metric, result)
    return to_markdown(headings, rows, [False, *[True] * (len(headings) - 1)])


def render_text(report: SuiteReport) -> str:
    """A table for each metric, and what all programs say together."""
    from cozcli.reports.console import plain_table  # which needs rich

    tables = [plain_table(*_table(report, metric, report.found)) for metric in report.metrics]
    text = "\n\n".join([*tables, f"{_legend(report)}\n{_sentences(report)}"]) + "\n"
    if report.fixed:
        text += f"\n{_FIXED}\n\n{plain_table(*_table(report, report.metrics[0], report.fixed))}\n"
    return text


def _legend(report: SuiteReport) -> str:
    rates = any(metric.more_is_better for metric in report.metrics)
    legend = _LEGEND.format("less is better, of rates more" if rates else "less is better")
    if not report.moved:
        return legend
    some = "" if len(report.moved) == len(report.results) else f" of {listed(report.moved)}"
    again = f", and move again every {report.interval} ms" if report.interval else ""
    return f"{legend} In each run functions{some} lie in other places{again}."


def _table(report: SuiteReport, metric: Metric, result: SuiteResult) -> tuple[list[str], list[list[str]]]:
    others = report.treatments[1:]
    headings = [metric.noun, "Pairs", *others, f"{report.baseline} again"]
    cells = {(cell.program, cell.treatment): cell for cell in result.cells if cell.metric == metric}
    controls = {cell.program: cell for cell in result.controls if cell.metric == metric}
    rows = [
        [
            program,
            str(control.estimate.pairs),
            *(_cell(cells[program, name]) for name in others),
            _cell(control),
        ]
        for program, control in controls.items()
    ]
    if metric == report.metrics[0]:
        rows.append(["all (geometric mean)", "", *(_mean(each) for each in result.treatments), ""])
        rows.append(["ANOVA within programs", "", *(_anova(each) for each in result.treatments), ""])
    return headings, rows


def _cell(cell: CellResult) -> str:
    found = cell.estimate
    mark = _MARKS[found.verdict] or " "
    return f"{found.ratio:.3f} [{found.low:.3f}, {found.high:.3f}] {mark}"


def _mean(each: TreatmentResult) -> str:
    if not math.isfinite(each.low):
        return f"{each.ratio:.3f}  "
    return f"{each.ratio:.3f} [{each.low:.3f}, {each.high:.3f}]  "


def _anova(each: TreatmentResult) -> str:
    return f"F(1, {each.degrees}) = {each.f:.3g}, p = {each.p:.3g}  " if math.isfinite(each.p) else ""


def _sentences(report: SuiteReport) -> str:
    texts = []
    for each in report.found.treatments:
        if not math.isfinite(each.p):
            continue
        change = 100 * (each.ratio - 1)
        words = ("less", "more") if report.metrics[0].is_taken else ("lower", "higher")
        less = words[change >= 0]
        shown = "" if each.p < SIGNIFICANT else ", which is not significant"
        noun = report.metrics[0].noun
        texts.append(
            f"{each.treatment}: over {each.degrees + 1} programs {figure(abs(change))} % {less} {noun} than "
            f"{report.baseline}{shown} (p = {each.p:.2g})."
        )
    false = [c for c in report.found.controls if c.estimate.verdict in ("faster", "slower")]
    if false:
        names = ", ".join(cell.program for cell in false)
        texts.append(f"Controls differ from themselves: {names}. Do not trust these programs' rows.")
    return "\n".join(texts)


def _json(cell: CellResult) -> dict[str, Any]:
    return {
        "program": cell.program,
        "treatment": cell.treatment,
        "metric": cell.metric.name,
        "more_is_better": cell.metric.more_is_better,
        **cell.estimate._asdict(),
        "p_holm": cell.p_holm,
    }
