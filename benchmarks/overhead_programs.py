"""Whole programs: what start-up, sampling and delays add to their time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from overhead_measure import FOLDER, MODES, ROOT, Trial, all_errors, interleave, run
from overhead_statistics import Estimate, estimate, table

WORKLOADS = ("compute", "mutex", "barrier", "pipeline", "memory", "visits")
SQLITE = "sqlite"
SQLITE_PROGRAM = ROOT / "build" / "examples" / "sqlite_insert"
#: Units for the run that finds out how many make a second.
_PROBE_UNITS = 300


@dataclass(frozen=True)
class Times:
    """A trial in seconds: `work` within the program, `around` it, and the delays inserted."""

    work: float
    around: float
    delays: float

    @property
    def whole(self) -> float:
        """As a user with a stopwatch sees it."""
        return self.work + self.around


def percentages(plain: Times, start_up: Times, sampling: Times, full: Times) -> dict[str, float]:
    """What each step adds, in per cent of the plain run; they sum to `total`."""
    whole = plain.whole
    return {
        "start_up": 100 * (start_up.around - plain.around) / whole,
        "wrappers": 100 * (start_up.work - plain.work) / whole,
        "sampling": 100 * (sampling.whole - start_up.whole) / whole,
        "delays": 100 * (full.whole - sampling.whole) / whole,
        "total": 100 * (full.whole - whole) / whole,
        "effective": 100 * (full.whole - full.delays - whole) / whole,
    }


def measure(names: Sequence[str], seconds: float, rounds: int) -> dict[str, Any]:
    """Measures and prints a row for each program."""
    programs: dict[str, Any] = {}
    for name in names:
        if name == SQLITE and not SQLITE_PROGRAM.exists():
            print(f"{name}: left out, since build/examples/sqlite_insert is not built")
            continue
        programs[name] = _measure_one(name, seconds, rounds)
    if programs:
        print(report(programs))
        for name, program in programs.items():
            for error in program["errors"]:
                print(f"{name}: {error}")
    return {"programs": programs, "mean_total": _mean(programs, "total")}


def _measure_one(name: str, seconds: float, rounds: int) -> dict[str, Any]:
    if name == SQLITE:
        command = [str(SQLITE_PROGRAM), f"{seconds:g}"]
        reference = rows_of(run(command, "plain"))
    else:
        command = [str(FOLDER / "workloads"), name, str(_units(name, seconds))]
        reference = 0.0
    run(command, "start-up")  # its line table
    trials = interleave(rounds, {mode: partial(run, command, mode) for mode in MODES})
    shares: dict[str, list[float]] = {}
    for trial in trials:
        times = [times_of(trial[mode], seconds, reference) for mode in MODES]
        for key, value in percentages(*times).items():
            shares.setdefault(key, []).append(value)
    plain = [times_of(trial["plain"], seconds, reference) for trial in trials]
    start = [times_of(trial["start-up"], seconds, reference) for trial in trials]
    return {
        "plain_seconds": estimate([time.whole for time in plain]).__dict__,
        "start_up_ms": estimate(
            [1e3 * (a.around - b.around) for a, b in zip(start, plain, strict=True)]
        ).__dict__,
        "percent": {key: estimate(values).__dict__ for key, values in shares.items()},
        "samples": fmean(trial["sampling"].samples for trial in trials),
        "experiments": fmean(trial["full"].experiments for trial in trials),
        "errors": all_errors(trials),
    }


def times_of(trial: Trial, seconds: float, reference: float) -> Times:
    """`reference` is 0 for a fixed amount of work. For a program that works for a fixed time, it
    is an amount of work, and the result is what that would have taken at the rate of this trial.
    """
    if reference == 0:
        work = trial.number("work")
        return Times(work, trial.wall - work, trial.delays)
    scale = reference / rows_of(trial)
    return Times(seconds * scale, trial.wall - seconds, trial.delays * scale)


def rows_of(trial: Trial) -> float:
    """Rows that `sqlite_insert` inserted."""
    match = re.search(r"(\d+) rows", trial.output)
    if match is None or int(match[1]) == 0:
        raise SystemExit(f"overhead: no rows in {trial.output!r}; {'; '.join(trial.errors)}")
    return float(match[1])


def _units(name: str, seconds: float) -> int:
    """As many units of work as take about `seconds`."""
    return enough_units(
        seconds, lambda units: run([str(FOLDER / "workloads"), name, str(units)], "plain").number("work")
    )


def enough_units(seconds: float, timed: Callable[[int], float]) -> int:
    """Tries numbers of units until one takes a good part of `seconds`: with few, what a program
    prepares before its first unit would be taken for work."""
    units = _PROBE_UNITS
    while (taken := timed(units)) < 0.6 * seconds:
        units = round(units * min(10.0, max(1.5, seconds / taken)))
    return max(1, round(units * seconds / taken))


def _mean(programs: dict[str, Any], key: str) -> float | None:
    return fmean(p["percent"][key]["median"] for p in programs.values()) if programs else None


def report(programs: dict[str, Any]) -> str:
    """The table: a row for each program, then the means."""
    header = ["program", "plain s", "start ms", "start-up %", "wrappers %", "sampling %", "delays %"]
    header += ["total % [95 %]", "effective %"]
    rows = []
    for name, program in programs.items():
        percent = program["percent"]
        cells = [name, f"{program['plain_seconds']['median']:.2f}", f"{program['start_up_ms']['median']:.0f}"]
        cells += [f"{percent[key]['median']:.1f}" for key in ("start_up", "wrappers", "sampling", "delays")]
        cells += [Estimate(**percent["total"]).text(), f"{percent['effective']['median']:.1f}"]
        rows.append(cells)
    means = [f"{_mean(programs, key):.1f}" for key in ("start_up", "wrappers", "sampling", "delays")]
    means += [f"{_mean(programs, key):.1f}" for key in ("total", "effective")]
    rows.append(["mean", "", "", *means])
    return table(header, rows)
