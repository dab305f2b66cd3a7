"""What the other stages of a pipeline allow, however fast a target becomes.

A stage i of n_i threads needs processor time w_i for each visit. If it does not run the target, that stays,
and no period can be shorter than w_i / n_i. With T the period of baselines:

    effect  ≤  1 − max_i w_i / (n_i · T)

Only stages count whose w_i is known from waits at queues (correct/stage_flows.py): others may have nothing to
do with the visits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from cozcli.analysis.correct.stage_flows import work_for_visits
from cozcli.analysis.input.flows import RunFlows, Stretch, flows_by_run
from cozcli.analysis.input.partners import records_without_partner
from cozcli.analysis.input.windows import Window
from cozcli.profile.profile import Run
from cozcli.profile.records import ThroughputPoint

#: A stage does not run a target if it has at most this share of its samples.
MAX_SHARE = 0.02
#: Fewer samples of a target do not tell which stages run it.
MIN_SAMPLES = 50


def stage_limits(
    runs: Sequence[Run], by_target: Mapping[str, Sequence[Window]]
) -> dict[tuple[str, str], float]:
    """The largest effect that other stages allow, at least 0, by location and throughput point.

    Of several runs that of the one which allows most. None for targets that never were the main one.
    """
    periods = _periods(runs)
    found: dict[tuple[str, str], float] = {}
    for run in flows_by_run(runs, by_target):
        samples = _samples_of_stages(run)
        for point, period in periods.items():
            needs = _needs(run, point)
            for location, of_stages in samples.items():
                total = sum(of_stages.values())
                others = [
                    needed
                    for stage, needed in needs.items()
                    if of_stages.get(stage, 0.0) <= MAX_SHARE * total
                ]
                if total >= MIN_SAMPLES and others:
                    limit = max(1 - max(others) / period, 0.0)
                    found[location, point] = max(limit, found.get((location, point), 0.0))
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


def _needs(run: RunFlows, point: str) -> dict[int, float]:
    """w_i / n_i in ns, by stage."""
    stretches = [stretch for stretch in run.stretches if point in stretch.flow.visits]
    return {
        stage: work / _threads(stretches, stage) for stage, work in work_for_visits(stretches, point).items()
    }


def _threads(stretches: Sequence[Stretch], stage: int) -> int:
    return max((stretch.threads.get(stage, 0) for stretch in stretches), default=1) or 1
