#!/usr/bin/env python3
"""Does `coz compare` keep its promises? Identical programs, and programs with a known difference.

    compare.py [--comparisons N] [--pairs N] [--work N] [--json FILE]

A program of fixed work, compiled here, is compared with itself and with itself doing 1 and 2 % more. Printed
are the share of verdicts *faster* or *slower*, and how often the interval holds the true ratio. Beside that
stands hyperfine's way, on the same program: all runs of A, then all of B, and Welch's t-test at 5 %.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import stats

from cozcli.compare.collect import Plan, collect
from cozcli.compare.estimate import estimate
from cozcli.compare.metrics import METRICS
from cozcli.compare.trial import Side, run

#: A hash table that misses caches now and then, some branches, some arithmetic.
SOURCE = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static uint32_t table[1 << 16];
int main(int argc, char **argv) {
  uint64_t x = 88172645463325252u, hits = 0;
  for (long i = argc > 1 ? atol(argv[1]) : 0; i > 0; i--) {
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    uint32_t *at = &table[x >> 48];
    if (*at % 3 == 0) hits++;
    *at += (uint32_t)x;
  }
  printf("%llu\\n", (unsigned long long)hits);
  return 0;
}
"""
DIFFERENCES = (0.0, 0.01, 0.02)
MARGIN = 0.0001  # so small that no verdict is "equivalent": what is counted is finding a difference


def plan_of(pairs: int, seed: int) -> Plan:
    """Processor time, as by default."""
    return Plan(pairs, None, METRICS["cpu"], seed, True, 0, os.devnull, False)


def in_turn(a: Side, b: Side, pairs: int, seed: int) -> tuple[str, float, float]:
    """Verdict and interval of `coz compare`."""
    found = estimate(collect([a, b], plan_of(pairs, seed), lambda _: None).pairs(METRICS["cpu"]), MARGIN)
    return found.verdict, found.low, found.high


def one_after_the_other(a: Side, b: Side, runs: int) -> float:
    """Welch's p of wall times, all of A first."""
    times = [[run(side, None).wall for _ in range(runs)] for side in (a, b)]
    return float(stats.ttest_ind(*times, equal_var=False).pvalue)


def interval(count: int, of: int) -> str:
    """A share with Clopper and Pearson's 95 % interval."""
    low, high = stats.binomtest(count, of).proportion_ci()
    return f"{100 * count / of:5.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--comparisons", type=int, default=20, help="for each difference (default: 20)")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--work", type=int, default=12_000_000, help="rounds of the program (default: 30 ms)")
    parser.add_argument("--json", type=Path, help="also write every comparison there")
    options = parser.parse_args()
    records = []
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "work.c"), str(Path(folder, "work"))
        source.write_text(SOURCE)
        subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-o", program, source], check=True)
        a = Side("A", [program, str(options.work)])
        # What a process needs to start is the same for all, and shrinks the ratio.
        empty = float(np.median([run(Side("0", [program, "0"]), None).cpu for _ in range(30)]))
        full = float(np.median([run(a, None).cpu for _ in range(15)]))
        share = 1 - empty / full
        print(f"{options.comparisons} comparisons each, {options.pairs} pairs of {1000 * full:.0f} ms\n")
        print("true difference   coz: faster or slower    interval holds it         A first, Welch p < 5 %")
        for difference in DIFFERENCES:
            b = Side("B", [program, str(round(options.work * (1 + difference)))])
            truth = 1 + difference * share
            shown = held = welch = 0
            for number in range(options.comparisons):
                verdict, low, high = in_turn(a, b, options.pairs, number)
                p = one_after_the_other(a, b, options.pairs)
                shown += verdict in ("faster", "slower")
                held += low <= truth <= high
                welch += p < 0.05
                records.append({"truth": truth, "verdict": verdict, "low": low, "high": high, "welch_p": p})
            n = options.comparisons
            print(
                f"{100 * (truth - 1):>14.2f} %   {interval(shown, n):<22}   {interval(held, n):<22}   "
                f"{interval(welch, n)}",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n")
    half = float(np.median([math.log(each["high"] / each["low"]) / 2 for each in records]))
    print(f"\nHalf of an interval, median: {100 * half:.2g} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
