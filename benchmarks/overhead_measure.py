"""Runs a program plain and under `coz run`, and says what each run took."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COZ = ROOT / "build" / "bin" / "coz"
HELPER = ROOT / "build" / "libexec" / "coz-linetable"
FOLDER = ROOT / "build" / "bench"

#: The ways to run a program, each with what the one before it has and more. None: without coz.
MODES: Mapping[str, tuple[str, ...] | None] = {
    "plain": None,
    "start-up": ("--sampling", "off"),
    "sampling": ("--fixed-speedup", "0"),
    "full": (),
}

#: What the profiler says when all is well: about the profile, and that a run was too short.
_HARMLESS = re.compile(r"coz: (hint: |(warning: )?(\d+ experiments? on|no experiment|.* holds earlier runs))")


@dataclass(frozen=True)
class Trial:
    """One run. Times in seconds.

    wall: of the whole command. output: what the program printed. delays: what was inserted, by the
    profile. samples, experiments: how many. errors: whatever went wrong, for people.
    """

    wall: float
    output: str
    delays: float = 0.0
    samples: int = 0
    experiments: int = 0
    errors: tuple[str, ...] = ()

    def number(self, word: str) -> float:
        """The number that the program printed after `word`.

        Raises:
            SystemExit: it printed none.
        """
        match = re.search(rf"\b{re.escape(word)} ([0-9.]+)", self.output)
        if match is None:
            raise SystemExit(f"overhead: no {word!r} in {self.output!r}; {'; '.join(self.errors)}")
        return float(match[1])


def run(command: Sequence[str], mode: str, cache: Path | None = None) -> Trial:
    """Runs `command` in one of MODES; line tables are kept in `cache`, by default one of our own."""
    return run_with(command, MODES[mode], cache)


def run_with(command: Sequence[str], options: Sequence[str] | None, cache: Path | None = None) -> Trial:
    """Runs `command` with these options of `coz run`, or without coz."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache or FOLDER / "cache")}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "profile.coz"
        prefix = [] if options is None else [str(COZ), "run", "-o", str(log), *options, "---"]
        start = time.monotonic()
        ended = subprocess.run([*prefix, *command], capture_output=True, text=True, env=environment)
        wall = time.monotonic() - start
        errors = [line for line in ended.stderr.splitlines() if not _HARMLESS.match(line)]
        if ended.returncode != 0:
            errors.append(f"exit status {ended.returncode}")
        records = log.read_text().splitlines() if log.exists() else []
    return Trial(wall, ended.stdout, *read_profile(records), errors=tuple(errors))


def read_profile(lines: Iterable[str]) -> tuple[float, int, int]:
    """Seconds of delays, samples and experiments of the last run of a profile (profile_format.md)."""
    delays, samples, experiments = 0.0, 0, 0
    for line in lines:
        record = json.loads(line)
        if record.get("type") == "samples":
            delays = (record["duration"] - record["run_time"]) / 1e9
            samples, experiments = record["total"], record["experiments"]
    return delays, samples, experiments


def interleave(
    rounds: int, actions: Mapping[str, Callable[[], Trial]], seed: int = 1
) -> list[dict[str, Trial]]:
    """Does all actions once a round, each round in a random order: what disturbs the machine for
    longer than a run then disturbs all of them, and no order is favoured."""
    chance = random.Random(seed)
    results = []
    for _ in range(rounds):
        order = list(actions)
        chance.shuffle(order)
        done = {name: actions[name]() for name in order}
        results.append({name: done[name] for name in actions})
    return results


def all_errors(rounds: Iterable[Mapping[str, Trial]]) -> list[str]:
    """Each error once, with the mode it occurred in."""
    found = {f"{mode}: {error}" for done in rounds for mode, trial in done.items() for error in trial.errors}
    return sorted(found)
