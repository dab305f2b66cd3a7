#!/usr/bin/env python3
"""Does `coz compare` keep its promises? Programs against themselves, and against themselves with more work.

    compare.py [--comparisons N] [--known N] [--pairs N] [--runtime MS] [--json FILE]

Three programs of fixed work are compiled here. Each is compared with itself in three ways, and the share of
verdicts *faster* or *slower* is printed, all of which are wrong:

    fresh    `coz compare`: runs in turn, functions in other places in each run
    fixed    the same, but each side has one layout for the whole comparison, as two builds have
    in line  hyperfine's way: all runs of A, then all of B; Welch's t-test of wall times at 5 %

Then each is compared, with fresh layouts, with itself doing 1 and 2 % more: how often that is found, and how
often the interval holds the true ratio.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from cozcli.compare.collect import Plan, collect
from cozcli.compare.design import Layout, blocks
from cozcli.compare.estimate import estimate
from cozcli.compare.function_layouts import with_functions_moved
from cozcli.compare.metrics import METRICS
from cozcli.compare.trial import Side, run

#: A hash table that misses caches now and then, some branches, some arithmetic.
TABLE = """
static uint32_t table[1 << 16];
static uint64_t work(long rounds) {
  uint64_t x = 88172645463325252u, hits = 0;
  for (long i = rounds; i > 0; i--) {
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    uint32_t *at = &table[x >> 48];
    if (*at % 3 == 0) hits++;
    *at += (uint32_t)x;
  }
  return hits;
}
"""
#: Sorts of short arrays, with a function for each comparison.
SORT = """
static int order(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}
static uint64_t work(long rounds) {
  uint64_t sum = 0;
  int data[64];
  uint32_t x = 1;
  for (long i = rounds; i > 0; i--) {
    for (int k = 0; k < 64; k++) data[k] = (int)((x = x * 1664525u + 1013904223u) >> 8);
    qsort(data, 64, sizeof *data, order);
    sum += (uint32_t)data[32];
  }
  return sum;
}
"""
#: What an interpreter does: one of many small functions after another.
_OPERATIONS = 200
INTERPRETER = (
    "".join(
        f"__attribute__((noinline)) static uint64_t operation{i}(uint64_t x) {{\n"
        f"  if (x & {1 << i % 7}) x += {i * 2654435761 % 65521}u;\n"
        f"  for (int k = {i % 5}; k > 0; k--) x = (x << {i % 11 + 3}) ^ (x >> {i % 13 + 5}) ^ {i};\n"
        f"  return x + {i};\n}}\n"
        for i in range(_OPERATIONS)
    )
    + "static uint64_t (*const operations[])(uint64_t) = {"
    + ", ".join(f"operation{i}" for i in range(_OPERATIONS))
    + f"""}};
static uint64_t work(long rounds) {{
  uint64_t x = 1;
  uint32_t next = 1;
  for (long i = rounds; i > 0; i--) x = operations[(next = next * 1664525u + 1013904223u) % {_OPERATIONS}](x);
  return x;
}}
"""
)
PROGRAMS = {"table": TABLE, "sort": SORT, "interpreter": INTERPRETER}
_BEFORE = "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
_AFTER = """
int main(int argc, char **argv) {
  printf("%llu\\n", (unsigned long long)work(argc > 1 ? atol(argv[1]) : 0));
  return 0;
}
"""
DIFFERENCES = (0.01, 0.02)
MARGIN = 0.0001  # so small that no verdict is "equivalent": what is counted is finding a difference
#: Of all of it: what makes the layouts of every comparison.
_SEED = 1


class Program(NamedTuple):
    """path: of the executable. rounds: of its loop in the runs that are asked for. share: of the processor
    time of such a run that grows with the rounds; starting is the same for all."""

    name: str
    path: str
    rounds: int
    share: float

    def side(self, name: str, more: float = 0.0) -> Side:
        """A side that does so much more work."""
        return Side(name, [self.path, str(round(self.rounds * (1 + more)))])


class Verdict(NamedTuple):
    """Of one comparison. found: is a difference claimed?"""

    found: bool
    low: float = 0.0
    high: float = math.inf


def prepare(name: str, folder: Path, seconds: float) -> Program:
    """Compile, and find out how many rounds take so long."""
    source, path = folder / f"{name}.c", str(folder / name)
    source.write_text(_BEFORE + PROGRAMS[name] + _AFTER)
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-o", path, source], check=True)
    rounds = 1000
    while median_time(path, rounds, 1) < seconds / 4:
        rounds *= 2
    empty = median_time(path, 0, 15)
    each = (median_time(path, rounds, 9) - empty) / rounds
    rounds = round(seconds / each)
    (moved,), _ = with_functions_moved([Side("", [path, "0"])], "runtime", _SEED, os.devnull)
    empty = median_time(path, 0, 15, moved)
    return Program(name, path, rounds, 1 - empty / (empty + seconds))


def median_time(path: str, rounds: int, runs: int, moved: Side | None = None) -> float:
    """Seconds of processor time; with functions moved where there is such a side."""
    side = (moved or Side("", []))._replace(command=[path, str(rounds)])
    return float(np.median([run(side, Layout(0) if moved else None).cpu for _ in range(runs)]))


def fresh(sides: Sequence[Side], pairs: int, seed: int) -> Verdict:
    """As `coz compare` does it."""
    plan = Plan(pairs, None, METRICS["cpu"], seed, True, 0, os.devnull, False)
    return verdict_of(collect(sides, plan, lambda _: None).pairs(METRICS["cpu"]))


def fixed(sides: Sequence[Side], pairs: int, seed: int) -> Verdict:
    """One layout for each side, drawn once; in turn, with the same statistics."""
    layouts = {turn.side: turn.layout for turn in next(blocks(len(sides), seed))}
    generator = random.Random(seed)
    times = []
    for _ in range(pairs):
        order = generator.sample(range(len(sides)), len(sides))
        took = {number: run(sides[number], layouts[number]).cpu for number in order}
        times.append((took[0], took[1]))
    return verdict_of(times)


def in_line(sides: Sequence[Side], pairs: int, _seed: int) -> Verdict:
    """All of the one, then all of the other, wherever their functions lie in the files."""
    times = [[run(side, None).wall for _ in range(pairs)] for side in sides]
    return Verdict(bool(stats.ttest_ind(*times, equal_var=False).pvalue < 0.05))


def verdict_of(pairs: Sequence[tuple[float, float]]) -> Verdict:
    """Of the seconds of each pair."""
    found = estimate(pairs, MARGIN)
    return Verdict(found.verdict in ("faster", "slower"), found.low, found.high)


def interval(count: int, of: int) -> str:
    """A share with Clopper and Pearson's 95 % interval."""
    low, high = stats.binomtest(count, of).proportion_ci()
    return f"{100 * count / of:5.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


WAYS: dict[str, Callable[[Sequence[Side], int, int], Verdict]] = {
    "fresh": fresh,
    "fixed": fixed,
    "in line": in_line,
}


def comparisons(
    programs: Sequence[Program], ways: Sequence[str], number: int, pairs: int, more: float = 0.0
) -> Iterator[tuple[Program, dict[str, Verdict]]]:
    """So many of each program, in turn, each in all these ways."""
    moved = {
        program: with_functions_moved(
            [program.side("A"), program.side("B", more)], "runtime", _SEED, os.devnull
        )[0]
        for program in programs
    }
    for seed in range(number):
        for program in programs:
            plain = [program.side("A"), program.side("B", more)]
            yield (
                program,
                {way: WAYS[way](plain if way == "in line" else moved[program], pairs, seed) for way in ways},
            )


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--comparisons", type=int, default=10, help="of each program with itself (%(default)s)"
    )
    parser.add_argument("--known", type=int, default=10, help="of each, for each difference (%(default)s)")
    parser.add_argument("--pairs", type=int, default=12, help="of runs in each (%(default)s)")
    parser.add_argument("--runtime", type=float, default=20, help="ms of a run (%(default)s)")
    parser.add_argument("--json", type=Path, help="also write every comparison there")
    options = parser.parse_args()
    records = []
    with tempfile.TemporaryDirectory() as folder:
        programs = [prepare(name, Path(folder), options.runtime / 1000) for name in PROGRAMS]
        found: dict[str, list[bool]] = {f"{p.name}, {way}": [] for p in programs for way in WAYS}
        for program, verdicts in comparisons(programs, list(WAYS), options.comparisons, options.pairs):
            for way, verdict in verdicts.items():
                found[f"{program.name}, {way}"].append(verdict.found)
                records.append({"program": program.name, "more": 0.0, "way": way, **verdict._asdict()})
        print(f"{options.pairs} pairs of {options.runtime:g} ms. A program with itself, faster or slower:\n")
        print(f"{'':<14}" + "".join(f"{way:<24}" for way in WAYS))
        for name in [*PROGRAMS, "all"]:
            lists = [
                [f for p in PROGRAMS if name in (p, "all") for f in found[f"{p}, {way}"]] for way in WAYS
            ]
            print(
                f"{name:<14}" + "".join(f"{interval(sum(each), len(each)):<24}" for each in lists), flush=True
            )
        print(
            "\nFresh layouts, with more work:\n\nmore   faster or slower        interval holds the true ratio"
        )
        for more in DIFFERENCES:
            shown = []
            for program, verdicts in comparisons(programs, ["fresh"], options.known, options.pairs, more):
                truth, verdict = 1 + more * program.share, verdicts["fresh"]
                shown.append((verdict.found, verdict.low <= truth <= verdict.high))
                records.append({"program": program.name, "more": more, "way": "fresh", **verdict._asdict()})
            found_in, held_in = (sum(each[i] for each in shown) for i in (0, 1))
            n = len(shown)
            print(f"{100 * more:.0f} %    {interval(found_in, n):<22}  {interval(held_in, n)}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n")
    widths = [math.log(r["high"] / r["low"]) / 2 for r in records if r["way"] == "fresh"]
    print(f"\nHalf of an interval, median: {100 * float(np.median(widths)):.2g} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
