"""What the other stages of a pipeline allow, however fast a target becomes.

A stage i of n_i threads needs processor time w_i for each visit. If it does not run the target, that stays,
and no period can be shorter than w_i / n_i. With T the period of baselines:

    effect  ≤  1 − max_i w_i / (n_i · T)

Nor do cores shorten what a stage sleeps, or waits for elsewhere than at queues. Let b_i be its time for each
visit that is no wait at a queue, and v_i what of it is waiting for a core: no more than CORE_WAITS times its
part of all such waiting, by processor time. Then the period is hardly shorter than (b_i − v_i) / n_i. Since
nobody knows whom a stage waits for there, this does not limit what was measured, only what is added to it.

Only stages count whose w_i is known from waits at queues (correct/stage_flows.py): others may have nothing to
do with the visits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cozcli.analysis.correct.stage_flows import stages_of
from cozcli.analysis.input.flows import Half, RunFlows, Stretch, flows_by_run
from cozcli.analysis.input.partners import records_without_partner
from cozcli.analysis.input.windows import Window
from cozcli.profile.profile import Run
from cozcli.profile.records import ThroughputPoint

#: A stage does not run a target if it has at most this share of its samples.
MAX_SHARE = 0.02
#: Fewer samples of a target do not tell which stages run it.
MIN_SAMPLES = 50
#: Threads that run briefly wait longer for a core than their processor time says, by at most this factor.
CORE_WAITS = 2.0


@dataclass(frozen=True)
class StageLimit:
    """The largest effect that other stages allow: by their processor time, and with their sleeps as well."""

    by_work: float = 1.0
    with_sleeps: float = 1.0


def stage_limits(
    runs: Sequence[Run], by_target: Mapping[str, Sequence[Window]]
) -> dict[tuple[str, str], StageLimit]:
    """What other stages allow, at least 0, by location and throughput point.

    Of several runs that of the one which allows most. None for targets that never were the main one.
    """
    periods = _periods(runs)
    found: dict[tuple[str, str], StageLimit] = {}
    for run in flows_by_run(runs, by_target):
        samples = _samples_of_stages(run)
        for point, period in periods.items():
            needs = _needs(run, point)
            lasting = max([period, *(need.with_sleeps for need in needs.values())])
            for location, of_stages in samples.items():
                total = sum(of_stages.values())
                others = [
                    need for stage, need in needs.items() if of_stages.get(stage, 0.0) <= MAX_SHARE * total
                ]
                if total < MIN_SAMPLES or not others:
                    continue
                before = found.get((location, point), StageLimit(0.0, 0.0))
                found[location, point] = StageLimit(
                    max(1 - max(need.work for need in others) / period, before.by_work),
                    max(1 - max(need.with_sleeps for need in others) / lasting, before.with_sleeps),
                )
    return found


def _periods(runs: Sequence[Run]) -> dict[str, float]:
    """The mean effective time for a visit in baselines, ns, by throughput point."""
    elapsed: defaultdict[str, float] = defaultdict(float)
    visits: defaultdict[str, float] = defaultdict(float)
    for _, record in records_without_partner(runs):
        if record.speedup != 0:
            continue
        for point in record.points:
            if isinstance(point, ThroughputPoint):
                elapsed[point.name] += point.elapsed
                visits[point.name] += point.visits
    return {name: elapsed[name] / visits[name] for name in visits if visits[name] > 0}


def _samples_of_stages(run: RunFlows) -> dict[str, dict[int, float]]:
    """Samples in each target by the stages that took them, where threads counted them."""
    found: defaultdict[str, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for half in run.halves:
        for stage, samples in half.target_samples.items():
            found[half.window.record.location][stage] += samples
    return {location: dict(of_stages) for location, of_stages in found.items()}


@dataclass(frozen=True)
class _Need:
    """Of a stage for a visit, ns: w_i / n_i; and (b_i − v_i) / n_i, 0 where that is not known."""

    work: float
    with_sleeps: float


def _needs(run: RunFlows, point: str) -> dict[int, _Need]:
    stretches = [stretch for stretch in run.stretches if point in stretch.flow.visits]
    stages = stages_of(stretches, point)
    if stages is None:
        return {}
    baselines = [
        half
        for half in run.halves
        if half.window.record.speedup == 0 and half.window.record.core_wait >= 0 and point in half.flow.visits
    ]
    all_work = sum(flow.work for flow in stages.flows.values())
    core_wait = _core_wait(baselines, point)
    found = {}
    for stage, flow in stages.flows.items():
        threads = _threads(stretches, stage)
        items = flow.sum(baselines)
        with_sleeps = 0.0
        if items > 0:
            waited = sum(half.waited(stage) for half in baselines) / len(baselines)
            busy = sum(half.effective for half in baselines) * (1 - waited) / items
            with_sleeps = max(busy - CORE_WAITS * core_wait * flow.work / all_work / threads, 0.0)
        found[stage] = _Need(flow.work / threads, with_sleeps)
    return found


def _core_wait(halves: Sequence[Half], point: str) -> float:
    """How long threads waited for a core, for each visit, ns."""
    windows = {(half.target, half.position): half.window.record.core_wait for half in halves}
    visits = sum(half.visits(point) for half in halves)
    return sum(windows.values()) / visits if visits > 0 else 0.0


def _threads(stretches: Sequence[Stretch], stage: int) -> int:
    return max((stretch.threads.get(stage, 0) for stretch in stretches), default=1) or 1
