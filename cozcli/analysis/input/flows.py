"""What the stages of a program did in the halves of windows: how long they ran, and who waited for whom.

A stage is a thread, or several that use the same queues in the same way. Threads of one stage wait for the
same objects, or end waits for the same objects, and do not wait for each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cozcli.analysis.input.windows import Window
from cozcli.profile.profile import Run
from cozcli.profile.records import Flow

#: An object matters to a thread if it is behind this share of its waits, or of those that it ended.
MIN_SHARE = 0.05
#: Waits for less than this share of a half tie nobody.
MIN_WAIT = 0.03
#: Threads that wait for each other for this share of their waits are on different sides of a queue.
MAX_MUTUAL = 0.25
#: Not a thread: nobody knows who ended the wait.
UNKNOWN = 0
#: Of stages: who waited, and for whom.
Pairs = set[tuple[int, int]]


@dataclass(frozen=True)
class Stretch:
    """What stages did in some time: a half of a window, or what lies between two windows.

    ran, releases, threads: processor time, releases of locks and semaphores, and threads, by stage.
    target_samples: samples in the window's target, by stage; -1 for each thread where that is unknown.
    waits: ns by (stage that waited, stage that it waited for). Where nobody knows who ended a wait, it counts
    for the one for whom the stage waits longest; `UNKNOWN`: there is none. Stages are numbered from 1 on.
    """

    flow: Flow
    ran: Mapping[int, float]
    releases: Mapping[int, float]
    threads: Mapping[int, int]
    target_samples: Mapping[int, float]
    waits: Mapping[tuple[int, int], float]

    @property
    def effective(self) -> int:
        """Its length in effective time."""
        return self.flow.duration - self.flow.delay

    def waited(self, stage: int) -> float:
        """How much of the time the stage's threads waited, on average."""
        total = sum(waited for (waiter, _), waited in self.waits.items() if waiter == stage)
        return total / (self.flow.duration * max(self.threads.get(stage, 0), 1))

    def tied_to(self, stage: int) -> frozenset[int]:
        """The stages that a chain of waits ties to this one; a wait with an unknown waker ties to all."""
        pairs = [
            pair
            for (waiter, waker), waited in self.waits.items()
            if waited > MIN_WAIT * self.flow.duration
            for pair in ([(waiter, waker)] if waker != UNKNOWN else [(waiter, other) for other in self.ran])
        ]
        tied = {stage}
        while grown := {b for pair in pairs for a, b in (pair, pair[::-1]) if a in tied} - tied:
            tied |= grown
        return frozenset(tied)

    def pairs(self, stages: Collection[int]) -> Pairs:
        """Who waited for whom, also through stages that are not among `stages`."""
        found = {pair for pair, waited in self.waits.items() if waited > 0}
        while grown := {(a, d) for a, b in found if b not in stages for c, d in self.waits if c == b} - found:
            found |= grown
        return found

    def visits(self, point: str) -> int:
        """Visits to a throughput point."""
        return self.flow.visits.get(point, 0)


@dataclass(frozen=True)
class Half(Stretch):
    """A half of a window.

    target, position: which window, as `Context.by_target` has it. first: which half.
    """

    target: str
    position: int
    first: bool
    window: Window


@dataclass(frozen=True)
class RunFlows:
    """What the stages of one run did. halves: of usable windows. stretches: all that is known, in order."""

    halves: Sequence[Half]
    stretches: Sequence[Stretch]


def flows_by_run(runs: Sequence[Run], by_target: Mapping[str, Sequence[Window]]) -> list[RunFlows]:
    """What the stages did, of all runs that saw queues."""
    own: dict[int, list[tuple[str, int, Window]]] = defaultdict(list)
    for target, windows in by_target.items():
        for position, window in enumerate(windows):
            own[window.run].append((target, position, window))
    found = []
    for number, run in enumerate(runs):
        flows = _flows_in_order(run)
        if not flows:
            continue
        stages = find_stages(flows)
        usual = _usual_wakers(flows, stages)
        halves = [
            Half(
                **vars(_stretch(flow, stages, usual)),
                target=target,
                position=position,
                first=half == 0,
                window=window,
            )
            for target, position, window in own[number]
            if not window.is_of_other_target
            for half, flow in enumerate(window.record.flows)
            if flow.threads
        ]
        found.append(RunFlows(halves, [_stretch(flow, stages, usual) for flow in flows]))
    return found


def _flows_in_order(run: Run) -> list[Flow]:
    """All of the run's; none where what lies between windows is not known: sums would mean nothing."""
    flows: list[Flow] = []
    for record in sorted(run.experiments, key=lambda record: record.start):
        if not record.flows:
            continue
        if record.flow_before is None:
            return []
        flows += [record.flow_before, *record.flows]
    return flows


def _usual_wakers(flows: Sequence[Flow], stages: Mapping[int, int]) -> dict[int, int]:
    """For whom each stage waits longest, of those who are known."""
    waited: defaultdict[int, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for flow in flows:
        for thread in flow.threads:
            for wait in thread.waits:
                stage, waker = stages[thread.thread], stages.get(wait.waker, UNKNOWN)
                if waker not in (UNKNOWN, stage):
                    waited[stage][waker] += wait.waited
    return {stage: max(wakers, key=lambda waker: wakers[waker]) for stage, wakers in waited.items()}


def _stretch(flow: Flow, stages: Mapping[int, int], usual: Mapping[int, int]) -> Stretch:
    ran: defaultdict[int, float] = defaultdict(float)
    releases: defaultdict[int, float] = defaultdict(float)
    threads: defaultdict[int, int] = defaultdict(int)
    samples: defaultdict[int, float] = defaultdict(float)
    waits: defaultdict[tuple[int, int], float] = defaultdict(float)
    for thread in flow.threads:
        stage = stages[thread.thread]
        samples[stage] += thread.target_samples
        ran[stage] += thread.ran
        releases[stage] += thread.releases
        threads[stage] += 1
        for wait in thread.waits:
            waker = stages.get(wait.waker, usual.get(stage, UNKNOWN))
            if waker != stage:
                waits[stage, waker] += wait.waited
    return Stretch(flow, ran, releases, threads, samples, waits)


def find_stages(flows: Sequence[Flow]) -> dict[int, int]:
    """The stage of each thread, numbered from 1 on."""
    waited: defaultdict[int, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    ended: defaultdict[int, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    between: defaultdict[tuple[int, int], float] = defaultdict(float)
    threads: set[int] = set()
    for flow in flows:
        for thread in flow.threads:
            threads.add(thread.thread)
            for wait in thread.waits:
                if wait.object:
                    waited[thread.thread][wait.object] += wait.waited
                    ended[wait.waker][wait.object] += wait.waited
                between[thread.thread, wait.waker] += wait.waited
    users: defaultdict[tuple[bool, int], set[int]] = defaultdict(set)  # of an object: who waits, who ends it
    for number in threads:
        for is_end, by_object in ((False, waited[number]), (True, ended[number])):
            for key in _important(by_object):
                users[is_end, key].add(number)
    apart: defaultdict[int, set[int]] = defaultdict(set)
    for one, other in between:
        mutual = between[one, other] + between.get((other, one), 0.0)
        if mutual > MAX_MUTUAL * (sum(waited[one].values()) + sum(waited[other].values())):
            apart[one].add(other)
            apart[other].add(one)
    return _numbered(threads, users.values(), apart)


def _numbered(
    threads: Collection[int], users: Iterable[set[int]], apart: Mapping[int, set[int]]
) -> dict[int, int]:
    """The stage of each thread. users: threads that are of one stage, but for pairs that are `apart`.

    There may be tens of thousands of threads, so that each looks only at those that no other has reached.
    """
    leader = {thread: thread for thread in threads}

    def leader_of(thread: int) -> int:
        while leader[thread] != thread:
            leader[thread] = thread = leader[leader[thread]]
        return thread

    for alike in users:
        left = set(alike)
        while left:
            reached = [left.pop()]
            for thread in reached:
                near = left - apart.get(thread, set())
                left -= near
                reached += near
            first = min(map(leader_of, reached))
            for thread in reached:
                leader[leader_of(thread)] = first
    stage = {thread: leader_of(thread) for thread in sorted(threads)}
    numbers = {own: number for number, own in enumerate(dict.fromkeys(stage.values()), start=1)}
    return {thread: numbers[own] for thread, own in stage.items()}


def _important(by_object: Mapping[int, float]) -> frozenset[int]:
    total = sum(by_object.values())
    return frozenset(key for key, waited in by_object.items() if waited > MIN_SHARE * total)
