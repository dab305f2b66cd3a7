"""How soon a profile knows every line: generated programs whose truth is known.

    insight.py [--lines 60,300] [--shapes serial,join,pipeline] [--seconds 64] [--coz PROGRAM] [--seed 1]

A program has so many lines, each a loop of known length, with heavy-tailed shares of the work. `serial` runs
them in one thread. `join` gives 60 % of the work to one of two threads that wait for each other each round;
`pipeline` hands rounds from one to the other through a bounded queue. So a line of the longer thread that
becomes faster saves time until that thread is as fast as the other one.

Each program is profiled with combined windows and with one target at a time, and reported as the profile was
after 4, 6, 9, 13, … seconds. Shown are, for s = 50 %: lines within ±2 points of the truth by estimate and
interval, root mean square error in points, truths held by their intervals, starred effects of lines that
have none (`serial` has no such lines), and the time after which all lines that save 5 % or more are within
±2 points, with how many these are: shares are random, so they may be few, or none. A line without an estimate
is not within. Needs an idle machine.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "bench" / "insight"
SHAPES = ("serial", "join", "pipeline")
MODES = {"combined": (), "one at a time": ("--one-at-a-time",)}
#: Steps of the loops in a round, and the part of the longer thread where there are two.
STEPS, LONGER = 2_000_000, 0.6
AT, NEAR, MATTERS, MAX_SHARE = 0.5, 0.02, 0.05, 0.15

HEAD = """#include "coz.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
static double end;
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
#define RUN(n) for (long i = (n); i > 0; --i) __asm__ volatile("" : "+r"(i));
"""
MAINS = {
    "serial": """int main(int c, char** v) {
  end = now() + atof(v[c - 1]);
  while (now() < end) { one(); COZ_PROGRESS_NAMED("round"); }
}
""",
    "join": """static pthread_barrier_t both; static int stop;
static void* other(void* arg) {
  for (;;) { pthread_barrier_wait(&both); if (stop) return arg; two(); pthread_barrier_wait(&both); }
}
int main(int c, char** v) {
  end = now() + atof(v[c - 1]);
  pthread_barrier_init(&both, 0, 2);
  pthread_t thread;
  if (pthread_create(&thread, 0, other, 0)) return 1;
  while (now() < end) {
    pthread_barrier_wait(&both); one(); pthread_barrier_wait(&both); COZ_PROGRESS_NAMED("round");
  }
  stop = 1;
  pthread_barrier_wait(&both);
  return pthread_join(thread, 0);
}
""",
    "pipeline": """static sem_t items, room;
static void* other(void* arg) {
  for (;;) { sem_wait(&items); sem_post(&room); two(); COZ_PROGRESS_NAMED("round"); }
  return arg;
}
int main(int c, char** v) {
  end = now() + atof(v[c - 1]);
  sem_init(&items, 0, 0);
  sem_init(&room, 0, 4);
  pthread_t thread;
  if (pthread_create(&thread, 0, other, 0)) return 1;
  while (now() < end) { one(); sem_wait(&room); sem_post(&items); }
  exit(0);
}
""",
}


@dataclass(frozen=True)
class Program:
    """A generated program. effects: what each line saves at 50 %, by its number in the source."""

    path: Path
    effects: dict[int, float]


@dataclass(frozen=True)
class Score:
    """How good a report is.

    near, held: shares of the lines. error: points. false: starred effects of lines that have none. knows: are
    all that matter known? Not if none matters, as then nothing was found out.
    """

    near: float
    error: float
    held: float
    false: int
    knows: bool


def generate(shape: str, lines: int, seed: int) -> Program:
    """Write and compile a program."""
    weights = [random.Random(seed * 1000 + i).paretovariate(1.2) for i in range(lines)]
    weights = [min(weight, MAX_SHARE * sum(weights)) for weight in weights]
    # The longer thread has every line but each third.
    first = [shape == "serial" or i % 3 != 0 for i in range(lines)]
    part = {True: 1.0 if shape == "serial" else LONGER, False: 1 - LONGER}
    total = {own: sum(w for w, f in zip(weights, first, strict=True) if f is own) for own in (True, False)}
    cost = [part[own] * weight / total[own] for weight, own in zip(weights, first, strict=True)]
    text, effects = HEAD, {}
    for name, own in (("one", True), ("two", False)):
        text += f"__attribute__((noinline)) static void {name}(void) {{\n"
        for share, mine in zip(cost, first, strict=True):
            if mine is own:
                effects[text.count("\n") + 1] = _effect(share, shape) if own else 0.0
                text += f"  RUN({round(share * STEPS)})\n"
        text += "}\n"
    if shape == "serial":
        text = text.replace("static void two", "__attribute__((unused)) static void two")
    FOLDER.mkdir(parents=True, exist_ok=True)
    source = FOLDER / f"{shape}_{lines}.c"
    source.write_text(text + MAINS[shape])
    program = source.with_suffix("")
    flags = ["-O2", "-g", "-pthread", f"-I{ROOT / 'include'}"]
    subprocess.run(["cc", *flags, "-o", program, source, "-ldl"], check=True)
    return Program(program, effects)


def _effect(share: float, shape: str) -> float:
    """What a line of the longer thread saves at 50 %."""
    if shape == "serial":
        return AT * share
    return min(AT * share, LONGER - (1 - LONGER)) / LONGER


def cut(profile: Path, seconds: float) -> tuple[Path, float] | None:
    """The profile as it was at its last count of samples before that time, and the time; None: none."""
    records = [json.loads(line) for line in profile.read_text().splitlines()]
    counts = [r for r in records if r["type"] == "samples" and r["duration"] <= seconds * 1.05e9]
    if not counts:
        return None
    end = counts[-1]["duration"]
    kept = [
        record
        for record in records
        if record["type"] in ("run", "target")
        or record is counts[-1]
        or (record["type"] in ("experiment", "reference") and record["start"] + record["duration"] <= end)
    ]
    path = profile.with_suffix(".cut.coz")
    path.write_text("".join(json.dumps(record) + "\n" for record in kept))
    return path, end / 1e9


def score(report: dict[str, Any], effects: dict[int, float]) -> Score:
    """Compare a report with the truth."""
    errors, held, false, near = [], 0, 0, set()
    for result in report["results"]:
        line = int(result["location"].rsplit(":", 1)[1])
        point = next((p for p in result["curve"] if abs(p["speedup"] - AT) < 1e-9), None)
        if line not in effects or point is None:
            continue
        truth = effects[line]
        errors.append(point["effect"] - truth)
        held += point["low"] <= truth <= point["high"]
        false += result["significant"] and truth == 0
        if max(abs(errors[-1]), (point["high"] - point["low"]) / 2) <= NEAR:
            near.add(line)
    rms = 100 * (sum(e * e for e in errors) / len(errors)) ** 0.5 if errors else float("nan")
    matter = matter_of(effects)
    share_held = held / len(errors) if errors else 0.0
    return Score(len(near) / len(effects), rms, share_held, false, bool(matter) and matter <= near)


def matter_of(effects: dict[int, float]) -> set[int]:
    """The lines that matter."""
    return {line for line, effect in effects.items() if effect >= MATTERS}


def report_of(coz: Path, profile: Path) -> dict[str, Any]:
    """The JSON report; without results if nothing can be estimated yet."""
    run = subprocess.run([coz, "report", "--json", profile], capture_output=True, text=True)
    loaded: dict[str, Any] = json.loads(run.stdout) if run.returncode == 0 else {"results": []}
    return loaded


def measure(coz: Path, program: Program, seconds: float) -> None:
    """Profile in both modes and print a row for each length."""
    matter = len(matter_of(program.effects))
    for mode, options in MODES.items():
        profile = profile_of(program, mode)
        profile.unlink(missing_ok=True)
        command = [coz, "run", "-q", "-o", profile, *options, "---", program.path, f"{seconds}"]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        known, length, last = None, 4.0, 0.0
        while length <= seconds:
            part = cut(profile, length)
            length *= 1.45
            if part is None or part[1] <= last:
                continue
            last = part[1]
            found = score(report_of(coz, part[0]), program.effects)
            known = (known or last) if found.knows else None
            print(
                f"{program.path.name:14} {mode:14} {last:6.0f} s  within {found.near:4.0%}  "
                f"error {found.error:6.2f}  held {found.held:4.0%}  false {found.false}",
                flush=True,
            )
        after = f"knows the {matter} that matter after {f'{known:.0f} s' if known else 'more than that'}"
        print(f"{program.path.name:14} {mode:14} {after if matter else 'has no line that matters'}")


def profile_of(program: Program, mode: str) -> Path:
    """Where a mode's profile goes: each has its own, so that both can be looked at afterwards."""
    return program.path.with_suffix(f".{mode.replace(' ', '-')}.coz")


def main(arguments: Sequence[str] | None = None) -> int:
    """Everything that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", default="60,300", help="default: %(default)s")
    parser.add_argument("--shapes", default=",".join(SHAPES), help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=66.0, help="of each run (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the shares (default: %(default)s)")
    parser.add_argument("--coz", type=Path, default=ROOT / "build" / "bin" / "coz")
    options = parser.parse_args(arguments)
    for lines in map(int, options.lines.split(",")):
        for shape in options.shapes.split(","):
            measure(options.coz, generate(shape, lines, options.seed), options.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
