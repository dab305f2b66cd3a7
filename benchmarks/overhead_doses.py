"""What companions cost: combined windows of several doses against one target at a time."""

from __future__ import annotations

from functools import partial
from typing import Any

from overhead_measure import Trial, all_errors, interleave, run_with
from overhead_programs import SQLITE_PROGRAM, rows_of
from overhead_statistics import estimate, table

#: Limits of the dose, in per cent.
DOSES = (2, 5, 10, 20)
ALONE = "one at a time"


def measure(seconds: float, rounds: int) -> dict[str, Any]:
    """Times of SQLite's insertions, which have hundreds of lines, as ratios to `--one-at-a-time`."""
    if not SQLITE_PROGRAM.exists():
        print("left out, since build/examples/sqlite_insert is not built")
        return {}
    options = {ALONE: ("--one-at-a-time",)} | {f"{dose} %": ("--companions", str(dose)) for dose in DOSES}
    command = [str(SQLITE_PROGRAM), f"{seconds:g}"]
    run_with(command, options[ALONE])  # its line table
    trials = interleave(
        rounds, {name: partial(run_with, command, option) for name, option in options.items()}
    )
    results: dict[str, Any] = {"errors": all_errors(trials)}
    rows = []
    for name in options:
        ratios = [compare(trial[name], trial[ALONE], seconds) for trial in trials]
        estimates = {key: estimate([ratio[key] for ratio in ratios]) for key in ratios[0]}
        results[name] = {key: value.__dict__ for key, value in estimates.items()}
        rows.append([name, *(value.text(3) for value in estimates.values())])
    header = ["dose", "time", "effective time", "delays, share of time", "samples", "windows"]
    print(table(header, rows))
    for error in results["errors"]:
        print(error)
    return results


def compare(trial: Trial, alone: Trial, seconds: float) -> dict[str, float]:
    """Ratios of a run of `seconds` to the one beside it: for the same rows, and for the same time."""
    effective, effective_alone = seconds - trial.delays, seconds - alone.delays
    rows = rows_of(alone) / rows_of(trial)
    return {
        "time": rows,
        "effective": rows * effective / effective_alone,
        "delays": trial.delays / seconds,
        "samples": trial.samples / alone.samples,
        "windows": trial.experiments / max(1, alone.experiments),
    }
