"""Threads that come and go, many threads at once, and the cost of a visit to a progress point."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from overhead_measure import FOLDER, all_errors, interleave, run
from overhead_statistics import Estimate, estimate, table

CHURN = (("sequential",), ("batches", "50"))
COUNTS = (1, 10, 100, 1000, 5000)
_VISIT_KINDS = {"progress": "COZ_PROGRESS", "latency": "COZ_BEGIN and COZ_END"}


def measure_threads(churn: int, counts: Sequence[int], rounds: int) -> dict[str, Any]:
    """Times of `churn` short threads, and of each number of threads at once, against plain."""
    cases = {f"{kind[0]} {churn}": [kind[0], str(churn), *kind[1:]] for kind in CHURN} if churn else {}
    cases |= {f"together {count}": ["together", str(count)] for count in counts}
    results: dict[str, Any] = {}
    rows = []
    for name, arguments in cases.items():
        command = [str(FOLDER / "threads"), *arguments]
        modes = ("plain", "sampling", "full")
        trials = interleave(rounds, {mode: partial(run, command, mode) for mode in modes})
        errors = all_errors(trials)
        results[name] = {"errors": errors}
        sound = [t for t in trials if not any(trial.errors for trial in t.values())]
        if sound:
            plain = estimate([t["plain"].number("work") for t in sound])
            ratios = {
                mode: estimate([t[mode].number("work") / t["plain"].number("work") for t in sound])
                for mode in modes[1:]
            }
            results[name] |= {"plain_seconds": plain.__dict__}
            results[name] |= {mode: ratio.__dict__ for mode, ratio in ratios.items()}
            rows.append([name, f"{plain.median:.3f}", *(r.text(2) for r in ratios.values())])
        else:
            rows.append([name, "", "", ""])
        rows[-1].append(str(len(errors)))
        for error in errors:
            print(f"{name}: {error}")
    print(table(["threads", "plain s", "sampling / plain", "full / plain", "errors"], rows))
    return results


def measure_visits(count: int, rounds: int) -> dict[str, Any]:
    """Nanoseconds of a visit in one thread and in one thread for each core, plain and profiled."""
    results: dict[str, Any] = {}
    rows = []
    cores = len(os.sched_getaffinity(0))
    for kind, label in _VISIT_KINDS.items():
        for threads in sorted({1, cores}):
            actions = {
                f"{loop} {mode}": partial(run, [str(FOLDER / "visits"), loop, str(threads), str(count)], mode)
                for loop in ("none", kind)
                for mode in ("plain", "sampling")
            }
            trials = interleave(rounds, actions)
            costs = {
                mode: estimate(
                    [t[f"{kind} {mode}"].number("ns") - t[f"none {mode}"].number("ns") for t in trials]
                )
                for mode in ("plain", "sampling")
            }
            key = f"{kind}, {threads} thread{'s' if threads > 1 else ''}"
            results[key] = {mode: cost.__dict__ for mode, cost in costs.items()}
            results[key]["errors"] = all_errors(trials)
            rows.append([f"{label}, {threads}", *(_positive(cost) for cost in costs.values())])
            for error in results[key]["errors"]:
                print(f"{key}: {error}")
    print(table(["visit, threads", "without coz ns", "profiled ns"], rows))
    return results


def _positive(cost: Estimate) -> str:
    # The bare loop is not always the faster one: layout decides about tenths of a nanosecond.
    return cost.text(1).replace("-0.0", "0.0")
