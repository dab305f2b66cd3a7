"""What tells the ranks of a parallel job apart: where, how fast, and in which lines they spend their time.

Sample counts only, which need no analysis: effects are compared by `coz diff` of two ranks' profiles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from cozcli.messages import printable
from cozcli.profile.profile import Run

#: Of all samples: smaller differences of a line's share are not worth a row.
WORTH = 0.05
#: Standard deviations of two shares' difference, taken as those of independent samples.
CERTAIN = 4.0
#: Rows at most.
LINES = 8
#: Kinds of targets whose samples count waiting, of which `Rank.samples` knows nothing.
WAITED = ("wait", "lock")


@dataclass
class Rank:
    """All runs of one rank.

    `time`: ns of effective time, with reference windows. `visits`: by throughput point. `lines`: samples.
    """

    number: int
    hosts: set[str] = field(default_factory=set)
    runs: int = 0
    experiments: int = 0
    time: int = 0
    samples: int = 0
    visits: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)

    def add(self, run: Run) -> None:
        """Count one run."""
        self.runs += 1
        self.experiments += len(run.experiments)
        if run.job is not None:
            self.hosts.add(run.job.host)
        if run.samples is None:
            return
        # Visits of reference windows count, too. A killed run last counted before its latest window.
        until = run.samples.duration or run.real_time
        counted = [window for window in run.references if window.start < until]
        self.time += run.samples.run_time + sum(window.effective_duration for window in counted)
        self.samples += run.samples.total
        self.visits.update({p.name: p.visits for p in run.samples.points if p.kind == "throughput"})
        for line in run.samples.lines:
            if line.kind not in WAITED:
                self.lines[line.location] += line.count

    def share(self, line: str) -> float:
        """Of this rank's samples."""
        return min(self.lines[line] / self.samples, 1.0) if self.samples > 0 else 0.0


def ranks_of(runs: Sequence[Run]) -> list[Rank]:
    """The ranks that runs tell of, in order; none where fewer than two differ."""
    ranks: dict[int, Rank] = {}
    for run in runs:
        if run.job is not None:
            ranks.setdefault(run.job.rank, Rank(run.job.rank)).add(run)
    return [ranks[number] for number in sorted(ranks)] if len(ranks) > 1 else []


def differing_lines(ranks: Sequence[Rank]) -> list[tuple[str, Rank, Rank]]:
    """Lines whose shares differ, with the ranks of the least and the greatest; largest gap first."""
    found = []
    for line in {line for rank in ranks for line in rank.lines}:
        least = min(ranks, key=lambda rank: rank.share(line))
        most = max(ranks, key=lambda rank: rank.share(line))
        gap = most.share(line) - least.share(line)
        spread = sum(r.share(line) * (1 - r.share(line)) / r.samples for r in (least, most) if r.samples > 0)
        if gap >= WORTH and gap > CERTAIN * spread**0.5:
            found.append((gap, line, least, most))
    found.sort(key=lambda each: (-each[0], each[1]))
    return [(line, least, most) for _, line, least, most in found[:LINES]]


def describe_ranks(runs: Sequence[Run]) -> list[str]:
    """A table of the ranks, and the lines that differ; nothing where there are no two ranks."""
    ranks = ranks_of(runs)
    if not ranks:
        return []
    points = sorted({name for rank in ranks for name in rank.visits})
    rows = [["Rank", "Host", "Exp.", "Samples", *(f"{printable(name)}/s" for name in points)]]
    for rank in ranks:
        rates = [f"{rank.visits[name] * 1e9 / rank.time:,.4g}" if rank.time else "–" for name in points]
        host = ", ".join(sorted(map(printable, rank.hosts)))
        rows.append([str(rank.number), host, f"{rank.experiments:,}", f"{rank.samples:,}", *rates])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(w) if column == 1 else cell.rjust(w)
            for column, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    differing = differing_lines(ranks)
    if differing:
        lines += ["Shares of the time that differ between ranks:"]
    for line, least, most in differing:
        lines.append(
            f"  {printable(line)}: {least.share(line):.0%} in rank {least.number}, "
            f"{most.share(line):.0%} in rank {most.number}"
        )
    return lines
