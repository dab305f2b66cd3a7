"""Which places are slow, by fresh runs (`spikes`, `blocks`); then what lies there, and what helps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from cozcli.bias import blocks, messages, spikes
from cozcli.bias.factors import Place
from cozcli.bias.measure import Runner
from cozcli.bias.objects import Objects
from cozcli.bias.plan import Plan
from cozcli.bias.result import PAGE, Aliasing, Change
from cozcli.errors import CozError, Problem

_HEAP_REMEDY = "With libcoz-heap.so and COZ_HEAP=offset"


class SlowPlaces:
    """Tests for one study.

    watch: is told how many runs are done, of how many. doubts: is told what could not be tried.
    """

    def __init__(
        self,
        runner: Runner,
        plan: Plan,
        margin: float,
        seed: int,
        watch: Callable[[int, int], None],
        doubts: list[Problem],
    ) -> None:
        self._runner, self._plan = runner, plan
        self._margin, self._seed, self._watch, self._doubts = margin, seed, watch, doubts
        self._wanted = 0
        #: For each slow residue, a place that is not slow.
        self._others: dict[int, Place] = {}

    def test(self, sizes: Mapping[int, Sequence[float]]) -> Iterator[Aliasing]:
        """Those that are slow, without names. `sizes`: times of the sweep.

        Raises:
            CozError: a run failed.
        """
        tried = spikes.candidates(sizes, self._margin)
        moves_blocks = "heap" in self._plan.factors
        self._expect(spikes.runs_of(len(tried)) + moves_blocks * blocks.COMPARED)
        yield from self._environment(tried, sizes)
        if moves_blocks:
            slowdown = blocks.default_over_offset(self._runner, self._seed, self._count)
            if spikes.is_slow(slowdown, slowdown.p, self._margin):
                yield Aliasing("heap", None, slowdown, slowdown.p, [], _HEAP_REMEDY, None)

    def explained(self, slow: Aliasing, objects: Objects) -> Aliasing:
        """With names, and for the heap with what helps.

        Raises:
            CozError: a run failed.
        """
        if slow.factor == "heap":
            return self._heap(slow, objects)
        if slow.residue not in self._others:
            return slow
        return slow._replace(objects=objects.at(Place(slow.residue), self._others[slow.residue]).pairs)

    def _environment(
        self, tried: Sequence[spikes.Candidate], sizes: Mapping[int, Sequence[float]]
    ) -> Iterator[Aliasing]:
        badly_aligned: list[tuple[int, int]] = []
        for each in spikes.test(self._runner, tried, self._plan.sizes, self._seed, self._count):
            peak = each.candidate.peak
            if not each.is_slow(self._margin) or any(
                (peak - other) % period == 0 for other, period in badly_aligned
            ):
                continue
            period = spikes.period_of(sizes, each)
            if period < PAGE:
                badly_aligned.append((peak, period))
                yield Aliasing("environment", peak, each.slowdown, each.p, [], "", None, period)
                continue
            distance = spikes.distance(each.candidate)
            self._others[peak] = Place(peak + distance + spikes.MOVED)
            remedy = f"With the stack {distance} bytes further"
            yield Aliasing("environment", peak, each.slowdown, each.p, [], remedy, each.moved)

    def _heap(self, slow: Aliasing, objects: Objects) -> Aliasing:
        allocators = blocks.installed_allocators()
        self._expect(blocks.SEARCHED + blocks.COMPARED * (1 + len(allocators)))
        good = blocks.good_offsets(self._runner, self._seed, self._count)
        names = objects.of_heap(Place(), good.place)
        replaced: dict[str, Change] = {}
        for name in allocators:
            try:
                replaced[name] = blocks.replaced(self._runner, name, good.place, self._seed, self._count)
            except CozError as error:
                self._doubts.append(messages.allocator_fails(name, error.problem))
        return slow._replace(
            residue=names.residue, objects=names.pairs, remedied=good.left, replaced=replaced
        )

    def _expect(self, runs: int) -> None:
        self._wanted = self._runner.runs + runs

    def _count(self) -> None:
        # Disturbed runs are repeated, and uncertain answers about the heap take more.
        self._watch(self._runner.runs, max(self._wanted, self._runner.runs))
