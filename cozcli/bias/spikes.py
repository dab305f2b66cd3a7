"""Places at which the program is slow: where in a page, and whether beyond chance.

Two steps, so that looking at hundreds of places makes no false findings. The sweep over environment sizes
only names candidates: sizes are folded modulo a page, and a residue's value is the least of its pages', since
what depends on an address's low twelve bits is slow in each of them. Candidates are then run again, in
batches with other sizes beside them, and judged by these fresh runs alone: Wilcoxon's signed-rank test in
each page, its p times the number of candidates.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cozcli.bias.factors import Place
from cozcli.bias.measure import Runner
from cozcli.bias.result import PAGE, Change
from cozcli.compare.design import STACK_STEP
from cozcli.compare.estimate import estimate

#: Batches of fresh runs: a signed-rank test of so many can have a p of 0.0005.
BATCHES = 12
#: Runs of other places in a batch.
_CONTROLS = 4
#: Kinds of runs of a candidate: in the first page, in the second, and with the stack moved.
_KINDS = ("first", "second", "moved")
#: Candidates that are run again, at most.
MAX_CANDIDATES = 4
#: A slow place has a p below that, adjusted.
SIGNIFICANT = 0.01
#: Folded values that far above the median, of the usual deviation, are worth fresh runs.
_OUTSTANDING = 4.0
_PERMUTATIONS = 2000
#: Bytes beyond the last slow residue that the stack is moved by as a remedy: a cache line.
MOVED = 64


def runs_of(candidates: int) -> int:
    """How many runs `test` makes of so many candidates."""
    return BATCHES * (_CONTROLS + len(_KINDS) * candidates) if candidates else 0


class Candidate(NamedTuple):
    """Residues from `first` to `last` were slow, `peak` most."""

    peak: int
    first: int
    last: int


class Tested(NamedTuple):
    """Fresh runs of a candidate against other sizes, and with the stack moved against these. p: adjusted."""

    candidate: Candidate
    slowdown: Change
    p: float
    moved: Change

    def is_slow(self, margin: float) -> bool:
        """In each page?"""
        return is_slow(self.slowdown, self.p, margin)


def is_slow(slowdown: Change, p: float, margin: float) -> bool:
    """Beyond chance, and by more than matters? p: adjusted."""
    return p < SIGNIFICANT and slowdown.low > 1 and slowdown.ratio > 1 + margin


def folded(levels: Mapping[int, Sequence[float]]) -> tuple[list[int], NDArray[np.float64]]:
    """Residues, and their times (pages × residues) over the page's median, as logarithms."""
    residues = sorted(size for size in levels if size < PAGE)
    times = np.array(
        [[float(np.median(levels[residue + page])) for residue in residues] for page in (0, PAGE)]
    )
    return residues, times - np.median(times, axis=1, keepdims=True)


def permutation_p(times: NDArray[np.float64], seed: int) -> float:
    """Do pages agree in where they are slow? Compares the greatest least with that of shuffled residues.

    `times`: pages × residues, as `folded` returns them.
    """
    generator = np.random.default_rng(seed)
    seen = float(times.min(axis=0).max())
    shuffled = np.stack([generator.permuted(np.tile(page, (_PERMUTATIONS, 1)), axis=1) for page in times])
    return float((1 + np.sum(shuffled.min(axis=0).max(axis=1) >= seen)) / (1 + _PERMUTATIONS))


def candidates(levels: Mapping[int, Sequence[float]], margin: float) -> list[Candidate]:
    """Residues that stand out, neighbours joined, the slowest first."""
    residues, times = folded(levels)
    least = times.min(axis=0)
    middle = float(np.median(least))
    deviation = 1.4826 * float(np.median(np.abs(least - middle)))
    limit = middle + max(_OUTSTANDING * deviation, margin / 2)
    slow = [residue for residue, value in zip(residues, least, strict=True) if value > limit]
    runs: list[list[int]] = []
    for residue in slow:
        if runs and residue - runs[-1][-1] == STACK_STEP:
            runs[-1].append(residue)
        else:
            runs.append([residue])
    value = dict(zip(residues, (float(each) for each in least), strict=True))
    found = [Candidate(max(run, key=value.__getitem__), run[0], run[-1]) for run in runs]
    return sorted(found, key=lambda each: -value[each.peak])[:MAX_CANDIDATES]


def test(
    runner: Runner, found: Sequence[Candidate], sizes: Sequence[int], seed: int, watch: Callable[[], None]
) -> list[Tested]:
    """Run candidates again beside other sizes."""
    if not found:
        return []
    generator = random.Random(seed)
    others = [size for size in sizes if not any(_is_near(size, each) for each in found)]
    turns = [(each, kind) for each in found for kind in _KINDS]
    batches: list[dict[tuple[Candidate, str], float]] = []
    for number in range(BATCHES):
        todo: list[tuple[tuple[Candidate, str] | None, int]] = [
            (None, generator.choice(others)) for _ in range(_CONTROLS)
        ]
        for each, kind in turns:
            page = {"first": 0, "second": PAGE}.get(kind, PAGE * (number % 2))
            todo.append(((each, kind), each.peak + page + (distance(each) if kind == "moved" else 0)))
        generator.shuffle(todo)
        times: dict[tuple[Candidate, str], float] = {}
        controls = []
        for key, size in todo:
            time = runner.time(Place(size))
            watch()
            if key is None:
                controls.append(time)
            else:
                times[key] = time
        batches.append({key: time - float(np.mean(controls)) for key, time in times.items()})
    return [_tested(each, batches, len(found)) for each in found]


def period_of(levels: Mapping[int, Sequence[float]], slow: Tested) -> int:
    """Bytes after which the place is slow again: a page, or a smaller power of two.

    With that period, three of four other sizes of its class are at least half as slow. `levels`: the sweep.
    """
    times = {size: float(np.median(runs)) for size, runs in levels.items()}
    limit = float(np.median(list(times.values()))) + float(np.log(slow.slowdown.ratio)) / 2
    peak, first, last = slow.candidate.peak, slow.candidate.first, slow.candidate.last
    for period in (1 << power for power in range(6, 12)):
        others = [
            time
            for size, time in times.items()
            if size % period == peak % period and not first <= size % PAGE <= last
        ]
        if len(others) > 1 and np.percentile(others, 25) > limit:
            return period
    return PAGE


def change(ratios: Sequence[float]) -> Change:
    """`ratios`: logarithms of ratios of paired times."""
    found = estimate([(1.0, float(np.exp(ratio))) for ratio in ratios], 0.01)
    return Change(found.ratio, found.low, found.high, found.p)


def _tested(each: Candidate, batches: Sequence[Mapping[tuple[Candidate, str], float]], tests: int) -> Tested:
    pages = [change([batch[each, kind] for batch in batches]) for kind in ("first", "second")]
    both = change([(batch[each, "first"] + batch[each, "second"]) / 2 for batch in batches])
    # Slow in every page: the page that shows it least decides.
    p = max(page.p if page.ratio > 1 else 1.0 for page in pages)
    moved = change([batch[each, "moved"] for batch in batches])
    return Tested(each, both, min(1.0, p * tests), moved)


def distance(each: Candidate) -> int:
    """How far the remedy moves the stack: past all that was slow."""
    return each.last - each.peak + MOVED


def _is_near(size: int, each: Candidate) -> bool:
    return each.first - MOVED <= size % PAGE <= each.last + 2 * MOVED
