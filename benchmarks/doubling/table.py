"""The outcomes as a table in Markdown, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence

from doubling.outcome import Interval, Outcome

HEAD = (
    "| program, region | runs | threads | cores | share | undone by | truth | predicted | error | held |",
    "|---|---|---|---|---|---|---|---|---|---|",
)


def render(outcomes: Sequence[Outcome]) -> str:
    """Percentages and points; intervals are of 95 %."""
    held = sum(outcome.held for outcome in outcomes)
    known = [abs(outcome.error) for outcome in outcomes if outcome.error is not None]
    lines = [*HEAD, *map(row, outcomes), ""]
    if known:
        mean, worst = 100 * sum(known) / len(known), 100 * max(known)
        lines.append(
            f"Held: {held} of {len(outcomes)}, within 4 points or the interval. "
            f"Error: mean {mean:.1f} points, largest {worst:.1f}."
        )
    return "\n".join(lines)


def row(outcome: Outcome) -> str:
    """One case."""
    error = "–" if outcome.error is None else f"{100 * outcome.error:+.1f}"
    cells = (
        f"{outcome.program}, {outcome.case.split('/')[0]}",
        str(outcome.runs),
        outcome.threads,
        f"{outcome.cores:g}",
        f"{100 * outcome.region.share:.0f} %",
        f"{100 * outcome.region.undone:.0f} %",
        _interval(outcome.truth),
        "no result" if outcome.predicted is None else _interval(outcome.predicted),
        error,
        "yes" if outcome.held else "**no**",
    )
    return f"| {' | '.join(cells)} |"


def _interval(value: Interval) -> str:
    return f"{100 * value.value:.1f} [{100 * value.low:.1f}, {100 * value.high:.1f}]"
