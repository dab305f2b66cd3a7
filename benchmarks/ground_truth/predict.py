"""Predicted effects: programs profiled with default options, and what `coz report` makes of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ground_truth.programs import BUILD, ROOT, Program

#: The command of this repository, which also reads other tools' profiles.
COZ = ROOT / "build" / "bin" / "coz"
PROFILES = BUILD / "profiles"

#: Lengths of the beginnings of a profile that are analysed by themselves, in seconds.
PREFIXES = (10, 20, 30, 45, 60, 90, 120, 180, 240, 300)
#: An interval is narrow when it reaches no further than so many points from its middle.
NARROW = 2.0


@dataclass(frozen=True)
class Prediction:
    """A predicted effect with its 95 % interval, in per cent. `fitted`: read from the fitted curve."""

    line: str
    speedup: int
    effect: float
    low: float
    high: float
    fitted: bool

    @property
    def half_width(self) -> float:
        """Half the length of the interval, in points."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class ProgramPrediction:
    """What one profile says: predictions, experiments and seconds in all, and the seconds until `NARROW`.

    `narrow_after` is None when the steepest line's interval was not narrow at the end, or the profile does
    not tell when its experiments were.
    """

    predictions: tuple[Prediction, ...]
    experiments: int
    seconds: float
    narrow_after: float | None

    @property
    def experiments_a_minute(self) -> float:
        """How fast experiments were made."""
        return 60 * self.experiments / self.seconds if self.seconds > 0 else 0.0

    def of(self, line: str, speedup: int) -> Prediction | None:
        """One of the predictions; None if the profile has no result for it."""
        return next((p for p in self.predictions if (p.line, p.speedup) == (line, speedup)), None)


def profile(
    program: Program, coz: Path, binary: Path, output: Path, seconds: float, options: Sequence[str] = ()
) -> None:
    """Profile a program with a coz-compatible command, and add to a profile.

    A failure of the command or the program is reported on standard output: it shows in the profile.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(
            [
                *(str(coz), "run", *options, "-o", str(output), "---"),
                *(str(binary), *program.arguments, "--seconds", f"{seconds:g}"),
            ],
            check=True,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=120 + 3 * seconds,
        )
    except subprocess.TimeoutExpired as error:
        print(f"{coz} on {program.name}: {error}")
    except subprocess.CalledProcessError as error:
        print(f"{coz} on {program.name}: {error}\n{error.stderr}")


def report(path: Path) -> dict[str, Any] | None:
    """`coz report --json` of a profile; None when it holds nothing that can be estimated."""
    done = subprocess.run([str(COZ), "report", "--json", str(path)], capture_output=True, text=True)
    if done.returncode != 0:
        return None
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def predictions_in(document: Mapping[str, Any], program: Program) -> tuple[Prediction, ...]:
    """The predictions for the marked lines of a program, as far as a report has them."""
    found = []
    for line, number in program.lines.items():
        # The line, or the function of the same name that it is alone in.
        wanted = tuple(f"/{program.source.name}:{place}" for place in (number, line))
        for result in document["results"]:
            here = ("/" + result["location"]).endswith(wanted) and is_of(result, program.kinds[line])
            if here and (result["point"], result["kind"]) == (program.point, program.kind):
                values = (prediction(line, speedup, result) for speedup in program.speedups(line))
                found += [value for value in values if value is not None]
    return tuple(found)


def is_of(result: Mapping[str, Any], kind: str) -> bool:
    """Is it a result of what is marked? A function stands for its line."""
    waits = result.get("target") in ("wait", "lock")
    return result["target"] == kind if waits else kind == "line"


def prediction(line: str, speedup: int, result: Mapping[str, Any]) -> Prediction | None:
    """What a result says of one speedup: as measured, or else by its fitted curve."""
    fraction = speedup / 100
    for point in result["curve"]:
        if abs(point["speedup"] - fraction) < 1e-6:
            numbers = [point[key] for key in ("effect", "low", "high")]
            return _prediction(line, speedup, numbers, fitted=False)
    fit = result["fit"]
    if not fit["speedup"] or fit["speedup"][-1] < fraction - 1e-6:
        return None
    numbers = [interpolate(fit["speedup"], fit[key], fraction) for key in ("effect", "low", "high")]
    return _prediction(line, speedup, numbers, fitted=True)


def _prediction(line: str, speedup: int, numbers: Sequence[float | None], fitted: bool) -> Prediction | None:
    effect, low, high = (None if number is None else 100 * number for number in numbers)
    if effect is None or low is None or high is None:
        return None
    return Prediction(line, speedup, effect, low, high, fitted)


def interpolate(grid: Sequence[float], values: Sequence[float | None], at: float) -> float | None:
    """Linearly between the neighbours on a rising grid; None where a neighbour is."""
    for left, right, one, other in zip(grid, grid[1:], values, values[1:], strict=False):
        if left <= at <= right + 1e-9:
            if one is None or other is None:
                return None
            return one + (other - one) * (at - left) / (right - left)
    return None


def prefix(records: Iterable[str], seconds: float) -> list[str]:
    """The lines that a profile (docs/profile_format.md) would have if recorded for so many seconds only.

    Times are those of all its runs, one after the other. Experiments count when they were over by then, and
    cumulative sample counts when they were written.
    """
    end = seconds * 1e9
    kept = []
    earlier_runs = this_run = 0.0
    for text in records:
        try:
            record = json.loads(text)
        except ValueError:
            continue
        match record.get("type"):
            case "experiment":
                over = record["start"] + record["duration"]
            case "samples":
                over = record["duration"]
            case "run":
                earlier_runs += this_run
                this_run = over = 0
            case _:
                continue
        this_run = max(this_run, over)
        if earlier_runs + over <= end:
            kept.append(text)
    return kept


def narrow_after(path: Path, program: Program, length: float, line: str, speedup: int = 50) -> float | None:
    """Seconds after which the interval of a line's effect is narrow, and stays so.

    `length` is that of the profile in seconds. Only the times in `PREFIXES` are looked at. None if it is not
    narrow at the last of them, or if the profile is not of a format that has the experiments' times.
    """
    records = path.read_text(errors="replace").splitlines(keepends=True)
    try:
        if json.loads(records[0]).get("format") != "coz-profile":
            return None
    except (IndexError, ValueError):
        return None
    times = [seconds for seconds in PREFIXES if seconds <= length + 1]
    shortened = path.with_suffix(".prefix")
    widths: list[float | None] = []
    try:
        for seconds in times:
            shortened.write_text("".join(prefix(records, seconds)))
            document = report(shortened)
            found = predictions_in(document, program) if document else ()
            width = [p.half_width for p in found if (p.line, p.speedup) == (line, speedup)]
            widths.append(width[0] if width else None)
    finally:
        shortened.unlink(missing_ok=True)
    return first_narrow(times, widths)


def first_narrow(times: Sequence[float], widths: Sequence[float | None]) -> float | None:
    """The first time from which on all half-widths are at most `NARROW`; None if the last is wider."""
    answer = None
    for time, width in zip(reversed(times), reversed(widths), strict=True):
        if width is None or width > NARROW:
            break
        answer = time
    return answer


def predict(program: Program, output: Path, steepest: str) -> ProgramPrediction:
    """Read a profile. Where there is none, or nothing in it, the result is empty."""
    document = report(output) if output.exists() else None
    if document is None:
        return ProgramPrediction((), 0, 0, None)
    length = sum(one["duration"] for one in document["runs"]) / 1e9
    return ProgramPrediction(
        predictions_in(document, program),
        document["experiments"],
        length,
        narrow_after(output, program, length, steepest),
    )
